/** The commands `list`, `get` and `export`. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { type NewPlant, toNewPlantJson } from "../../core/plant.ts";
import type { PlantFilter, PlantQuery } from "../../core/store.ts";
import { readPlantPages } from "../../store/pages.ts";
import { CommandError, interruptible, targetExitCodes } from "../command-error.ts";
import { type CommandBody, redirectAdvice, targetCommand, type Run } from "../command.ts";
import { IdList, isStandardInput, readIds } from "../id-input.ts";
import { writeText } from "../io.ts";
import { exportOptions, listOptions, plantId, targetOptions } from "../options/local.ts";
import { parseText, readOptions, toCommandLine } from "../options/values.ts";
import type { ServerWork } from "../remote-store.ts";
import { explainMissing, readStore, selectsServer, toListCommand } from "../store-access.ts";
import { printRows, type RowType, selectStyle } from "../terminal/rows.ts";
import type { Column } from "../terminal/table.ts";

export const listCommand: CommandBody = {
  description: `Lists plants in the order of their ids: as a table on a terminal, otherwise as
one line of JSON per plant. A table ends after 100 plants unless --limit is given.

Reads the store itself, without a server or a token; servers may write to it at
the same time. With --url, it reads the plants of a server with all operations
instead; PLANTSTORE_URL and the last login select no server.

On a terminal, stderr names the store; elsewhere it does if "create" sends to a
server that probably has another one.`,
  options: { ...listOptions, ...targetOptions },
  examples: [
    "plantstore list",
    "plantstore list --after 100 --limit 20",
    "plantstore list --tag pot --csv > pots.csv",
    "plantstore list --count",
    "plantstore list --url https://plants.example.org/v1",
  ],
  ...targetCommand,
  operandAdvice: `list takes no ids: "plantstore get ID" prints one plant, and --limit, --after and --tag select some`,
  exitCodes: targetExitCodes,
  run: printPlants,
};

export const getCommand: CommandBody = {
  description: `Prints the plants with the given ids, each as one line of JSON, also on a
terminal, in the order of the ids. Names the unknown ids at the end. With -
instead of ids, it reads one id per line from standard input, or JSON with an id,
as create, list and export print it.

Reads the store itself, without a server or a token; servers may write to it at
the same time. Only with --url, it sends one request per id to a server with all
operations instead.`,
  options: targetOptions,
  examples: [
    "plantstore get 1",
    "plantstore get 1 2 3 | jq .name",
    "plantstore get - < ids.txt",
    "plantstore get -9223372036854775808",
    "plantstore get 1 --store sqlite:/var/lib/plantstore/plants.db",
    "plantstore get 1 --url https://plants.example.org/v1",
  ],
  ...targetCommand,
  hints: { "--json": "get prints JSON already, so leave it out" },
  exitCodes: { ...targetExitCodes, noSuchPlant: "No such plant" },
  run: printPlant,
};

export const exportCommand: CommandBody = {
  description: `Prints all plants in the order of their ids, as one line of JSON per plant or as
CSV.

Reads the store itself, without a server or a token. Servers may write to it at
the same time: every plant that was acknowledged before the export starts is
printed, each id once. Plants that are created during the export may be printed
too.

Only with --url, it reads the plants of a server with all operations instead, page
by page, and a failure prints the command to go on.`,
  options: { ...exportOptions, ...targetOptions },
  examples: [
    "plantstore export > plants.ndjson",
    "plantstore export --csv > plants.csv",
    "plantstore export --url https://plants.example.org/v1 > plants.ndjson",
    "plantstore export --store sqlite:old.db |",
    "  plantstore create --many --quiet",
  ],
  ...targetCommand,
  hints: { "--json": "export prints JSON already, so leave it out" },
  operandAdvice: redirectAdvice,
  exitCodes: targetExitCodes,
  run: runExport,
};

/** The columns of plants, by their names. */
const plantColumns: Readonly<Record<keyof NewPlant, Omit<Column<NewPlant>, "name">>> = {
  id: { read: ({ id }) => `${id}`, isNumber: true },
  name: { read: ({ name }) => name },
  tag: { read: ({ tag }) => tag },
};

/** Plants as rows. Their CSV is an input of `create --csv`. */
export const plantRows: RowType<NewPlant> = {
  columns: Object.entries(plantColumns).map(([name, column]) => ({ name, ...column })),
  toJson: toNewPlantJson,
};

interface PlantReader {
  get(id: bigint): Promise<NewPlant | undefined>;
  /** Reads the plants in the order of their ids. No page is empty. */
  readPages(query: PlantQuery): AsyncIterable<readonly NewPlant[]>;
  count(filter: PlantFilter): Promise<number>;
}

async function readTarget<T>(
  run: Run,
  read: (reader: PlantReader) => Promise<T>,
  work: ServerWork = {},
): Promise<T> {
  if (selectsServer(run)) {
    const { useServer } = await import("../remote-store.ts");
    return useServer(run, read, work);
  }
  return readStore({ ...run, signal: work.signal }, (store) =>
    read({
      get: (id) => store.get(id),
      readPages: (query) => readPlantPages(store, query),
      count: (filter) => store.count(filter),
    }),
  );
}

/** Maximum number of plants in a table unless the user sets another one. */
const tableLimit = 100;

async function printPlants(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const { json, csv, count, limit, ...filter } = readOptions(listOptions, flags, io);
  const style = selectStyle({ json, csv }, io.stdout);
  // A pipe that left plants behind would mislead the command that reads it.
  const query = { ...filter, limit: limit ?? (style === "table" ? tableLimit : Infinity) };
  await readTarget(run, async (reader) => {
    if (count) return writeText(io.stdout, `${await reader.count(filter)}\n`);
    const last = await printRows(reader.readPages(query), plantRows, style, run);
    if (last === undefined) {
      if (!io.stderr.isTTY) return;
      await terminal.note("no plants");
      for (const hint of await explainMissing(run)) await terminal.note(hint);
      return;
    }
    // A script that sets the limit reads further pages itself.
    if (query.limit === Infinity || (flags["limit"] !== undefined && !io.stderr.isTTY)) return;
    for await (const _ of reader.readPages({ ...filter, afterId: last.id, limit: 1 })) {
      await terminal.note(`there are more: --after ${last.id} shows the next ones`);
      return;
    }
  });
}

/** Names the unknown ids after the other plants are printed. */
async function printPlant(run: Run): Promise<void> {
  const { operands, terminal } = run;
  const readsInput = isStandardInput(operands);
  const ids = readsInput ? [] : operands.map((each) => parseText("the id", each, plantId));
  const missing = new IdList();
  await readInterruptibly(
    run,
    async (reader, signal) => {
      for await (const id of readsInput ? readIds(run, signal) : ids) {
        const plant = await reader.get(id);
        if (plant === undefined) missing.add([id]);
        else await terminal.printLines([toNewPlantJson(plant)]);
        await endOfTurn();
        signal.throwIfAborted();
      }
      if (missing.count === 0) return;
      const subject = missing.count === 1 ? "no plant has" : "no plants have";
      throw new CommandError(
        "noSuchPlant",
        `${subject} the ${missing.describe()}: "${toListCommand(run)}" shows all plants`,
        { hints: await explainMissing(run) },
      );
    },
    () => "some plants are missing in the output",
    { isMany: readsInput || ids.length > 1 },
  );
}

async function runExport(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const { csv, ...filter } = readOptions(exportOptions, flags, io);
  const style = csv ? "csv" : "json";
  const isServer = selectsServer(run);
  let last = filter.afterId;
  const describeRest = (): string => {
    const rest = last === undefined ? flags : { ...flags, afterId: `${last}` };
    const command = toCommandLine("export", { ...exportOptions, ...targetOptions }, rest);
    // The rest has a header too.
    const tail = csv && last !== undefined ? " | tail -n +2" : "";
    return `to go on: ${command}${tail}`;
  };

  async function* readPages(
    reader: PlantReader,
    signal: AbortSignal,
  ): AsyncGenerator<readonly NewPlant[], void, undefined> {
    for await (const page of reader.readPages({ ...filter, limit: Infinity })) {
      await endOfTurn();
      signal.throwIfAborted();
      yield page;
      last = page.at(-1)?.id;
    }
  }

  if (isServer) {
    await terminal.note(
      "pages are read one after the other and are no snapshot: a plant that is deleted or replaced meanwhile may be printed as it was",
    );
  }
  await readInterruptibly(
    run,
    (reader, signal) => printRows(readPages(reader, signal), plantRows, style, run),
    () => `some plants are missing in the output${isServer ? `; ${describeRest()}` : ""}`,
    { isMany: true, toHints: () => [describeRest()] },
  );
}

/**
 * Reads plants until a signal stops it. Neither SQLite nor a pipe has to end the turn, and signals arrive only then,
 * so `read` has to. A read that waits for a lock or for PostgreSQL cannot be stopped: it ends with the process.
 *
 * @param toConsequence as for {@link interruptible}
 * @throws CommandError if a signal stops it; StoreError, and every error of `read`
 */
function readInterruptibly<T>(
  run: Run,
  read: (reader: PlantReader, signal: AbortSignal) => Promise<T>,
  toConsequence: () => string,
  work: ServerWork,
): Promise<T> {
  const { io, terminal } = run;
  return interruptible(
    io,
    (signal) => readTarget(run, (reader) => read(reader, signal), { ...work, signal }),
    toConsequence,
    ({ message, exitCode }) => {
      if (io.stdout.writableLength > 0) return;
      const exit = (): void => io.exit(exitCode);
      terminal.error(message).then(exit, exit);
    },
  );
}
