/** `plantstore export`: prints all plants in a store, or follows its feed. */
import { setImmediate as endOfTurn, setTimeout as sleep } from "node:timers/promises";
import { type NewPlant, toPlantJson } from "../../../core/plant.ts";
import type { FeedEntry, StoreReader } from "../../../core/store.ts";
import { mayContinue, readPlantPages } from "../../../store/plant-pages.ts";
import type { ReaderOptions } from "../../../store/store-location.ts";
import type { Run } from "../../command.ts";
import { interruptible, Interruption, UsageError } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { writeText } from "../../io.ts";
import { exportOptions } from "../../store-options.ts";
import { readOptions } from "../../settings.ts";
import { readStore } from "../../store-access.ts";
import { printRows, selectStyle } from "../../terminal/rows.ts";
import { plantRows } from "./read.ts";

/**
 * Prints the plants in the order of their ids, or with `--follow` in the order of their commits: one NewPlant in JSON per
 * line, or CSV. Nothing is printed faster than it is read. Without `--follow`, every plant that was acknowledged before is
 * printed, each id once. Plants that are created meanwhile may be printed too.
 *
 * @returns the exit code: of the signal that ended `--follow`
 * @throws CommandError for an invalid option, or if a signal stops it; StoreError, OutputError
 */
export async function exportPlants(run: Run): Promise<number> {
  const { flags, io } = run;
  const { store: url, json, csv, isFollowing, after } = readOptions(exportOptions, flags, io);
  if (isFollowing) {
    if (csv) throw new UsageError("--follow prints JSON: remove --csv");
    return follow(url, after ?? "", run).catch(async (error: unknown) => {
      // The usual way to end it.
      if (!(error instanceof Interruption)) throw error;
      await run.terminal.note(error.message);
      return error.exitCode;
    });
  }
  if (after !== undefined) {
    throw new UsageError(
      '--after is for --follow: add --follow, or use "plantstore list --after" for the plants after an id',
    );
  }
  const style = selectStyle({ json: json ?? !csv, csv }, io.stdout);
  await readInterruptibly(
    url,
    run,
    (store, signal) => printRows(readPages(store, signal), plantRows, style, run),
    "some plants are missing in the output",
  );
  return exitCodes.done.code;
}

async function* readPages(
  store: StoreReader,
  signal: AbortSignal,
): AsyncGenerator<readonly NewPlant[], void, undefined> {
  for await (const page of readPlantPages(store, { limit: Infinity })) {
    await endOfTurn();
    signal.throwIfAborted();
    yield page;
  }
}

/** Time in which a follower ends whose output is blocked. */
const maxFollowerEndMs = 400;

/**
 * Reads from a store until a signal stops it. Neither SQLite nor a pipe has to end the turn, and signals arrive only then,
 * so `read` has to. A read that waits for a lock or for PostgreSQL cannot be stopped: it ends with the process. Output that
 * its reader has not taken yet is cut for a follower only, which can resume.
 *
 * @param consequence as for {@link interruptible}
 * @throws CommandError if a signal stops it; StoreError, and every error of `read`
 */
function readInterruptibly<T>(
  url: string,
  run: Run,
  read: (store: StoreReader, signal: AbortSignal) => Promise<T>,
  consequence: string | (() => string),
  options?: ReaderOptions,
): Promise<T> {
  const { io, terminal } = run;
  const isFollower = options?.isFollower === true;
  return interruptible(
    io,
    (signal) => readStore(url, { io, terminal, signal }, (store) => read(store, signal), options),
    consequence,
    ({ message, exitCode }) => {
      if (io.stdout.writableLength > 0 && !isFollower) return;
      const exit = (): void => io.exit(exitCode);
      terminal.error(message).then(exit, exit);
      // The same reader may block stderr.
      setTimeout(exit, maxFollowerEndMs);
    },
    isFollower ? maxFollowerEndMs : undefined,
  );
}

/** Time between two reads of a feed that has no further entries. */
const pollMs = 100;

/**
 * Prints the entries of the feed, each with its cursor, until a signal stops it. The message then says how to resume.
 *
 * @param after cursor of the last entry to skip; empty for none
 * @throws CommandError if the store does not accept the cursor, or a signal stops it; StoreError, OutputError
 */
async function follow(url: string, after: string, run: Run): Promise<never> {
  let lastCursor = after;
  let isPrinting = false;
  return readInterruptibly(
    url,
    run,
    async (store, signal) => {
      for (;;) {
        const page = await store.readFeed({ after: lastCursor || undefined, limit: Infinity });
        await endOfTurn();
        signal.throwIfAborted();
        isPrinting = true;
        await run.terminal.printLines(page.map(toEntryJson));
        isPrinting = false;
        lastCursor = page.at(-1)?.cursor ?? lastCursor;
        if (!mayContinue(page.map(({ plant }) => plant))) {
          // An empty write fails on a socket whose reader is gone. A pipe reports that only at the next plant.
          await writeText(run.io.stdout, "");
          await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
        }
      }
    },
    () => {
      const resume = lastCursor === "" ? "start again" : `resume with --after ${lastCursor}`;
      if (isPrinting) return `${resume}; the output is cut after that`;
      return lastCursor === "" ? "nothing was printed" : resume;
    },
    { isFollower: true },
  );
}

function toEntryJson({ cursor, id, plant }: FeedEntry): string {
  const members = plant === undefined ? '"deleted":true}' : toPlantJson(plant).slice(1);
  return `{"cursor":${JSON.stringify(cursor)},"id":${id},${members}`;
}
