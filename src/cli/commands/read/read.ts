/** `plantstore list` and `get`: prints plants of a store, page by page or by their ids. */
import type { NewPlant } from "../../../core/plant.ts";
import type { PlantQuery, StoreReader } from "../../../core/store.ts";
import { readPlantPages } from "../../../store/plant-pages.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { writeText } from "../../io.ts";
import { plantId } from "../../option-types.ts";
import { getOptions, listOptions } from "../../options.ts";
import { parseArgument, readOptions } from "../../settings.ts";
import { printRows, selectStyle } from "../../terminal/rows.ts";
import { explainMissing, plantRows, readPlants } from "./read-plants.ts";

/**
 * Prints plants: as a table on a terminal, otherwise as one NewPlant in JSON per line, or as CSV; or their number.
 *
 * @returns the exit code
 * @throws CommandError for an invalid option, or if the store cannot be read; OutputError
 */
export async function list(run: Run): Promise<number> {
  const { flags, io } = run;
  const { store: url, json, csv, count, ...query } = readOptions(listOptions, flags, io);
  const style = selectStyle({ json, csv }, io.stdout);
  await readPlants(url, run, async (store) => {
    if (count) return writeText(io.stdout, `${await countPlants(store, query)}\n`);
    let lastId: bigint | undefined;
    const pages = watch(readPlantPages(store, query), (page) => (lastId = page.at(-1)?.id));
    await printRows(pages, plantRows, style, io);
    // A program reads further pages in any case.
    if (io.stderr.isTTY) await printRemark(lastId, query.tag, store, run);
    if (io.stderr.isTTY && lastId === undefined) {
      for (const hint of await explainMissing(url, io)) await run.terminal.note(hint);
    }
  });
  return exitCodes.done.code;
}

async function* watch<Page>(
  pages: AsyncIterable<Page>,
  onPage: (page: Page) => void,
): AsyncGenerator<Page, void, undefined> {
  for await (const page of pages) {
    onPage(page);
    yield page;
  }
}

async function countPlants(store: StoreReader, query: PlantQuery): Promise<number> {
  let count = 0;
  for await (const page of readPlantPages(store, { ...query, limit: Infinity })) {
    count += page.length;
  }
  return count;
}

/** Tells the user that there are no plants, or how to list more. */
async function printRemark(
  lastId: bigint | undefined,
  tag: string | undefined,
  store: StoreReader,
  { terminal }: Run,
): Promise<void> {
  if (lastId === undefined) return terminal.note("no plants");
  const rest: readonly NewPlant[] = await store.list({ afterId: lastId, tag, limit: 1 });
  if (rest.length > 0) await terminal.note(`there are more: --after ${lastId} shows the next ones`);
}

/**
 * Prints the plants, in the order of the ids on the command line.
 *
 * @returns the exit code
 * @throws CommandError for an invalid id or, after the other plants are printed, for unknown ones; or if the store cannot be
 *   read; OutputError
 */
export async function get(run: Run): Promise<number> {
  const { flags, operands, io } = run;
  const { store: url } = readOptions(getOptions, flags, io);
  const ids = operands.map((operand) => parseArgument("the id", operand, plantId));
  const missing: bigint[] = [];
  await readPlants(url, run, async (store) => {
    for (const id of ids) {
      const plant = await store.get(id);
      if (plant === undefined) missing.push(id);
      else await printRows([[plant]], plantRows, "json", io);
    }
  });
  if (missing.length === 0) return exitCodes.done.code;
  const [subject, noun] = missing.length === 1 ? ["no plant has", "id"] : ["no plants have", "ids"];
  throw new CommandError(
    "noSuchPlant",
    `${subject} the ${noun} ${missing.join(", ")}: "plantstore list" shows all plants`,
    { hints: await explainMissing(url, io) },
  );
}
