/** `plantstore list` and `get`: print plants of a store, page by page or by their ids. Opens stores for `export` too. */
import { checkReadiness } from "../../../client/check-readiness.ts";
import { type NewPlant, toNewPlantJson } from "../../../core/plant.ts";
import { type PlantQuery, StoreError, type StoreReader } from "../../../core/store.ts";
import { readPlantPages } from "../../../store/plant-pages.ts";
import { describeStoreUrl, parseStoreUrl } from "../../../store/store-url.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { type Io, writeText } from "../../io.ts";
import { plantId } from "../../../library/option-types.ts";
import { jsonStoreOptions, listOptions, urlOption } from "../../options.ts";
import { isLocalUrl } from "../../server-access.ts";
import { parseArgument, readDefaultUrl, readOptions } from "../../settings.ts";
import { readStore } from "../../store-access.ts";
import { type Column, printRows, type RowType, selectStyle } from "../../terminal/rows.ts";

/** The columns of plants, by their names. */
const plantColumns: Readonly<Record<keyof NewPlant, Omit<Column<NewPlant>, "name">>> = {
  id: { read: ({ id }) => `${id}`, isNumber: true },
  name: { read: ({ name }) => name, cut: { share: 2, minWidth: 12 } },
  tag: { read: ({ tag }) => tag, cut: { share: 1, minWidth: 8 } },
};

/** Plants as rows. Their CSV is an input of `create --csv`. */
export const plantRows: RowType<NewPlant> = {
  columns: Object.entries(plantColumns).map(([name, column]) => ({ name, ...column })),
  toJson: toNewPlantJson,
};

/**
 * Prints plants: as a table on a terminal, otherwise as one NewPlant in JSON per line, or as CSV; or their number.
 *
 * @throws CommandError for an invalid option; StoreError, OutputError
 */
export async function list(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const { store: url, json, csv, count, ...query } = readOptions(listOptions, flags, io);
  const style = selectStyle({ json, csv }, io.stdout);
  await readPlants(url, run, async (store) => {
    if (count) return writeText(io.stdout, `${await countPlants(store, query)}\n`);
    const last = await printRows(readPlantPages(store, query), plantRows, style, run);
    if (last === undefined) {
      if (!io.stderr.isTTY) return;
      await terminal.note("no plants");
      for (const hint of await explainMissing(url, io)) await terminal.note(hint);
      return;
    }
    // A script that sets the limit reads further pages itself.
    if (flags["limit"] !== undefined && !io.stderr.isTTY) return;
    const rest = await store.list({ afterId: last.id, tag: query.tag, limit: 1 });
    if (rest.length === 0) return;
    await terminal.note(`there are more: --after ${last.id} shows the next ones`);
  });
}

async function countPlants(store: StoreReader, query: PlantQuery): Promise<number> {
  let count = 0;
  for await (const page of readPlantPages(store, { ...query, limit: Infinity })) {
    count += page.length;
  }
  return count;
}

/**
 * Prints the plants, in the order of the ids on the command line.
 *
 * @throws CommandError for an invalid id or, after the other plants are printed, for unknown ones; or if the store cannot be
 *   read; OutputError
 */
export async function get(run: Run): Promise<void> {
  const { flags, operands, io, terminal } = run;
  const { store: url } = readOptions(jsonStoreOptions, flags, io);
  const ids = operands.map((operand) => parseArgument("the id", operand, plantId));
  const missing: bigint[] = [];
  await readPlants(url, run, async (store) => {
    for (const id of ids) {
      const plant = await store.get(id);
      if (plant === undefined) missing.push(id);
      else await terminal.printLines([toNewPlantJson(plant)]);
    }
  });
  if (missing.length === 0) return;
  const [subject, noun] = missing.length === 1 ? ["no plant has", "id"] : ["no plants have", "ids"];
  throw new CommandError(
    "noSuchPlant",
    `${subject} the ${noun} ${missing.join(", ")}: "plantstore list" shows all plants`,
    { hints: await explainMissing(url, io) },
  );
}

/** Limit for a request to a server of this machine, in milliseconds. */
const requestTimeoutMs = 1000;

/**
 * Opens a store, names it on a terminal, and reads from it.
 *
 * @throws CommandError if the store is unusable, with a hint; any other StoreError, and every error of `read`
 */
export async function readPlants<T>(
  url: string,
  { io, terminal }: Run,
  read: (store: StoreReader) => Promise<T>,
): Promise<T> {
  try {
    return await readStore(url, async (store) => {
      if (io.stderr.isTTY) await terminal.note(`Store: ${describeStoreUrl(url)}`);
      return read(store);
    });
  } catch (error) {
    if (!(error instanceof StoreError && error.reason === "unusable")) throw error;
    const hints = await explainMissing(url, io);
    throw new CommandError("usage", error.message, { cause: error, hints });
  }
}

/**
 * Explains why a local store may lack a plant: `create` sends plants to a server that uses another store.
 *
 * @returns one sentence, or nothing
 */
async function explainMissing(storeUrl: string, io: Io): Promise<readonly string[]> {
  if (parseStoreUrl(storeUrl).isShared) return [];
  const setting = readDefaultUrl(io);
  if (setting === undefined) return [];
  const { value: url = "", source } = setting;
  const place = source === urlOption.url.env ? `${source} is` : "the last login was to";
  if (!isLocalUrl(url)) {
    return [
      `${place} ${url}, whose plants are not in this store: run this command on that machine, or set --store to its database`,
    ];
  }
  const { signal } = new AbortController();
  const readiness = await checkReadiness({ baseUrl: url, timeoutMs: requestTimeoutMs, signal });
  if (readiness.state !== "ready" || !readiness.isVolatile) return [];
  return [
    `the server at ${url} keeps its plants in memory, which only that server can read: to read them here, start it without --store memory:`,
  ];
}
