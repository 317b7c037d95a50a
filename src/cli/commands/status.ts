/** The command `status`: what commands use, where it comes from, and whether it works. */
import type { Stats } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { toTokenPrefix } from "../../auth/token.ts";
import { checkReadiness, checkToken, type TokenCheck } from "../../client/probe.ts";
import { attempt } from "../../core/attempt.ts";
import { escapeUnprintable, redactTokens } from "../../core/messages.ts";
import { useAndClose } from "../../core/store.ts";
import { parseStoreUrl } from "../../store/store-url.ts";
import {
  adviseCommand,
  CommandError,
  exitCodes,
  interruptible,
  targetExitCodes,
  toReadError,
} from "../command-error.ts";
import { findServerProblem, toCheckError, explainFailure, toSentence } from "../command-failure.ts";
import type { CommandBody, Run } from "../command.ts";
import { locateDirectory, readSavedSettings } from "../config/saved-settings.ts";
import { listSavedOrigins, readCredential } from "../config/saved-tokens.ts";
import { findToken } from "../config/token-source.ts";
import { type Io, writeText } from "../io.ts";
import { findUnknownVariables, settings, statusOptions } from "../options/local.ts";
import { requestOptions, toLongFlag } from "../options/remote.ts";
import { readOption, readOptions, type Setting } from "../options/values.ts";
import { describePlace, findPlace } from "../place.ts";
import { findExposure, listStorePaths } from "../permissions.ts";
import { describePlaintext, findAuthorities, selectPost } from "../server-access.ts";
import { assertStorePath, assertWritable, toStoreCommand } from "../store-access.ts";
import type { Palette } from "../terminal/terminal.ts";
import { interfaceName, packageVersion, toPlatformName } from "../version.ts";
import { isActive } from "./token.ts";

export const statusCommand: CommandBody = {
  description: `Shows the server, the token and the store that commands use, the directories,
and each setting that is not at its default. Each value has its source: a flag, an
environment variable, a file, or the default.

Checks that each of them works, and says how to fix a problem. Creates no plant,
changes nothing, and prints no secrets.`,
  options: statusOptions,
  examples: [
    "plantstore status",
    "plantstore status --all",
    "plantstore status --url https://plants.example.org/v1",
    "plantstore status --store sqlite:/var/lib/plantstore/plants.db",
    `plantstore status --json | jq '.checks[] | select(.state == "error")'`,
  ],
  environment: [["PLANTSTORE_*", "Every variable of the other commands"]],
  exitCodes: targetExitCodes,
  exitCodesNote: "The first error decides, with the code of a command that meets it.",
  tokenAdvice: "set PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE",
  run: printStatus,
};

interface Finding {
  /** `none`: nothing to check, and nothing is needed; `warning`: works, but needs attention; `error`: does not work. */
  readonly state: "ok" | "none" | "warning" | "error";
  /** One line: the value with its source, and how to fix a problem. Without secrets. */
  readonly message: string;
  /** What to do next, such as a command on a line of its own. */
  readonly hints?: readonly string[];
  /** For errors: that of a command that meets it. */
  readonly exitCode?: number;
  /** What programs read, as members of the whole report. */
  readonly facts?: object;
}

/** A line of the report. Printed as JSON, without the exit code. */
interface Check extends Finding {
  /** `server`, `token`, …, the flag of a setting, or an unknown variable. */
  readonly subject: string;
}

/** Prints each line as soon as it is known. @returns the exit code of the first error */
async function printStatus(run: Run): Promise<number> {
  const { flags, io, terminal } = run;
  const { stdout } = io;
  // An invalid flag is wrong usage. Any other invalid setting is part of the report.
  const given = Object.entries(statusOptions).filter(([name]) => flags[name] !== undefined);
  const { json } = readOptions(Object.fromEntries(given), flags, io);
  const palette = await terminal.loadPalette(stdout);
  const checks: Check[] = [];
  for await (const check of examine(run)) {
    checks.push(check);
    if (json) continue;
    const lines = [check.message, ...(check.hints ?? [])].map((line, index) => {
      const term = index === 0 ? toTerm(check, palette) : " ".repeat(stateColumns + subjectColumns);
      return `${term}  ${escapeUnprintable(redactTokens(line))}\n`;
    });
    await writeText(stdout, lines.join(""));
  }
  const firstError = checks.find(({ state }) => state === "error");
  if (json) {
    const shown = checks.map(({ subject, state, message, hints }) => ({
      subject,
      state,
      message,
      hints: hints?.length ? hints : undefined,
    }));
    const facts = Object.assign({}, ...checks.map((check) => check.facts)) as object;
    const report = { ok: firstError === undefined, ...facts, checks: shown };
    await terminal.printLines([redactTokens(JSON.stringify(report))]);
  }
  return firstError?.exitCode ?? exitCodes.done.code;
}

const stateColumns = "warning  ".length;
/** Longer flags and variables move their message to the right. */
const subjectColumns = "plantstore".length;

function toTerm({ subject, state }: Check, { success: ok, warning, error }: Palette): string {
  const paint = { ok, warning, error, none: String }[state];
  return paint(state) + " ".repeat(stateColumns - state.length) + subject.padEnd(subjectColumns);
}

async function* examine(run: Run): AsyncGenerator<Check, void, undefined> {
  const { io } = run;
  const version = `${packageVersion} (${interfaceName}), Node.js ${io.nodeVersion} on ${toPlatformName(io)}`;
  yield { subject: "plantstore", state: "ok", message: version };
  const findings = await interruptible(io, (signal) => checkServer(run, signal)).catch(
    (error: unknown) => ({ server: toErrorFinding(run)(error) }),
  );
  for (const [subject, finding] of Object.entries(findings)) yield { subject, ...finding };
  yield { subject: "store", ...(await checkStore(run).catch(toErrorFinding(run))) };
  yield { subject: "plants", ...checkPlace(run) };
  yield { subject: "config", ...(await checkDirectory("config", io).catch(toErrorFinding(run))) };
  yield { subject: "data", ...(await checkDirectory("data", io).catch(toErrorFinding(run))) };
  yield* listSettings(run);
  for (const [subject, message] of findUnknownVariables(io.env)) {
    yield { subject, state: "warning", message };
  }
}

/** The words of every other command for an error. @throws the error itself, if it is a bug or a signal */
function toErrorFinding(run: Run): (error: unknown) => Finding {
  return (error) => toFinding(explainFailure(error, run));
}

function toFinding(problem: CommandError): Finding {
  const { exitCode, hints } = problem;
  return { state: "error", message: toSentence(problem), hints, exitCode };
}

function describeSetting(value: string, source: string): string {
  return `${value} (${source === "the default" ? "default" : `from ${source}`})`;
}

/** The server with its readiness, and the token, by subject. Sends the token only to a plant store. */
async function checkServer(
  run: Run,
  signal: AbortSignal,
): Promise<Readonly<Record<string, Finding>>> {
  const { flags, io, terminal } = run;
  const { value: url = "", source } = readOption(requestOptions.url, flags["url"], io);
  const { timeoutMs, ...options } = readOptions(requestOptions, flags, io);
  const context = { url, source: run };
  const facts = { url, urlSource: source };
  const ca = await findAuthorities(options, io, signal);
  const post = await selectPost(options, terminal);
  const request = { baseUrl: url, ca, timeoutMs, signal, post };
  const send: TokenSender = (token) =>
    terminal.showWhile(
      () => `waiting for ${url}`,
      () => checkToken({ ...request, token }),
    );
  const found = await send().then(
    (check) => findServerProblem(check, context) ?? check,
    (error: unknown) => explainFailure(error, run),
  );
  if (found instanceof CommandError) {
    const token = await checkOwnToken(url, undefined, run, signal);
    return { server: { ...toFinding(found), facts }, token };
  }
  const shown = describeSetting(url, source);
  const readiness = await checkReadiness(request);
  const server: Finding =
    readiness.state === "notReady"
      ? toFinding(toCheckError({ ok: false, error: readiness.error }, context))
      : found.isAccepted
        ? { state: "warning", message: `${shown}: accepts plants without a token: tell its owner` }
        : { state: "ok", message: shown };
  const token = await checkOwnToken(url, send, run, signal);
  return { server: { ...server, facts }, token };
}

type TokenSender = (token?: string) => Promise<TokenCheck>;

/** @param send undefined if no plant store is at the URL */
async function checkOwnToken(
  url: string,
  send: TokenSender | undefined,
  run: Run,
  signal: AbortSignal,
): Promise<Finding> {
  try {
    const found = await findToken(undefined, url, run.io, signal);
    const { token, source, isSaved } = found;
    const prefix = toTokenPrefix(token);
    const shownSource = isSaved ? "saved for this URL" : `from ${source}`;
    const name = prefix === "" ? shownSource : `${prefix}… ${shownSource}`;
    const facts = { tokenSource: source, tokenPrefix: prefix || undefined };
    const check = await send?.(token);
    if (check === undefined) return { state: "none", message: `${name}: not checked`, facts };
    if (!check.isAccepted) {
      const context = { url, source: run, token: found };
      return { ...toFinding(toCheckError(check.response, context)), facts };
    }
    const plaintext = describePlaintext(url);
    const rights = `${check.mayCreate ? "and may" : "but may not"} create plants`;
    const risk = plaintext === undefined ? "" : `; ${plaintext}`;
    const message = `${name}: accepted, ${rights}${risk}`;
    return { state: plaintext ? "warning" : "ok", message, facts };
  } catch (error) {
    const problem = explainFailure(error, run);
    // Without a server on this machine, the server is the only problem: it saves a token.
    if (problem.exit !== "unavailable") return toFinding(problem);
    return { state: "none", message: "none is saved for this URL" };
  }
}

/** Opens the store, which `list` and others read. `plantstore verify` searches it for damage. */
async function checkStore(run: Run): Promise<Finding> {
  const { flags, io, terminal } = run;
  const { value: url = "", source } = readOption(statusOptions.store, flags["store"], io);
  const location = parseStoreUrl(url);
  const { url: shownUrl, path, kind } = location;
  const facts = { store: shownUrl, storeSource: source };
  const shown = describeSetting(shownUrl, source);
  if (kind === "memory") {
    return { state: "ok", message: `${shown}: exists only inside its server`, facts };
  }
  const isEmpty = (stats: Stats): boolean => stats.isFile() && stats.size === 0;
  // Opening it reports any other problem.
  if (path !== undefined && (await stat(path).then(isEmpty, isNoEntry))) {
    assertStorePath(url, io);
    await location.loadProvider?.();
    const hints = adviseCommand("Create it", toStoreCommand("serve", run));
    return { state: "none", message: `${shown}: does not exist yet`, hints, facts };
  }
  const work = async () =>
    useAndClose(await parseStoreUrl(url).openReader(), (store) => store.listTokens());
  const tokens = await terminal.showWhile(() => `opening ${shownUrl}`, work);
  const count = tokens.filter((token) => isActive(token, Date.now())).length;
  const guarded = await Promise.all(
    (await listStorePaths(url, io)).map((each) => findExposure(each, io)),
  );
  const exposure = guarded.find((each) => each !== undefined);
  const tally = `${count} active token${count === 1 ? "" : "s"}`;
  const [sentence = tally, ...hints] = exposure ?? [];
  const state = exposure === undefined ? "ok" : "warning";
  try {
    assertWritable(url);
    return { state, message: `${shown}: ${sentence}`, hints, facts };
  } catch (error) {
    // A command that only reads works.
    return { ...toErrorFinding(run)(error), state: "warning", facts };
  }
}

/** Where commands for plants act without a flag: not always at the server of `create`, nor in the store of this machine. */
function checkPlace(run: Run): Finding {
  try {
    const place = findPlace({ flags: {}, io: run.io });
    return { state: "ok", message: `list, get, export and delete use ${describePlace(place)}` };
  } catch (error) {
    // Other commands work, and these with a flag.
    return { ...toErrorFinding(run)(error), state: "warning" };
  }
}

/** The directory of saved settings and tokens, or that of the default store. */
async function checkDirectory(kind: "config" | "data", io: Io): Promise<Finding> {
  const found = attempt(() => locateDirectory(kind, io));
  // With an explicit token and store, no directory is needed.
  if (found === undefined) {
    return { state: "warning", message: "no home directory, so nothing is saved" };
  }
  const { path, source } = found;
  const facts = { [`${kind}Directory`]: path };
  const shown = describeSetting(path, source);
  const stats = await stat(path).catch((error: unknown) => {
    if (!isNoEntry(error)) throw toReadError(path, error);
    return undefined;
  });
  if (stats === undefined) {
    return { state: "none", message: `${shown}: does not exist yet`, facts };
  }
  if (!stats.isDirectory()) {
    const message = `${shown} is not a directory: move it, or use another directory`;
    return { state: "error", message, exitCode: exitCodes.usage.code, facts };
  }
  const problem = await access(path, constants.W_OK).then(
    () => findExposure({ path, privacy: "private" }, io),
    () => ["read-only: change its permissions to save anything"] as const,
  );
  const saved = kind === "config" ? await describeSaved(path, io) : "";
  if (problem === undefined) return { state: "ok", message: shown + saved, facts };
  const [sentence, ...hints] = problem;
  return { state: "warning", message: `${shown}: ${sentence}`, hints, facts };
}

async function describeSaved(directory: string, io: Io): Promise<string> {
  readSavedSettings(directory);
  const origins = await listSavedOrigins(directory);
  for (const origin of origins) readCredential(directory, origin, io);
  return origins.length === 0 ? "" : `: tokens for ${origins.join(", ")}`;
}

function isNoEntry(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Lists settings that are invalid or not at their default; with `--all`, every one. */
function* listSettings(run: Run): Generator<Check, void, undefined> {
  const { flags, io } = run;
  const { showsAll } = readOptions({ showsAll: statusOptions.showsAll }, flags, io);
  const values: object[] = [];
  for (const [name, option] of Object.entries(settings)) {
    const subject = toLongFlag(option.flags);
    // Those have lines of their own.
    if (subject === "--url" || subject === "--store") continue;
    let setting: Setting<unknown>;
    try {
      setting = readOption(option, flags[name], io);
    } catch (error) {
      yield { subject, ...toErrorFinding(run)(error) };
      continue;
    }
    const { value, source } = setting;
    const isDefault = source === "the default";
    if (isDefault && !showsAll) continue;
    const shown = (isDefault && option.shownDefault) || option.type.format(value);
    values.push({ flag: subject, value: shown, source });
    const message = describeSetting(shown, source);
    yield { subject, state: "ok", message, facts: { settings: values } };
  }
}
