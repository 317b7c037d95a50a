/** `plantstore list` and `get`: print plants in a store, page by page or by their ids. */
import { type NewPlant, toNewPlantJson } from "../../../core/plant.ts";
import { readPlantPages } from "../../../store/plant-pages.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { writeText } from "../../io.ts";
import { plantId } from "../../../library/option-types.ts";
import { jsonStoreOptions, listOptions } from "../../store-options.ts";
import { parseArgument, readOptions } from "../../settings.ts";
import { explainMissing, readStore } from "../../store-access.ts";
import { printRows, type RowType, selectStyle } from "../../terminal/rows.ts";
import type { Column } from "../../terminal/table.ts";

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
  await readStore(url, run, async (store) => {
    if (count) return writeText(io.stdout, `${await store.count(query)}\n`);
    const last = await printRows(readPlantPages(store, query), plantRows, style, run);
    if (last === undefined) {
      if (!io.stderr.isTTY) return;
      await terminal.note("no plants");
      for (const hint of await explainMissing(url, run)) await terminal.note(hint);
      return;
    }
    // A script that sets the limit reads further pages itself.
    if (flags["limit"] !== undefined && !io.stderr.isTTY) return;
    const rest = await store.list({ afterId: last.id, tag: query.tag, limit: 1 });
    if (rest.length === 0) return;
    await terminal.note(`there are more: --after ${last.id} shows the next ones`);
  });
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
  await readStore(url, run, async (store) => {
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
    { hints: await explainMissing(url, run) },
  );
}
