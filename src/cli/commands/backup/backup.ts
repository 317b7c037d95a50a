/** `plantstore backup`: copies a store to a file. */
import { backupStore } from "../../../store/backup-store.ts";
import type { Run } from "../../command.ts";
import { backupOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { copyFile } from "./copy-file.ts";
import { printResult, toPlantCount, toSize } from "./report.ts";

/**
 * Copies a store to a file, and prints what was copied.
 *
 * @returns the exit code
 * @throws CommandError if the store cannot be read or the file cannot be written; OutputError
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
      printResult(run, json, {
        report: { file: path, plants, bytes },
        sentence: `backed up ${toPlantCount(plants)} to ${path} (${toSize(bytes)})`,
      }),
  );
}
