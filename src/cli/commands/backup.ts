/** The commands `backup`, `verify` and `restore`. */
import { resolve } from "node:path";
import type { RestoreOptions } from "../../core/store.ts";
import { backupStore, restoreStore, verifyStore } from "../../store/open-store.ts";
import { parseStoreUrl, storeForms } from "../../store/store-url.ts";
import { exitCodes, storeExitCodes, toExitName } from "../command-error.ts";
import { type CommandBody, type Run, storeCommand } from "../command.ts";
import type { StopSignal } from "../io.ts";
import { backupOptions, restoreOptions } from "../options/local.ts";
import { jsonOption } from "../options/remote.ts";
import { readOptions } from "../options/values.ts";
import { makeDefaultDirectory } from "../store-access.ts";

export const backupCommand: CommandBody = {
  description: `Copies a store that is a file (${storeForms.file}) to another file while servers
write to it. Every plant that was acknowledged before the backup starts is in the
copy. The file has its name only once it is complete and flushed to the disk. It contains the
digests of tokens, not the tokens.

On standard output: the file, the number of plants and the size, as JSON unless it is a
terminal.`,
  options: backupOptions,
  examples: [
    "plantstore backup plants.backup",
    "plantstore backup --force /mnt/backups/plants.backup",
    "plantstore backup plants.backup --store sqlite:/srv/plants.db",
  ],
  ...storeCommand,
  exitCodes: storeExitCodes,
  run: runBackup,
};

export const verifyCommand: CommandBody = {
  description: `Checks every page of a backup and every plant in it, and changes nothing. The file
may be read-only, or a store that servers use. In the log of a store (FILE-wal), it can't
tell damage from a commit that a crash interrupted, and checks nothing after it.

On standard output: the file, the numbers of plants and tokens, and the version of the
store, as JSON unless it is a terminal.`,
  options: jsonOption,
  examples: ["plantstore verify plants.backup", "plantstore verify --json plants.backup"],
  exitCodes: { ...storeExitCodes, invalidPlant: "The file is damaged, or has triggers" },
  run: runVerify,
};

export const restoreCommand: CommandBody = {
  description: `Verifies a backup, and replaces a store that is a file (${storeForms.file}) with a
copy of it. Stop every server on the store first: a store that is in use is not replaced.

The old store remains in its directory, under a name with the time. As root, both keep
the owner and the mode of the store. The restored store accepts the tokens that were
valid when the backup was made.

On standard output: the store, the number of plants, the size and the path of the
old store, as JSON unless it is a terminal.`,
  options: restoreOptions,
  examples: [
    "plantstore restore plants.backup",
    "plantstore restore --force plants.backup",
    "plantstore restore plants.backup --store sqlite:/srv/plants.db",
  ],
  ...storeCommand,
  exitCodes: { ...storeExitCodes, invalidPlant: "The backup is damaged, or has triggers" },
  run: runRestore,
};

async function runBackup(run: Run): Promise<number> {
  const { flags, io, operands, terminal } = run;
  const { store, isForced = false, json } = readOptions(backupOptions, flags, io);
  const [file = ""] = operands;
  await terminal.namePlace("Store", parseStoreUrl(store).url);
  return copyFile(
    run,
    `backing up to ${file}`,
    "no backup was made",
    (work) => backupStore(store, file, { ...work, isForced }),
    ({ path, plants, bytes }) =>
      printFileReport(
        run,
        json,
        { file: path, plants, bytes },
        `backed up ${toPlantCount(plants)} to ${path} (${toSize(bytes)})`,
      ),
  );
}

async function runVerify(run: Run): Promise<void> {
  const { flags, io, operands, terminal } = run;
  const { json } = readOptions(jsonOption, flags, io);
  const [file = ""] = operands;
  const contents = await terminal.showWhile(
    () => `verifying ${file}`,
    () => verifyStore(file),
  );
  const { plants, version } = contents;
  const sentence = `${file} is sound, with ${toPlantCount(plants)} in store version ${version}`;
  await printFileReport(run, json, { file: resolve(file), ...contents }, sentence);
}

async function runRestore(run: Run): Promise<number> {
  const { flags, io, operands, terminal } = run;
  const { store, isForced = false, json } = readOptions(restoreOptions, flags, io);
  const [file = ""] = operands;
  await terminal.namePlace("Store", parseStoreUrl(store).url);
  return copyFile(
    run,
    `restoring ${file}`,
    "the store was not replaced",
    (work) => {
      const onChecked = (): void => makeDefaultDirectory(store, io);
      return restoreStore(file, store, { ...work, isForced, onChecked });
    },
    ({ path, plants, bytes, oldPath }) => {
      const kept = oldPath === undefined ? "" : `; the old store is ${oldPath}`;
      const sentence = `restored ${toPlantCount(plants)} to ${path}${kept}`;
      return printFileReport(run, json, { store: path, plants, bytes, old: oldPath }, sentence);
    },
  );
}

/** Prints a sentence on stderr if stdout is a terminal, otherwise a report as a line of JSON on stdout. */
async function printFileReport(
  { io, terminal }: Run,
  json: boolean | undefined,
  report: object,
  sentence: string,
): Promise<void> {
  if (json || !io.stdout.isTTY) await terminal.printLines([JSON.stringify(report)]);
  else await terminal.success(sentence);
}

function toPlantCount(count: number): string {
  return `${count.toLocaleString("en")} plant${count === 1 ? "" : "s"}`;
}

type CopyWork = Omit<RestoreOptions, "isForced" | "onChecked">;

/**
 * Copies a file with progress, and reports it. SIGINT and SIGTERM remove what was written so far. An engine may not
 * stop while it copies, so they end the process.
 */
async function copyFile<T>(
  { io, terminal }: Run,
  doing: string,
  unchanged: string,
  copy: (work: CopyWork) => Promise<T>,
  report: (result: T) => Promise<void>,
): Promise<number> {
  const stop = new AbortController();
  let stoppedBy: StopSignal | undefined;
  let readSize: (() => number) | undefined;
  const releaseSignals = io.onSignal((name) => {
    stoppedBy = name;
    stop.abort();
    void terminal.error(`stopped by ${name}: ${unchanged}`).then(() => io.endBySignal(name));
  });
  const work: CopyWork = {
    signal: stop.signal,
    onCopy: (read) => (readSize = read),
    onReplaced: releaseSignals,
  };
  const describeProgress = (): string =>
    readSize === undefined ? doing : `${doing}: ${toSize(readSize())} so far`;
  let result: T;
  try {
    result = await terminal.showWhile(describeProgress, () => copy(work));
  } catch (error) {
    // Only where a signal does not end the process, such as for the first process of a container.
    if (stoppedBy !== undefined) return exitCodes[toExitName(stoppedBy)].code;
    throw error;
  } finally {
    releaseSignals();
  }
  await report(result);
  return exitCodes.done.code;
}

/** Such as `12.3 MB`. */
function toSize(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
