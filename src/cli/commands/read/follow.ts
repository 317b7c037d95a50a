/** `plantstore export --follow`: prints plants in the order of their commits, and waits for more. */
import { setImmediate as endOfTurn, setTimeout as sleep } from "node:timers/promises";
import { toPlantJson } from "../../../core/plant.ts";
import type { FeedEntry } from "../../../core/store.ts";
import { toNextPageSize } from "../../../store/plant-pages.ts";
import type { Run } from "../../command.ts";
import { readInterruptibly, readPlants } from "./read-plants.ts";

/** Time between two reads of a feed that has no further entries. */
const pollMs = 100;

/**
 * Prints the entries of the feed, each with its cursor, until a signal stops it. The message then says how to resume.
 *
 * @param after cursor of the last entry to skip; empty for none
 * @throws CommandError if the store cannot be read or does not accept the cursor, or a signal stops it; OutputError
 */
export async function follow(url: string, after: string, run: Run): Promise<never> {
  let lastCursor = after;
  return readInterruptibly(
    run,
    (signal) =>
      readPlants(url, run, async (store) => {
        for (let limit = 1; ;) {
          const page = await store.readFeed({ after: lastCursor || undefined, limit });
          // Neither SQLite nor a pipe has to end the turn, and signals arrive only then.
          await endOfTurn();
          signal.throwIfAborted();
          if (page.length > 0) await run.terminal.printJson(page.map(toEntryJson));
          lastCursor = page.at(-1)?.cursor ?? lastCursor;
          if (page.length < limit) {
            await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
          }
          limit = toNextPageSize(page.map(({ plant }) => plant));
        }
      }),
    () => (lastCursor === "" ? "nothing was printed" : `resume with --after ${lastCursor}`),
  );
}

function toEntryJson({ cursor, id, plant }: FeedEntry): string {
  const members = plant === undefined ? '"deleted":true}' : toPlantJson(plant).slice(1);
  return `{"cursor":${JSON.stringify(cursor)},"id":${id},${members}`;
}
