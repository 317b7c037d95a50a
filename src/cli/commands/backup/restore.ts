/** `plantstore restore`: puts a backup in the place of a store. */
import { restoreStore } from "../../../store/backup-store.ts";
import type { Run } from "../../command.ts";
import { restoreOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { copyFile } from "./copy-file.ts";
import { printResult, toPlantCount } from "./report.ts";

/**
 * Verifies a backup, replaces a store by it, and prints the path of the store before it.
 *
 * @returns the exit code
 * @throws CommandError if the backup is damaged, or the store is in use or cannot be replaced; OutputError
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
      return printResult(run, json, {
        report: { store: path, plants, bytes, old: oldPath },
        sentence: `restored ${toPlantCount(plants)} to ${path}${kept}`,
      });
    },
  );
}
