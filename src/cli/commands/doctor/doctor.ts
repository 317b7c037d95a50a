/** `plantstore doctor`: checks everything that plantstore depends on, and suggests fixes. */
import { redactTokens } from "../../../core/quote.ts";
import type { Run } from "../../command.ts";
import { interruptible } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { type Io, writeText } from "../../io.ts";
import { jsonOption, otherVariables } from "../../options.ts";
import { serveOptions, settings, storeOption } from "../../store-options.ts";
import { findExposure } from "../../permissions.ts";
import { readOptions } from "../../settings.ts";
import { interfaceName, packageVersion, toPlatformName } from "../../version.ts";
import { listSettings, readTarget, type SettingReport } from "../status/setting-report.ts";
import { checkConfigDirectory, checkDataDirectory } from "./directory-check.ts";
import { type Finding, toFindingLine } from "./finding.ts";
import { examineServer } from "./server-check.ts";
import { checkSqlite, checkStore } from "./store-check.ts";

/**
 * Prints each finding as soon as it is known. Changes nothing.
 *
 * @returns the exit code: 0 without an error, otherwise that of the first error
 * @throws CommandError if a signal stops it; OutputError
 */
export async function doctor(run: Run): Promise<number> {
  const { flags, io, terminal } = run;
  const { stdout } = io;
  const { json } = readOptions(jsonOption, flags, io);
  const reports = listSettings(flags, io);
  const palette = await terminal.loadPalette(stdout);
  const columns = stdout.isTTY ? stdout.columns : undefined;
  const findings: Finding[] = [];
  for await (const finding of check(reports, run)) {
    findings.push(finding);
    if (!json) await writeText(stdout, toFindingLine(finding, columns, palette));
  }

  const firstError = findings.find(({ state }) => state === "error");
  if (json) {
    const checks = findings.map(({ subject, state, message }) => ({ subject, state, message }));
    const report = { ok: firstError === undefined, checks };
    await terminal.printLines([redactTokens(JSON.stringify(report))]);
  }
  return firstError?.exitCode ?? exitCodes.done.code;
}

async function* check(
  reports: readonly SettingReport[],
  { flags, io, terminal }: Run,
): AsyncGenerator<Finding, void, undefined> {
  const version = `${packageVersion} (${interfaceName})`;
  yield { subject: "plantstore", state: "ok", message: version };
  const node = `${io.nodeVersion} on ${toPlatformName(io)}`;
  yield { subject: "node", state: "ok", message: node };
  yield await checkConfigDirectory(io);
  yield await checkDataDirectory(io);
  yield* checkSettings(reports);
  yield* await checkTlsKey(io);
  for (const name of findUnknownVariables(io)) {
    const message = `${name} is unknown and has no effect: check its spelling`;
    yield { subject: "variables", state: "warning", message };
  }
  if (reports.some(({ flag, problem }) => flag === "--store" && problem === undefined)) {
    const { store } = readOptions(storeOption, flags, io);
    yield* await checkSqlite(store);
    yield await checkStore(store, { io, terminal });
  }
  const target = readTarget(reports, flags, io);
  if (target !== undefined) {
    yield* await interruptible(io, (signal) => examineServer(target, { io, terminal }, signal));
  }
}

/** Warns about a key that other users can read. A missing or invalid setting is reported with the settings. */
async function checkTlsKey(io: Io): Promise<readonly Finding[]> {
  const path = io.env[serveOptions.tlsKey.env];
  const message = path ? await findExposure({ path, privacy: "key" }, io) : undefined;
  return message === undefined ? [] : [{ subject: "settings", state: "warning", message }];
}

function* checkSettings(reports: readonly SettingReport[]): Generator<Finding, void, undefined> {
  const problems = new Set(reports.flatMap(({ problem }) => problem ?? []));
  for (const message of problems) {
    yield { subject: "settings", state: "error", message, exitCode: exitCodes.usage.code };
  }
  if (problems.size === 0) {
    const message = 'all valid; "plantstore status --all" shows them';
    yield { subject: "settings", state: "ok", message };
  }
}

/** Finds variables that look like settings of plantstore and are not: mostly typing errors. */
function findUnknownVariables({ env }: Io): readonly string[] {
  const known = new Set([
    ...Object.keys(otherVariables),
    ...Object.values(settings).map(({ env: name }) => name),
  ]);
  return Object.keys(env)
    .filter((name) => name.startsWith("PLANTSTORE_") && env[name] && !known.has(name))
    .toSorted();
}
