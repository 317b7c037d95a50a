/** The commands `list`, `get` and `export`. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { type NewPlant, toNewPlantJson } from "../../core/plant.ts";
import type { StoreReader } from "../../core/store.ts";
import { plantId } from "../../library/option-types.ts";
import { readPlantPages } from "../../store/pages.ts";
import { CommandError, interruptible, storeExitCodes } from "../command-error.ts";
import { type CommandBody, jsonHint, type Run, storeCommand } from "../command.ts";
import { IdList, isStandardInput, readIds } from "../id-input.ts";
import { writeText } from "../io.ts";
import { exportOptions, listOptions, storeOption } from "../options/local.ts";
import { parseText, readOptions } from "../options/values.ts";
import { explainMissing, readStore, toStoreCommand } from "../store-access.ts";
import { printRows, type RowType, selectStyle } from "../terminal/rows.ts";
import type { Column } from "../terminal/table.ts";

/** `plantstore list`. */
export const listCommand: CommandBody = {
  description: `Lists plants in a store in the order of their ids: as a table on a terminal,
otherwise as one line of JSON per plant. Reads the store itself, without a server
or a token. Servers may write to it at the same time. The command "export" prints
all plants.`,
  options: listOptions,
  examples: [
    "plantstore list",
    "plantstore list --after 100 --limit 20",
    "plantstore list --tag pot --csv > pots.csv",
    "plantstore list --count",
  ],
  ...storeCommand,
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: printPlants,
};

/** `plantstore get`. */
export const getCommand: CommandBody = {
  description: `Prints the plants with the given ids, each as one line of JSON, in the order of
the ids. Names the unknown ids at the end. Reads the store itself, without a
server or a token. Servers may write to it at the same time. With - instead of
ids, it reads one id per line from standard input, or JSON with an id, as
create, list and export print it.`,
  options: storeOption,
  examples: [
    "plantstore get 1",
    "plantstore get 1 2 3 | jq .name",
    "plantstore get - < ids.txt",
    "plantstore get -9223372036854775808",
    "plantstore get 1 --store sqlite:/var/lib/plantstore/plants.db",
  ],
  ...storeCommand,
  hints: { ...storeCommand.hints, ...jsonHint },
  exitCodes: [...storeExitCodes, "noSuchPlant", "interrupted", "outputClosed", "terminated"],
  run: printPlant,
};

/** `plantstore export`. */
export const exportCommand: CommandBody = {
  description: `Prints all plants in a store in the order of their ids, as one line of JSON per
plant or as CSV. Reads the store itself, without a server or a token. Servers may write to
it at the same time: every plant that was acknowledged before the export starts
is printed, each id once. Plants that are created during the export may be
printed too.`,
  options: exportOptions,
  examples: [
    "plantstore export > plants.ndjson",
    "plantstore export --csv > plants.csv",
    "plantstore export --store sqlite:old.db |",
    "  plantstore create --many --quiet",
  ],
  ...storeCommand,
  hints: { ...storeCommand.hints, ...jsonHint },
  exitCodes: [...storeExitCodes, "interrupted", "outputClosed", "terminated"],
  run: runExport,
};

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
export async function printPlants(run: Run): Promise<void> {
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
 * Prints the plants, in the order of the ids on the command line or on standard input.
 *
 * @throws CommandError for an invalid id or, after the other plants are printed, for unknown ones; if a signal stops it; or if
 *   the store cannot be read; OutputError
 */
export async function printPlant(run: Run): Promise<void> {
  const { flags, operands, io, terminal } = run;
  const { store: url } = readOptions(storeOption, flags, io);
  const readsInput = isStandardInput(operands);
  const ids = readsInput ? [] : operands.map((each) => parseText("the id", each, plantId));
  const missing = new IdList();
  await readInterruptibly(
    url,
    run,
    async (store, signal) => {
      for await (const id of readsInput ? readIds(run, signal) : ids) {
        const plant = await store.get(id);
        if (plant === undefined) missing.add([id]);
        else await terminal.printLines([toNewPlantJson(plant)]);
        await endOfTurn();
        signal.throwIfAborted();
      }
    },
    "some plants are missing in the output",
  );
  if (missing.count === 0) return;
  throw new CommandError(
    "noSuchPlant",
    `${missing.count === 1 ? "no plant has" : "no plants have"} the ${missing.describe()}: "${toStoreCommand("list", run)}" shows all plants`,
    { hints: await explainMissing(url, run) },
  );
}

/**
 * Prints the plants in the order of their ids: one NewPlant in JSON per line, or CSV. Nothing is printed faster than it is
 * read. Every plant that was acknowledged before is printed, each id once. Plants that are created meanwhile may be
 * printed too.
 *
 * @throws CommandError for an invalid option, or if a signal stops it; StoreError, OutputError
 */
export async function runExport(run: Run): Promise<void> {
  const { flags, io } = run;
  const { store: url, csv } = readOptions(exportOptions, flags, io);
  const style = csv ? "csv" : "json";
  await readInterruptibly(
    url,
    run,
    (store, signal) => printRows(readPages(store, signal), plantRows, style, run),
    "some plants are missing in the output",
  );
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

/**
 * Reads from a store until a signal stops it. Neither SQLite nor a pipe has to end the turn, and signals arrive only then,
 * so `read` has to. A read that waits for a lock or for PostgreSQL cannot be stopped: it ends with the process.
 *
 * @param consequence as for {@link interruptible}
 * @throws CommandError if a signal stops it; StoreError, and every error of `read`
 */
function readInterruptibly<T>(
  url: string,
  run: Run,
  read: (store: StoreReader, signal: AbortSignal) => Promise<T>,
  consequence: string,
): Promise<T> {
  const { flags, io, terminal } = run;
  return interruptible(
    io,
    (signal) => readStore(url, { flags, io, terminal, signal }, (store) => read(store, signal)),
    consequence,
    ({ message, exitCode }) => {
      if (io.stdout.writableLength > 0) return;
      const exit = (): void => io.exit(exitCode);
      terminal.error(message).then(exit, exit);
    },
  );
}
