/** Examines settings, directories, the store, the server and the token, for `status` and `doctor`. Changes nothing. */
import type { Stats } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { toTokenPrefix } from "../../auth/token.ts";
import { checkReadiness } from "../../client/probe.ts";
import { useAndClose } from "../../core/store.ts";
import { toSystemReason } from "../../core/messages.ts";
import { openStoreReader } from "../../store/open-store.ts";
import { parseStoreUrl } from "../../store/store-url.ts";
import type { Run } from "../command.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { toExpectedFailure } from "../command-failure.ts";
import { isMissing, readSavedSettings } from "../config/saved-settings.ts";
import { listSavedOrigins, readSavedToken } from "../config/saved-tokens.ts";
import { type FoundDirectory, locateDirectory } from "../config/directories.ts";
import type { Io } from "../io.ts";
import { type Option, requestOptions, toLongFlag } from "../options/remote.ts";
import { findExposure, listStorePaths } from "../permissions.ts";
import { describePlaintext, findAuthorities } from "../server-access.ts";
import { type Flags, readOption, readOptions } from "../options/values.ts";
import { settings } from "../options/local.ts";
import { type CheckFailure, type ServerInspection, toTokenExitCode } from "../token-check.ts";
import { isActive } from "./token.ts";

/** The subject of a check. */
type Subject =
  | "plantstore"
  | "node"
  | "config"
  | "data"
  | "settings"
  | "variables"
  | "sqlite"
  | "store"
  | "server"
  | "token"
  | "clock";

/** The result of a check. Printed as JSON, without the exit code. */
export interface Finding {
  readonly subject: Subject;
  /**
   * - `ok`: no problem
   * - `none`: nothing to check, and nothing is needed
   * - `warning`: works, but needs attention
   * - `error`: does not work
   */
  readonly state: "ok" | "none" | "warning" | "error";
  /** One line: the state, and how to fix a problem. Without secrets. */
  readonly message: string;
  /** For errors: the exit code of a command that depends on this check. */
  readonly exitCode?: number;
}

/** @throws the error itself, if it is a bug */
function toErrorFinding(subject: Subject, error: unknown): Finding {
  return { subject, state: "error", ...toExpectedFailure(error) };
}

/** A setting, which is printed as JSON. */
export interface SettingReport {
  /** Such as `--port`. */
  readonly flag: string;
  /** Its environment variable. */
  readonly variable: string;
  /** Without secrets; absent if it is invalid. */
  readonly value?: string | undefined;
  /** The flag, the variable, the file of saved settings, or `the default`. Absent if it is invalid. */
  readonly source?: string;
  /** Why it is invalid, or has no default; and how to fix it. */
  readonly problem?: string | undefined;
}

/** Lists the settings of all commands, from the table of options. */
export function listSettings(flags: Flags, io: Io): readonly SettingReport[] {
  return Object.entries(settings).map(([name, option]) => describeSetting(name, option, flags, io));
}

function describeSetting(
  name: string,
  option: Option<unknown>,
  given: Flags,
  io: Io,
): SettingReport {
  const { flags, env: variable = "", shownDefault, saved, type, default: fallback } = option;
  const flag = toLongFlag(flags);
  try {
    const { value, source } = readOption(option, given[name], io);
    // A computed default is more useful than its description.
    const isDescribed = source === "the default" && !saved && typeof fallback !== "function";
    const shown = (isDescribed && shownDefault) || type.format(value);
    return { flag, variable, value: shown, source };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const isDefault = !saved && given[name] === undefined && !io.env[variable];
    return { flag, variable, ...(isDefault && { source: "the default" }), problem: error.message };
  }
}

/** Reads how to connect to the server; undefined if one of the settings is invalid. */
export function readTarget(flags: Flags, io: Io): ServerInspection["target"] | undefined {
  try {
    return readOptions(requestOptions, flags, io);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return undefined;
  }
}

/** A directory, or why it is unknown. Printed as JSON. */
export interface DirectoryReport {
  readonly path?: string;
  readonly source: string;
  readonly exists?: boolean;
  /** Why it is unknown, or cannot be read. */
  readonly problem?: string | undefined;
}

/** Examines a directory: `config` with the saved settings and tokens in it, or `data` with the default store. */
export async function inspectDirectory(
  subject: "config" | "data",
  io: Io,
): Promise<{ readonly report: DirectoryReport; readonly finding: Finding }> {
  let found: FoundDirectory;
  try {
    found = locateDirectory(subject, io);
  } catch (error) {
    // Only a warning: with an explicit token and store this directory is not needed.
    const finding: Finding = { ...toErrorFinding(subject, error), state: "warning" };
    return { report: { source: "the default", problem: finding.message }, finding };
  }
  const { path } = found;
  let stats: Stats | undefined;
  try {
    stats = await stat(path);
    const finding = await checkDirectory(subject, found, stats, io);
    if (subject === "config" && finding.state !== "error") {
      readSavedSettings(path);
      for (const origin of await listSavedOrigins(path, io)) readSavedToken(path, origin, io);
    }
    return { report: { ...found, exists: true, problem: await findReadProblem(path) }, finding };
  } catch (error) {
    const finding =
      stats === undefined
        ? await describeAbsence(subject, found, error)
        : toErrorFinding(subject, error);
    const exists = stats !== undefined || !isMissing(error);
    return { report: { ...found, exists, problem: await findReadProblem(path) }, finding };
  }
}

const creators = { config: '"plantstore login" or "plantstore serve"', data: '"plantstore serve"' };

/** @param error of the system */
async function describeAbsence(
  subject: "config" | "data",
  { path, source }: FoundDirectory,
  error: unknown,
): Promise<Finding> {
  const shown = `${path} (from ${source})`;
  if (!isMissing(error)) {
    const message = `${shown} cannot be read (${toSystemReason(error)}): change its permissions`;
    return { subject, state: "error", message, exitCode: exitCodes.usage.code };
  }
  const problem = await findParentProblem(path);
  if (problem === undefined) {
    const message = `${path} does not exist yet: ${creators[subject]} creates it`;
    return { subject, state: "none", message };
  }
  const message = `${shown} cannot be created, because ${problem}: use another directory to save anything`;
  return { subject, state: "warning", message };
}

async function checkDirectory(
  subject: "config" | "data",
  { path, source }: FoundDirectory,
  stats: Stats,
  io: Io,
): Promise<Finding> {
  const shown = `${path} (from ${source})`;
  if (!stats.isDirectory()) {
    const message = `${shown} is not a directory: move it, or use another directory`;
    return { subject, state: "error", message, exitCode: exitCodes.usage.code };
  }
  const problem = (await isWritable(path))
    ? await findExposure({ path, privacy: "private" }, io)
    : `${shown} is read-only: change its permissions to save anything`;
  if (problem !== undefined) return { subject, state: "warning", message: problem };
  const mode = (stats.mode & 0o7777).toString(8);
  const privacy = io.platform === "win32" ? "" : ` and private (mode ${mode})`;
  return { subject, state: "ok", message: `${path} is writable${privacy}` };
}

/** Finds why nothing can be created in the nearest existing directory above a path. */
async function findParentProblem(path: string): Promise<string | undefined> {
  const parent = dirname(path);
  const stats = await stat(parent).catch(() => undefined);
  if (stats === undefined && parent !== path) return findParentProblem(parent);
  if (stats?.isDirectory() !== true) return `${parent} is not a directory`;
  return (await isWritable(parent)) ? undefined : `${parent} is read-only`;
}

/** Finds why this user cannot read a file or a directory; undefined if it is missing. */
async function findReadProblem(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return isMissing(error) ? undefined : toSystemReason(error);
  }
}

/** Finds why this user cannot read a store; undefined if it is missing or not a file. @param url a valid store URL */
export async function findStoreProblem(url: string): Promise<string | undefined> {
  const { path } = parseStoreUrl(url);
  return path === undefined ? undefined : findReadProblem(path);
}

/** Checks whether this user can create files in a directory, or change a file. */
async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Checks whether a store exists. `serve` creates the store in a file that is missing or empty.
 *
 * @param url a valid store URL
 * @returns undefined for a store that is not a file
 */
export async function storeExists(url: string): Promise<boolean | undefined> {
  const { path } = parseStoreUrl(url);
  if (path === undefined) return undefined;
  try {
    const stats = await stat(path);
    return !stats.isFile() || stats.size > 0;
  } catch (error) {
    return !isMissing(error);
  }
}

/**
 * Checks that a store can be opened and is not damaged, and that SQLite can be loaded, which a store needs before it exists.
 *
 * @param url a valid store URL
 */
export async function inspectStore(
  url: string,
  run: Pick<Run, "io" | "terminal">,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  try {
    await parseStoreUrl(url).loadProvider?.();
  } catch (error) {
    findings.push(toErrorFinding("sqlite", error));
  }
  const finding = await checkStore(url, run).catch((error: unknown) =>
    toErrorFinding("store", error),
  );
  return [...findings, finding];
}

async function checkStore(
  url: string,
  { io, terminal }: Pick<Run, "io" | "terminal">,
): Promise<Finding> {
  const subject = "store";
  const location = parseStoreUrl(url);
  const { place, isVolatile } = location;
  if (isVolatile) {
    return { subject, state: "ok", message: `${place} exists only inside its server` };
  }
  const path = location.path === undefined ? undefined : resolve(location.path);
  if (path !== undefined && (await storeExists(url)) === false) {
    const problem = await findParentProblem(path);
    if (problem === undefined) {
      const message = `${place} does not exist yet: "plantstore serve" creates it`;
      return { subject, state: "none", message };
    }
    const message = `${place} does not exist and cannot be created, because ${problem}: choose another path`;
    return { subject, state: "warning", message };
  }
  const count = await terminal.showWhile(
    () => `checking ${place}`,
    () => countTokens(url),
  );
  for (const guarded of await listStorePaths(url, io)) {
    const exposure = await findExposure(guarded, io);
    if (exposure !== undefined) return { subject, state: "warning", message: exposure };
  }
  const message = `${place} is sound, with ${count} active token${count === 1 ? "" : "s"}`;
  if (path === undefined || ((await isWritable(path)) && (await isWritable(dirname(path))))) {
    return { subject, state: "ok", message };
  }
  return {
    subject,
    state: "warning",
    message: `${message}, but is read-only: to serve it, change the permissions of the file and its directory`,
  };
}

/** Checks a store for damage. @returns the number of its active tokens */
async function countTokens(url: string): Promise<number> {
  return useAndClose(await openStoreReader(url), async (store) => {
    await store.checkSoundness();
    const tokens = await store.listTokens();
    return tokens.filter((token) => isActive(token, Date.now())).length;
  });
}

/** Describes the server, its readiness, the token and the clock. @throws the signal's reason, once it is aborted */
export async function checkInspectedServer(
  { target, found, check, failure }: ServerInspection,
  io: Io,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { url: baseUrl, timeoutMs } = target;
  const isReachable = "isAccepted" in check;
  const isRejected = failure?.exitCode === exitCodes.tokenRejected.code && isReachable;
  const clock = describeClock(Date.now(), isReachable ? check.serverTimeMs : undefined);
  const token: Finding =
    "token" in found
      ? describeToken(found, isRejected || failure === undefined ? failure : "unchecked")
      : describeMissingToken(found, isReachable);
  if (!isReachable) return [{ subject: "server", state: "error", ...check }, token, clock];
  const ca = await findAuthorities(target, io);
  const readiness = await checkReadiness({ baseUrl, ca, timeoutMs, signal });
  const problem =
    failure !== undefined && !isRejected
      ? failure
      : readiness.state === "notReady"
        ? { ...readiness.error, exitCode: toTokenExitCode(readiness.error.error) }
        : undefined;
  return [describeServer(baseUrl, problem, "token" in found, check.isAccepted), token, clock];
}

function describeServer(
  baseUrl: string,
  failure: CheckFailure | undefined,
  hasToken: boolean,
  isAccepted: boolean,
): Finding {
  const subject = "server";
  if (failure !== undefined) {
    const { exitCode, error, message: reason } = failure;
    const isUnavailable = exitCode === exitCodes.unavailable.code;
    const problem = isUnavailable ? "cannot accept plants now" : "is not the URL of a plant store";
    const message = `${baseUrl} ${problem}: error ${error}: ${reason}`;
    return { subject, state: "error", message, exitCode };
  }
  if (isAccepted && !hasToken) {
    const message = `${baseUrl} accepts plants without a token: tell its owner`;
    return { subject, state: "warning", message };
  }
  const risk = hasToken ? describePlaintext(baseUrl) : undefined;
  if (risk !== undefined) return { subject, state: "warning", message: risk };
  return { subject, state: "ok", message: `${baseUrl} is a plant store` };
}

/** Without a server on this machine, the server is the only problem: it saves a token. */
function describeMissingToken(failure: CheckFailure, isReachable: boolean): Finding {
  const subject = "token";
  if (isReachable || failure.exitCode !== exitCodes.unavailable.code) {
    return { subject, state: "error", ...failure };
  }
  return { subject, state: "none", message: "none is saved for this URL" };
}

function describeToken(
  { token, source }: { readonly token: string; readonly source: string },
  failure: CheckFailure | "unchecked" | undefined,
): Finding {
  const subject = "token";
  if (failure === "unchecked") {
    const message = "not checked, because the server check failed";
    return { subject, state: "none", message };
  }
  if (failure === undefined) return { subject, state: "ok", message: "accepted by the server" };
  const prefix = toTokenPrefix(token);
  const name = prefix === "" ? `from ${source}` : `${prefix}… from ${source}`;
  const message = `${name}: rejected, error ${failure.error}: ${failure.message}`;
  return { subject, state: "error", message, exitCode: failure.exitCode };
}

/** With a larger difference, tokens that are issued here expire at the wrong time. */
const maxClockDifferenceMs = 60_000;

function describeClock(nowMs: number, serverTimeMs: number | undefined): Finding {
  const subject = "clock";
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  if (serverTimeMs === undefined) {
    return { subject, state: "none", message: `${now}; the server's time is unknown` };
  }
  const differenceMs = Math.abs(nowMs - serverTimeMs);
  if (differenceMs <= maxClockDifferenceMs) {
    return { subject, state: "ok", message: `${now}, the same as the server's` };
  }
  const minutes = Math.round(differenceMs / 60_000);
  const difference = `${minutes} min ${nowMs < serverTimeMs ? "behind" : "ahead of"} the server's`;
  const message = `${now}, ${difference}: set it, or tokens that are issued here expire at the wrong time`;
  return { subject, state: "warning", message };
}
