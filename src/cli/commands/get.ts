/** `plantstore get`: prints one plant of a store. */
import { toNewPlantJson } from "../../core/plant.ts";
import { CommandError } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { printJson } from "../output/json-output.ts";
import { parseId } from "../settings/store-values.ts";
import { parseValue } from "../settings/setting.ts";
import { type ReaderFlags, resolveStoreUrl } from "../settings/reader-settings.ts";
import { readStore } from "../store-access.ts";

/** What `get` is to do. */
export interface GetOptions {
  readonly storeUrl: string;
  readonly id: bigint;
}

/**
 * What the flags and the operand of a command line ask for.
 *
 * @throws CommandError when that is nothing that can be done
 */
export function toGetOptions(flags: ReaderFlags, id: string, io: Io): GetOptions {
  return { storeUrl: resolveStoreUrl(flags, io), id: parseValue("the id", id, parseId) };
}

/**
 * Prints the plant.
 *
 * @returns the exit code, once the plant is printed
 * @throws CommandError when there is no such plant, or the store can't be read
 * @throws OutputError
 */
export async function get({ storeUrl, id }: GetOptions, io: Io): Promise<number> {
  const plant = await readStore(storeUrl, (store) => store.get(id));
  if (plant === undefined) {
    throw new CommandError(
      "noSuchPlant",
      `no plant has the id ${id}: "plantstore list" shows those that are there`,
    );
  }
  await printJson(io.stdout, [toNewPlantJson(plant)]);
  return exitCodes.done.code;
}
