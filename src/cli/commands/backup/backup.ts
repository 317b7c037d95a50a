/** `plantstore backup`, `verify` and `restore`: copies a store to a file, checks a file, and replaces a store with it. */
import { resolve } from "node:path";
import {
  backupStore,
  type FileWork,
  restoreStore,
  verifyStore,
} from "../../../store/backup-store.ts";
import type { Run } from "../../command.ts";
import { createDefaultDirectory } from "../../config/default-directory.ts";
import { toExitName } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import type { StopSignal } from "../../io.ts";
import { jsonOption } from "../../options.ts";
import { backupOptions, restoreOptions } from "../../store-options.ts";
import { readOptions } from "../../settings.ts";
import { nameStore } from "../../store-access.ts";

/**
 * Copies a store to a file, and prints what was copied.
 *
 * @returns the exit code
 * @throws StoreError if the store cannot be read or the file cannot be written; OutputError
 */
export async function backup(run: Run): Promise<number> {
  const { flags, io, operands } = run;
  const { store, isForced = false, json } = readOptions(backupOptions, flags, io);
  const [file = ""] = operands;
  await nameStore(store, run);
  return copyFile(
    run,
    { doing: `backing up to ${file}`, unchanged: "no backup was made" },
    (work) => backupStore(store, file, { ...work, isForced }),
    ({ path, plants, bytes }) =>
      printResult(
        run,
        json,
        { file: path, plants, bytes },
        `backed up ${toPlantCount(plants)} to ${path} (${toSize(bytes)})`,
      ),
  );
}

/**
 * Checks a file, and prints what it contains.
 *
 * @throws StoreError with the damage; OutputError
 */
export async function verify(run: Run): Promise<void> {
  const { flags, io, operands, terminal } = run;
  const { json } = readOptions(jsonOption, flags, io);
  const [file = ""] = operands;
  const contents = await terminal.showWhile(
    () => `verifying ${file}`,
    () => verifyStore(file),
  );
  const sentence = `${file} is sound, with ${toPlantCount(contents.plants)}`;
  await printResult(run, json, { file: resolve(file), ...contents }, sentence);
}

/**
 * Verifies a backup, replaces a store by it, and prints the path of the store before it.
 *
 * @returns the exit code
 * @throws StoreError if the backup is damaged, or the store is in use or cannot be replaced; OutputError
 */
export async function restore(run: Run): Promise<number> {
  const { flags, io, operands } = run;
  const { store, isForced = false, json } = readOptions(restoreOptions, flags, io);
  const [file = ""] = operands;
  await nameStore(store, run);
  return copyFile(
    run,
    { doing: `restoring ${file}`, unchanged: "the store was not replaced" },
    (work) => {
      const onChecked = (): void => createDefaultDirectory(store, io);
      return restoreStore(file, store, { ...work, isForced, onChecked });
    },
    ({ path, plants, bytes, oldPath }) => {
      const kept = oldPath === undefined ? "" : `; the old store is ${oldPath}`;
      const sentence = `restored ${toPlantCount(plants)} to ${path}${kept}`;
      return printResult(run, json, { store: path, plants, bytes, old: oldPath }, sentence);
    },
  );
}

/**
 * Prints a sentence on stderr if stdout is a terminal, otherwise a report as a line of JSON on stdout.
 *
 * @throws OutputError
 */
async function printResult(
  { io, terminal }: Run,
  json: boolean | undefined,
  report: object,
  sentence: string,
): Promise<void> {
  if (json || !io.stdout.isTTY) await terminal.printLines([JSON.stringify(report)]);
  else await terminal.success(sentence);
}

/** Such as `1 plant`. */
function toPlantCount(count: number): string {
  return `${count} plant${count === 1 ? "" : "s"}`;
}

/** A copy, and how the end of its use of signals is reported. */
interface CopyWork extends FileWork {
  /** Gives signals their default effect again, once the files are changed. */
  readonly onReplaced: () => void;
}

/**
 * Copies a file with progress, and reports it. SIGINT and SIGTERM remove what was written so far. SQLite cannot be stopped
 * while it copies, so they end the process.
 *
 * @param texts such as `backing up to FILE`, and the meaning of an interruption, such as `no backup was made`
 * @returns the exit code
 * @throws every error of `copy` and of `report`
 */
async function copyFile<T>(
  { io, terminal }: Run,
  { doing, unchanged }: { readonly doing: string; readonly unchanged: string },
  copy: (work: CopyWork) => Promise<T>,
  report: (result: T) => Promise<void>,
): Promise<number> {
  const stop = new AbortController();
  let stoppedBy: StopSignal | undefined;
  let readSize: (() => number) | undefined;
  let clear = (): void => undefined;
  const releaseSignals = io.onSignal((name) => {
    stoppedBy = name;
    stop.abort();
    clear();
    void terminal.error(`stopped by ${name}: ${unchanged}`).then(() => io.endBySignal(name));
  });
  const work: CopyWork = {
    signal: stop.signal,
    onCopy: (read) => (readSize = read),
    onReplaced: releaseSignals,
  };
  const toText = (): string =>
    readSize === undefined ? doing : `${doing}: ${toSize(readSize())} so far`;
  let result: T;
  try {
    result = await terminal.showWhile(toText, (clearSpinner) => {
      clear = clearSpinner;
      return copy(work);
    });
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

const units = ["kB", "MB", "GB", "TB"] as const;

/** Such as `12.3 MB`. */
function toSize(bytes: number): string {
  let size = bytes / 1000;
  let index = 0;
  while (size >= 999.95 && index < units.length - 1) {
    size /= 1000;
    index++;
  }
  return `${size.toFixed(1)} ${units[index]}`;
}
