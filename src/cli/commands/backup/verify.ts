/** `plantstore verify`: checks a backup or a store. */
import { resolve } from "node:path";
import { verifyStore } from "../../../store/backup-store.ts";
import type { Run } from "../../command.ts";
import { exitCodes } from "../../exit-codes.ts";
import { jsonOption } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { explainStoreErrors } from "../../store-access.ts";
import { printResult, toPlantCount } from "./report.ts";

/**
 * Checks a file, and prints what it contains.
 *
 * @returns the exit code
 * @throws CommandError with the damage; OutputError
 */
export async function verify(run: Run): Promise<number> {
  const { flags, io, operands, terminal } = run;
  const { json } = readOptions(jsonOption, flags, io);
  const [file = ""] = operands;
  const contents = await terminal.showWhile(
    () => `verifying ${file}`,
    () => explainStoreErrors(() => verifyStore(file)),
  );
  await printResult(run, json, {
    report: { file: resolve(file), ...contents },
    sentence: `${file} is sound, with ${toPlantCount(contents.plants)}`,
  });
  return exitCodes.done.code;
}
