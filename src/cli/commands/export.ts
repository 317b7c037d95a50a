/** `plantstore export`: prints every plant of a store, in the order of their ids. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { toNewPlantJson } from "../../core/plant.ts";
import { exitCodes } from "../exit-codes.ts";
import { interruptible } from "../interruption.ts";
import type { Io } from "../io.ts";
import { printJson } from "../output/json-output.ts";
import { readPlantPages } from "../output/plant-pages.ts";
import { readStore } from "../store-access.ts";

/**
 * Prints the plants, one NewPlant as JSON on each line, as fast as they are taken. Every plant that was acknowledged
 * before is among them, each id once; of those that are created meanwhile, some may be.
 *
 * @returns the exit code, once all are printed
 * @throws CommandError when the store can't be read, or a signal ended it
 * @throws OutputError
 */
export async function exportPlants(storeUrl: string, io: Io): Promise<number> {
  const print = (signal: AbortSignal): Promise<void> =>
    readStore(storeUrl, async (store) => {
      for await (const page of readPlantPages(store, { limit: Infinity })) {
        // Neither SQLite nor a pipe need end the turn by themselves, and a signal comes only then.
        await endOfTurn();
        signal.throwIfAborted();
        await printJson(io.stdout, page.map(toNewPlantJson));
      }
    });
  await interruptible(io, print, "these are not all plants");
  return exitCodes.done.code;
}
