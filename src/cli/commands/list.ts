/** `plantstore list`: prints some plants of a store, in the order of their ids. */
import { type NewPlant, toNewPlantJson } from "../../core/plant.ts";
import type { PlantQuery, StoreReader } from "../../core/store.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Io, writeText } from "../io.ts";
import { printJson } from "../output/json-output.ts";
import { readPlantPages } from "../output/plant-pages.ts";
import { toPlantTable } from "../output/plant-table.ts";
import { createReporter } from "../output/reporter.ts";
import { parseId, parseLimit, parseTag } from "../settings/store-values.ts";
import { defaultListLimit, type ListFlags, resolveStoreUrl } from "../settings/reader-settings.ts";
import { parseValue } from "../settings/setting.ts";
import { readStore } from "../store-access.ts";

/** What `list` is to do. */
export interface ListOptions {
  readonly storeUrl: string;
  readonly query: PlantQuery;
}

/**
 * What the flags of a command line ask for.
 *
 * @throws CommandError when that is nothing that can be done
 */
export function toListOptions(flags: ListFlags, io: Io): ListOptions {
  const { limit, after, tag } = flags;
  return {
    storeUrl: resolveStoreUrl(flags, io),
    query: {
      limit: limit === undefined ? defaultListLimit : parseValue("--limit", limit, parseLimit),
      afterId: after === undefined ? undefined : parseValue("--after", after, parseId),
      tag: tag === undefined ? undefined : parseValue("--tag", tag, parseTag),
    },
  };
}

/**
 * Prints the plants: for a person a table, for a program one NewPlant as JSON on each line.
 *
 * @returns the exit code, once they are printed
 * @throws CommandError when the store can't be read
 * @throws OutputError
 */
export async function list({ storeUrl, query }: ListOptions, io: Io): Promise<number> {
  await readStore(storeUrl, async (store) => {
    const print = io.stdout.isTTY ? printTable : printLines;
    const lastId = await print(readPlantPages(store, query), io);
    // A program that goes on does so in any case, until there is nothing left.
    if (io.stderr.isTTY) await remark(lastId, query, store, io);
  });
  return exitCodes.done.code;
}

type Pages = AsyncIterable<readonly NewPlant[]>;

/** @returns the last id, if there is any */
async function printLines(pages: Pages, { stdout }: Io): Promise<bigint | undefined> {
  let lastId: bigint | undefined;
  for await (const page of pages) {
    await printJson(stdout, page.map(toNewPlantJson));
    lastId = page.at(-1)?.id;
  }
  return lastId;
}

/** @returns the last id, if there is any */
async function printTable(pages: Pages, { stdout }: Io): Promise<bigint | undefined> {
  const plants: NewPlant[] = [];
  for await (const page of pages) plants.push(...page);
  if (plants.length > 0) await writeText(stdout, toPlantTable(plants, stdout.columns));
  return plants.at(-1)?.id;
}

/** Tells a person that there is nothing, or how to go on when there is more. */
async function remark(
  lastId: bigint | undefined,
  { tag }: PlantQuery,
  store: StoreReader,
  io: Io,
): Promise<void> {
  const reporter = createReporter(io, undefined);
  if (lastId === undefined) {
    await reporter.note("no plants");
    return;
  }
  const rest = await store.list({ afterId: lastId, tag, limit: 1 });
  if (rest.length > 0) await reporter.note(`there are more: --after ${lastId} shows the next ones`);
}
