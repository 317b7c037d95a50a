/** The commands `list`, `get` and `export`. */
import { setImmediate as endOfTurn, setTimeout as sleep } from "node:timers/promises";
import { type NewPlant, toNewPlantJson, toPlantJson } from "../../core/plant.ts";
import type { FeedEntry, StoreReader } from "../../core/store.ts";
import { plantId } from "../../library/option-types.ts";
import { mayContinue, readPlantPages } from "../../store/pages.ts";
import type { ReaderOptions } from "../../store/store-location.ts";
import {
  CommandError,
  exitCodes,
  interruptible,
  Interruption,
  storeExitCodes,
  UsageError,
} from "../command-error.ts";
import { type CommandBody, type Run, storeCommand } from "../command.ts";
import { IdList, isStandardInput, readIds } from "../id-input.ts";
import { writeText } from "../io.ts";
import { exportOptions, jsonStoreOptions, listOptions } from "../options/local.ts";
import { parseText, readOptions } from "../options/values.ts";
import { explainMissing, readStore } from "../store-access.ts";
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
  options: jsonStoreOptions,
  examples: [
    "plantstore get 1",
    "plantstore get 1 2 3 | jq .name",
    "plantstore get - < ids.txt",
    "plantstore get -9223372036854775808",
    "plantstore get 1 --store sqlite:/var/lib/plantstore/plants.db",
  ],
  ...storeCommand,
  exitCodes: [...storeExitCodes, "noSuchPlant", "interrupted", "outputClosed", "terminated"],
  run: printPlant,
};

/** `plantstore export`. */
export const exportCommand: CommandBody = {
  description: `Prints all plants in a store in the order of their ids, as one line of JSON per
plant or as CSV. Reads the store itself, without a server or a token. Servers may write to
it at the same time: every plant that was acknowledged before the export starts
is printed, each id once. Plants that are created during the export may be
printed too. With --follow, it prints the plants in the order of their commits, each
with a cursor, and waits for more until it is interrupted. --after resumes after a
cursor. "plantstore help feed" explains both.`,
  options: exportOptions,
  examples: [
    "plantstore export > plants.ndjson",
    "plantstore export --csv > plants.csv",
    "plantstore export --store sqlite:old.db |",
    "  plantstore create --many --quiet",
    "plantstore export --follow",
  ],
  ...storeCommand,
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
  const { store: url } = readOptions(jsonStoreOptions, flags, io);
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
    `${missing.count === 1 ? "no plant has" : "no plants have"} the ${missing.describe()}: "plantstore list" shows all plants`,
    { hints: await explainMissing(url, run) },
  );
}

/**
 * Prints the plants in the order of their ids, or with `--follow` in the order of their commits: one NewPlant in JSON per
 * line, or CSV. Nothing is printed faster than it is read. Without `--follow`, every plant that was acknowledged before is
 * printed, each id once. Plants that are created meanwhile may be printed too.
 *
 * @returns the exit code: of the signal that ended `--follow`
 * @throws CommandError for an invalid option, or if a signal stops it; StoreError, OutputError
 */
export async function runExport(run: Run): Promise<number> {
  const { flags, io } = run;
  const { store: url, json, csv, isFollowing, after } = readOptions(exportOptions, flags, io);
  if (isFollowing) {
    if (csv) throw new UsageError("--follow prints JSON: remove --csv");
    return follow(url, after ?? "", run).catch(async (error: unknown) => {
      // The usual way to end it.
      if (!(error instanceof Interruption)) throw error;
      await run.terminal.note(error.message);
      return error.exitCode;
    });
  }
  if (after !== undefined) {
    throw new UsageError(
      '--after is for --follow: add --follow, or use "plantstore list --after" for the plants after an id',
    );
  }
  const style = selectStyle({ json: json ?? !csv, csv }, io.stdout);
  await readInterruptibly(
    url,
    run,
    (store, signal) => printRows(readPages(store, signal), plantRows, style, run),
    "some plants are missing in the output",
  );
  return exitCodes.done.code;
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

/** Time in which a follower ends whose output is blocked. */
const maxFollowerEndMs = 400;

/**
 * Reads from a store until a signal stops it. Neither SQLite nor a pipe has to end the turn, and signals arrive only then,
 * so `read` has to. A read that waits for a lock or for PostgreSQL cannot be stopped: it ends with the process. Output that
 * its reader has not taken yet is cut for a follower only, which can resume.
 *
 * @param consequence as for {@link interruptible}
 * @throws CommandError if a signal stops it; StoreError, and every error of `read`
 */
function readInterruptibly<T>(
  url: string,
  run: Run,
  read: (store: StoreReader, signal: AbortSignal) => Promise<T>,
  consequence: string | (() => string),
  options?: ReaderOptions,
): Promise<T> {
  const { flags, io, terminal } = run;
  const isFollower = options?.isFollower === true;
  return interruptible(
    io,
    (signal) =>
      readStore(url, { flags, io, terminal, signal }, (store) => read(store, signal), options),
    consequence,
    ({ message, exitCode }) => {
      if (io.stdout.writableLength > 0 && !isFollower) return;
      const exit = (): void => io.exit(exitCode);
      const report = isFollower ? terminal.note(message) : terminal.error(message);
      report.then(exit, exit);
      // The same reader may block stderr.
      setTimeout(exit, maxFollowerEndMs);
    },
    isFollower ? maxFollowerEndMs : undefined,
  );
}

/** Time between two reads of a feed that has no further entries. */
const pollMs = 100;

/**
 * Prints the entries of the feed, each with its cursor, until a signal stops it. The message then says how to resume.
 *
 * @param after cursor of the last entry to skip; empty for none
 * @throws CommandError if the store does not accept the cursor, or a signal stops it; StoreError, OutputError
 */
async function follow(url: string, after: string, run: Run): Promise<never> {
  let lastCursor = after;
  let isPrinting = false;
  return readInterruptibly(
    url,
    run,
    async (store, signal) => {
      for (;;) {
        const page = await store.readFeed({ after: lastCursor || undefined, limit: Infinity });
        await endOfTurn();
        signal.throwIfAborted();
        isPrinting = true;
        await run.terminal.printLines(page.map(toEntryJson));
        isPrinting = false;
        lastCursor = page.at(-1)?.cursor ?? lastCursor;
        if (!mayContinue(page.map(({ plant }) => plant))) {
          // An empty write fails on a socket whose reader is gone. A pipe reports that only at the next plant.
          await writeText(run.io.stdout, "");
          await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
        }
      }
    },
    () => {
      const resume = lastCursor === "" ? "start again" : `resume with --after ${lastCursor}`;
      if (isPrinting) return `${resume}; the output is cut after that`;
      return lastCursor === "" ? "nothing was printed" : resume;
    },
    { isFollower: true },
  );
}

function toEntryJson({ cursor, id, plant }: FeedEntry): string {
  const members = plant === undefined ? '"deleted":true}' : toPlantJson(plant).slice(1);
  return `{"cursor":${JSON.stringify(cursor)},"id":${id},${members}`;
}
