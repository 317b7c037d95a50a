/** `plantstore doctor`: looks at all that plantstore rests on here, and says of what is wrong what to do. */
import { redactTokens } from "../../core/quote.ts";
import { isColored, loadPalette } from "../output/color.ts";
import { checkConfigDirectory, checkDataDirectory } from "../doctor/directory-check.ts";
import type { Finding } from "../doctor/finding.ts";
import { toFindingLine, toSettingLines } from "../doctor/report-text.ts";
import { checkServer } from "../doctor/server-check.ts";
import {
  findUnknownVariables,
  listSettings,
  type SettingReport,
} from "../doctor/settings-report.ts";
import { checkStore } from "../doctor/store-check.ts";
import { exitCodes } from "../exit-codes.ts";
import { interruptible } from "../interruption.ts";
import { type Io, writeText } from "../io.ts";
import { printJson } from "../output/json-output.ts";
import { type DoctorFlags, resolveLoginOptions } from "../settings/client-settings.ts";
import { resolveStoreUrl } from "../settings/reader-settings.ts";
import { interfaceName, packageVersion, toPlatformName } from "../version.ts";

/**
 * Prints the settings and the findings, each as soon as it is known. Nothing is created or changed.
 *
 * @param colorChoice `--color` or `--no-color`, when one was given
 * @returns the exit code: 0 when nothing is wrong, else that of the first error
 * @throws CommandError when it was interrupted
 * @throws OutputError
 */
export async function doctor(
  flags: DoctorFlags,
  io: Io,
  colorChoice: boolean | undefined,
): Promise<number> {
  const { stdout } = io;
  const { json, store, url, timeout } = flags;
  const settings = listSettings({ "--store": store, "--url": url, "--timeout": timeout }, io);
  const palette = await loadPalette(isColored(stdout, colorChoice, io.env));
  const columns = stdout.isTTY ? stdout.columns : undefined;
  if (!json) await writeText(stdout, `${toSettingLines(settings, columns)}\n`);

  const findings: Finding[] = [];
  for await (const finding of examine(flags, settings, io, colorChoice)) {
    findings.push(finding);
    if (!json) await writeText(stdout, toFindingLine(finding, columns, palette));
  }

  const firstError = findings.find(({ state }) => state === "error");
  if (json) {
    const checks = findings.map(({ subject, state, message }) => ({ subject, state, message }));
    const report = { ok: firstError === undefined, checks, settings };
    await printJson(stdout, [redactTokens(JSON.stringify(report))]);
  }
  return firstError?.exitCode ?? exitCodes.done.code;
}

async function* examine(
  flags: DoctorFlags,
  settings: readonly SettingReport[],
  io: Io,
  colorChoice: boolean | undefined,
): AsyncGenerator<Finding, void, undefined> {
  const version = `${packageVersion} (${interfaceName})`;
  yield { subject: "plantstore", state: "ok", message: version };
  const node = `${io.nodeVersion} on ${toPlatformName(io)}`;
  yield { subject: "node", state: "ok", message: node };
  yield await checkConfigDirectory(io);
  yield await checkDataDirectory(io);
  yield* judgeSettings(settings);
  for (const name of findUnknownVariables(io)) {
    const message = `${name} is none of plantstore's, and has no effect: check how it is written`;
    yield { subject: "variables", state: "warning", message };
  }
  const isRight = (flag: string): boolean =>
    settings.some((setting) => setting.flag === flag && setting.problem === undefined);
  if (isRight("--store")) yield await checkStore(resolveStoreUrl(flags, io), io, colorChoice);
  if (isRight("--url") && isRight("--timeout")) {
    yield* await interruptible(io, (signal) =>
      checkServer(resolveLoginOptions(flags, io), io, colorChoice, signal),
    );
  }
}

function* judgeSettings(settings: readonly SettingReport[]): Generator<Finding, void, undefined> {
  const problems = new Set(settings.flatMap(({ problem }) => problem ?? []));
  for (const message of problems) {
    yield { subject: "settings", state: "error", message, exitCode: exitCodes.usage.code };
  }
  if (problems.size === 0) yield { subject: "settings", state: "ok", message: "all as listed" };
}
