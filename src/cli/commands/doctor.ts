/** The command `doctor`: prints the findings of an inspection. */
import { redactTokens } from "../../core/messages.ts";
import { exitCodes, interruptible, requestExitCodes } from "../command-error.ts";
import type { CommandBody, Run } from "../command.ts";
import { type Io, writeText } from "../io.ts";
import { doctorOptions, serveOptions, settings, storeOption } from "../options/local.ts";
import { jsonOption, otherVariables } from "../options/remote.ts";
import { readOptions } from "../options/values.ts";
import type { Palette } from "../terminal/terminal.ts";
import { interfaceName, packageVersion, toPlatformName } from "../version.ts";
import type { Finding } from "./inspection.ts";

/** `plantstore doctor`. */
export const doctorCommand: CommandBody = {
  description: `Checks everything that plantstore depends on: Node.js, the directories, every
setting, the store and its integrity, the server, the token and the clock.
Suggests a fix for each problem. Changes nothing, and prints no secrets.
"plantstore status" shows the settings and their sources.`,
  options: doctorOptions,
  examples: [
    "plantstore doctor",
    "plantstore doctor --url https://plants.example.org/v1",
    "plantstore doctor --store sqlite:/var/lib/plantstore/plants.db",
    `plantstore doctor --json | jq '.checks[] | select(.state == "error")'`,
  ],
  environment: [["PLANTSTORE_*", "Every variable of the other commands"]],
  exitCodes: [...requestExitCodes, "outputClosed"],
  exitCodesNote: "If several checks fail, the first one decides.",
  run: runDoctor,
};

/**
 * Prints each finding as soon as it is known. Changes nothing.
 *
 * @returns the exit code: 0 without an error, otherwise that of the first error
 * @throws CommandError if a signal stops it; OutputError
 */
async function runDoctor(run: Run): Promise<number> {
  const { flags, io, terminal } = run;
  const { stdout } = io;
  const { json } = readOptions(jsonOption, flags, io);
  const { toItem } = await import("../terminal/table.ts");
  const palette = await terminal.loadPalette(stdout);
  const columns = stdout.isTTY ? stdout.columns : undefined;
  const findings: Finding[] = [];
  for await (const finding of check(run)) {
    findings.push(finding);
    if (json) continue;
    const message = redactTokens(finding.message);
    await writeText(stdout, toItem(toTerm(finding, palette), termColumns, message, columns));
  }

  const firstError = findings.find(({ state }) => state === "error");
  if (json) {
    const checks = findings.map(({ subject, state, message }) => ({ subject, state, message }));
    const report = { ok: firstError === undefined, checks };
    await terminal.printLines([redactTokens(JSON.stringify(report))]);
  }
  return firstError?.exitCode ?? exitCodes.done.code;
}

const stateColumns = "warning  ".length;
const termColumns = stateColumns + "plantstore".length;

function toTerm({ subject, state }: Finding, { success: ok, warning, error }: Palette): string {
  const paint = { ok, warning, error, none: String }[state];
  return paint(state) + " ".repeat(stateColumns - state.length) + subject;
}

async function* check(run: Run): AsyncGenerator<Finding, void, undefined> {
  const { flags, io } = run;
  const inspection = await import("./inspection.ts");
  const { inspectServer } = await import("../token-check.ts");
  const version = `${packageVersion} (${interfaceName})`;
  yield { subject: "plantstore", state: "ok", message: version };
  const node = `${io.nodeVersion} on ${toPlatformName(io)}`;
  yield { subject: "node", state: "ok", message: node };
  yield (await inspection.inspectDirectory("config", io)).finding;
  yield (await inspection.inspectDirectory("data", io)).finding;
  const reports = inspection.listSettings(flags, io);
  const problems = new Set(reports.flatMap(({ problem }) => problem ?? []));
  for (const message of problems) {
    yield { subject: "settings", state: "error", message, exitCode: exitCodes.usage.code };
  }
  if (problems.size === 0) {
    const message = 'all valid; "plantstore status --all" shows them';
    yield { subject: "settings", state: "ok", message };
  }
  const exposure = await findKeyExposure(io);
  if (exposure !== undefined) yield { subject: "settings", state: "warning", message: exposure };
  for (const name of findUnknownVariables(io)) {
    const message = `${name} is unknown and has no effect: check its spelling`;
    yield { subject: "variables", state: "warning", message };
  }
  if (reports.some(({ flag, problem }) => flag === "--store" && problem === undefined)) {
    yield* await inspection.inspectStore(readOptions(storeOption, flags, io).store, run);
  }
  const target = inspection.readTarget(flags, io);
  if (target !== undefined) {
    yield* await interruptible(io, async (signal) => {
      const inspected = await inspectServer(target, run, signal);
      return inspection.checkInspectedServer(inspected, io, signal);
    });
  }
}

/** Describes a TLS key that other users can read. A missing or invalid setting is reported with the settings. */
async function findKeyExposure(io: Io): Promise<string | undefined> {
  const path = io.env[serveOptions.tlsKey.env];
  if (!path) return undefined;
  const { findExposure } = await import("../permissions.ts");
  return findExposure({ path, privacy: "key" }, io);
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
