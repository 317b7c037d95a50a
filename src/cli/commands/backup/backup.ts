/** `plantstore backup`, `verify` and `restore`: copies a store to a file, checks a file, and puts it in the place of a store. */
import { resolve } from "node:path";
import { backupStore, restoreStore, verifyStore } from "../../../store/backup-store.ts";
import type { Run } from "../../command.ts";
import { backupOptions, jsonOption, restoreOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { copyFile, toSize } from "./copy-file.ts";

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
  return copyFile(
    run,
    { doing: `restoring ${file}`, unchanged: "the store was not replaced" },
    (work) => restoreStore(file, store, { ...work, isForced }),
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
