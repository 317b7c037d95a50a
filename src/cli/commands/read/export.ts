/** `plantstore export`: prints all plants of a store. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import type { NewPlant } from "../../../core/plant.ts";
import type { StoreReader } from "../../../core/store.ts";
import type { Run } from "../../command.ts";
import { UsageError } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { exportOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { printRows, selectStyle } from "../../terminal/rows.ts";
import { readPlantPages } from "../../../store/plant-pages.ts";
import { follow } from "./follow.ts";
import { plantRows } from "./plant-rows.ts";
import { readInterruptibly, readPlants } from "./read-plants.ts";

/**
 * Prints the plants in the order of their ids, or with `--follow` in the order of their commits: one NewPlant in JSON per
 * line, or CSV. Nothing is printed faster than it is read. Without `--follow`, every plant that was acknowledged before is
 * printed, each id once. Plants that are created meanwhile may be printed too.
 *
 * @returns the exit code
 * @throws CommandError for an invalid option, if the store cannot be read, or a signal stops it; OutputError
 */
export async function exportPlants(run: Run): Promise<number> {
  const { flags, io } = run;
  const { store: url, json, csv, isFollowing, after } = readOptions(exportOptions, flags, io);
  if (isFollowing) {
    if (csv) throw new UsageError("--follow prints JSON: remove --csv");
    return follow(url, after ?? "", run);
  }
  if (after !== undefined) {
    throw new UsageError(
      '--after is for --follow: add --follow, or use "plantstore list --after" for the plants after an id',
    );
  }
  const style = selectStyle({ json: json ?? !csv, csv }, io.stdout);
  await readInterruptibly(
    run,
    (signal) =>
      readPlants(url, run, (store) =>
        printRows(readUntilStopped(store, signal), plantRows, style, io),
      ),
    "some plants are missing in the output",
  );
  return exitCodes.done.code;
}

async function* readUntilStopped(
  store: StoreReader,
  signal: AbortSignal,
): AsyncGenerator<readonly NewPlant[], void, undefined> {
  for await (const page of readPlantPages(store, { limit: Infinity })) {
    // Neither SQLite nor a pipe has to end the turn, and signals arrive only then.
    await endOfTurn();
    signal.throwIfAborted();
    yield page;
  }
}
