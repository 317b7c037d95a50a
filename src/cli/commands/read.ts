/** The commands `list`, `get` and `export`. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { type NewPlant, toNewPlantJson } from "../../core/plant.ts";
import type { PlantFilter, PlantQuery } from "../../core/store.ts";
import { readPlantPages } from "../../store/pages.ts";
import { adviseCommand, CommandError, interruptible, targetExitCodes } from "../command-error.ts";
import {
  type CommandBody,
  describeVariables,
  redirectAdvice,
  type Run,
  tokenAdvice,
} from "../command.ts";
import { IdList, isStandardInput, readIds } from "../id-input.ts";
import { OutputError, writeText } from "../io.ts";
import { csvOption, exportOptions, listOptions, plantId, targetOptions } from "../options/local.ts";
import { parseText, readOptions, type Values } from "../options/values.ts";
import { findPlace, type Place, toMissingError, toRunLine } from "../place.ts";
import type { FoundPlant, ServerWork } from "../remote-store.ts";
import { readStore } from "../store-access.ts";
import {
  type Column,
  printRows,
  type RowStyle,
  type RowType,
  selectStyle,
} from "../terminal/rows.ts";

const placeSentence = `\
Reads the store of this machine, or the plant store of --url, PLANTSTORE_URL or the
last login: see "plantstore help configuration".`;

const jsonAdvice = { "--json": "the output is JSON without it" };

export const listCommand: CommandBody = {
  description: `Lists plants by ascending id: a table on a terminal, otherwise lines of JSON.

${placeSentence}`,
  options: { ...listOptions, ...targetOptions },
  examples: ["plantstore list", "plantstore list --tag pot --csv > pots.csv"],
  environment: describeVariables("PLANTSTORE_TOKEN"),
  tokenAdvice,
  operandAdvice: [
    "list takes no ids: select plants with --after, --limit and --tag",
    ...adviseCommand("Print a plant by its id", "plantstore get ID"),
  ],
  exitCodes: targetExitCodes,
  run: runList,
};

export const getCommand: CommandBody = {
  description: `Prints the plants with the given ids, each as one line of JSON or as CSV, in the
order of the ids. Names the unknown ids at the end. With -
instead of ids, it reads one id per line from standard input, or JSON or a table with
an id, as create, list and export print them.

${placeSentence}`,
  options: { ...csvOption, ...targetOptions },
  examples: [
    "plantstore get 1",
    "plantstore get 1 2 3 | jq .name",
    "plantstore get - < ids.txt",
    "plantstore get -9223372036854775808",
    "plantstore get 1 --store sqlite:/var/lib/plantstore/plants.db",
    "plantstore get 1 --url https://plants.example.org/v1",
  ],
  environment: describeVariables("PLANTSTORE_TOKEN"),
  tokenAdvice,
  flagAdvice: jsonAdvice,
  exitCodes: { ...targetExitCodes, noSuchPlant: "No such plant" },
  run: runGet,
};

export const exportCommand: CommandBody = {
  description: `Prints all plants in the order of their ids, as one line of JSON per plant or as
CSV.

Includes every plant that was acknowledged before the export starts, each id once.
If others change a plant meanwhile, you get it as it was before or after. A failure
prints the command that appends the rest.

${placeSentence}`,
  options: { ...exportOptions, ...targetOptions },
  examples: [
    "plantstore export > plants.ndjson",
    "plantstore export --csv > plants.csv",
    "plantstore export --url https://plants.example.org/v1 > plants.ndjson",
    "plantstore export --store sqlite:old.db |",
    "  plantstore create --json --quiet",
  ],
  environment: describeVariables("PLANTSTORE_TOKEN"),
  tokenAdvice,
  operandAdvice: redirectAdvice,
  flagAdvice: jsonAdvice,
  exitCodes: targetExitCodes,
  run: runExport,
};

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
  /** Reads the plants of ids, in the order of the ids. */
  getAll(ids: AsyncIterable<bigint> | Iterable<bigint>): AsyncIterable<FoundPlant>;
  /** Reads the plants in the order of their ids. No page is empty. */
  readPages(query: PlantQuery): AsyncIterable<readonly NewPlant[]>;
  count(filter: PlantFilter): Promise<number>;
}

async function readPlace<T>(
  run: Run,
  read: (reader: PlantReader, place: Place) => Promise<T>,
  work: ServerWork = {},
): Promise<T> {
  const place = findPlace(run);
  if (place.kind === "server") {
    const { useServer } = await import("../remote-store.ts");
    return useServer(run, place, (server) => read(server, place), work);
  }
  return readStore(run, (store) => {
    const reader: PlantReader = {
      async *getAll(ids) {
        for await (const id of ids) yield { id, plant: await store.get(id) };
      },
      readPages: (query) => readPlantPages(store, query),
      count: (filter) => store.count(filter),
    };
    return read(reader, place);
  });
}

/** Maximum number of plants in a table unless the user sets another one. */
const tableLimit = 100;

async function runList(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const { json, csv, count, limit, ...filter } = readOptions(listOptions, flags, io);
  const style = selectStyle({ json, csv }, io.stdout);
  // A pipe that left plants behind would mislead the command that reads it.
  const query = { ...filter, limit: limit ?? (style === "table" ? tableLimit : Infinity) };
  const printList = async (reader: PlantReader): Promise<void> => {
    if (count) return writeText(io.stdout, `${await reader.count(filter)}\n`);
    const last = await printRows(reader.readPages(query), plantRows, style, run);
    if (last === undefined && io.stderr.isTTY) return terminal.note("no plants");
    // A script that sets the limit reads further pages itself.
    const readsOn = flags["limit"] !== undefined && !io.stderr.isTTY;
    if (last === undefined || query.limit === Infinity || readsOn) return;
    for await (const _ of reader.readPages({ ...filter, after: last.id, limit: 1 })) {
      const next = toRunLine(run, { ...flags, after: `${last.id}` });
      return terminal.note(...adviseCommand("More", next));
    }
  };
  await readPlace(run, printList, { isMany: true });
}

async function runGet(run: Run): Promise<void> {
  const { operands, flags, io } = run;
  const style = toPlainStyle(readOptions(csvOption, flags, io));
  const readsInput = isStandardInput(operands);
  const ids = readsInput ? [] : operands.map((each) => parseText("the id", each, plantId));
  const unknown = new Set<bigint>();

  async function* readPlants(reader: PlantReader, signal: AbortSignal) {
    for await (const { id, plant } of reader.getAll(readsInput ? readIds(run, signal) : ids)) {
      if (plant === undefined) unknown.add(id);
      else yield [plant];
      await endOfTurn();
      signal.throwIfAborted();
    }
  }

  await readInterruptibly(
    run,
    async (reader, signal, place) => {
      await printRows(readPlants(reader, signal), plantRows, style, run);
      if (unknown.size === 0) return;
      const missing = new IdList();
      missing.add([...unknown]);
      throw toMissingError(missing, place, run);
    },
    { isMany: readsInput || ids.length > 1 },
  );
}

async function runExport(run: Run): Promise<void> {
  const { flags, io } = run;
  const { after, tag, csv } = readOptions(exportOptions, flags, io);
  const style = toPlainStyle({ csv });
  let last: bigint | undefined;

  async function* readPages(
    reader: PlantReader,
    signal: AbortSignal,
  ): AsyncGenerator<readonly NewPlant[], void, undefined> {
    for await (const page of reader.readPages({ after, tag, limit: Infinity })) {
      await endOfTurn();
      signal.throwIfAborted();
      yield page;
      last = page.at(-1)?.id;
    }
  }

  try {
    await readInterruptibly(
      run,
      (reader, signal) => printRows(readPages(reader, signal), plantRows, style, run),
      { isMany: true },
    );
  } catch (error) {
    if (last === undefined || error instanceof OutputError) throw error;
    const { toCommandFailure } = await import("../command-failure.ts");
    const { exit, message, number, hints, cause } = toCommandFailure(error);
    const rest = toRunLine(run, { ...flags, after: `${last}` });
    // The rest has a header too.
    const tail = style === "csv" ? " | tail -n +2" : "";
    const allHints = [...hints, ...adviseCommand("Append the rest", `${rest}${tail} >> FILE`)];
    throw new CommandError(exit, message, { cause, hints: allHints, number });
  }
}

/** JSON, also on a terminal, unless a flag asks for CSV. */
function toPlainStyle({ csv }: Values<typeof csvOption>): RowStyle {
  return csv ? "csv" : "json";
}

/**
 * Reads plants until a signal stops it. Neither SQLite nor a pipe has to end the turn, and signals arrive only then,
 * so `read` has to. A read that waits for a lock or for PostgreSQL cannot be stopped: it ends with the process.
 */
function readInterruptibly<T>(
  run: Run,
  read: (reader: PlantReader, signal: AbortSignal, place: Place) => Promise<T>,
  work: ServerWork,
): Promise<T> {
  const { io, terminal } = run;
  return interruptible(
    io,
    (signal) => readPlace(run, (reader, place) => read(reader, signal, place), { ...work, signal }),
    () => "some plants are missing in the output",
    ({ message, exitCode }) => {
      if (io.stdout.writableLength > 0) return;
      const exit = (): void => io.exit(exitCode);
      terminal.error(message).then(exit, exit);
    },
  );
}
