/** `plantstore status`: shows the server, the token, the store, directories and settings, with their sources. */
import { existsSync } from "node:fs";
import { toTokenPrefix } from "../../../auth/token-format.ts";
import type { TokenCheck } from "../../../client/check-token.ts";
import { toEndpoint } from "../../../core/base-url.ts";
import { redactTokens } from "../../../core/quote.ts";
import { parseStoreUrl } from "../../../store/store-url.ts";
import type { Run } from "../../command.ts";
import { CommandError, interruptible } from "../../command-error.ts";
import { findCredentialFile, listSavedOrigins } from "../../config/credentials.ts";
import { findConfigDirectoryIfAny, locateDirectory } from "../../config/directories.ts";
import { exitCodes } from "../../exit-codes.ts";
import { type Io, writeText } from "../../io.ts";
import { requestOptions, statusReportOptions, urlOption } from "../../options.ts";
import { storeOption } from "../../store-options.ts";
import { warnAboutPlaintext } from "../../server-access.ts";
import { readOptions, type Values } from "../../settings.ts";
import { type CheckFailure, checkServer, toTokenExitCode } from "../../token-check.ts";
import { describeSetting, listSettings, readTarget } from "./setting-report.ts";
import {
  type Place,
  type ServerReport,
  type StatusReport,
  toJson,
  toText,
} from "./status-report.ts";

/**
 * Prints the report, and checks the server and the token.
 *
 * @returns the exit code: 2 if a setting is invalid, 0 if the token works, otherwise that of a create with it
 * @throws UsageError for an invalid flag; OutputError
 */
export async function status(run: Run): Promise<number> {
  const { flags, io, terminal } = run;
  const { stdout } = io;
  const { json, showsAll } = readOptions(statusReportOptions, flags, io);
  // An invalid flag is wrong usage. Any other invalid setting is part of the report.
  const given = Object.entries(requestOptions).filter(([name]) => flags[name] !== undefined);
  readOptions(Object.fromEntries(given), flags, io);
  const settings = listSettings(flags, io);
  const invalid = settings.find(({ problem, source }) => problem && source === undefined);
  const target = readTarget(settings, flags, io);
  const { exitCode, ...server } =
    target === undefined
      ? { works: false, problem: invalid?.problem, exitCode: exitCodes.usage.code }
      : await interruptible(io, (signal) => examineServer(target, run, signal));
  const store = describeSetting("store", storeOption.store, flags, io);
  const report: StatusReport = {
    url: describeSetting("url", urlOption.url, flags, io),
    server,
    store,
    storeExists: findStoreFile(store.value),
    directories: {
      config: findPlace("config", io),
      data: findPlace("data", io),
    },
    settings: settings.filter(({ source }) => showsAll === true || source !== "the default"),
  };
  if (json) {
    await terminal.printLines([redactTokens(toJson(report))]);
  } else {
    const width = stdout.isTTY ? stdout.columns : undefined;
    await writeText(stdout, redactTokens(toText(report, width)));
  }
  return invalid === undefined ? exitCode : exitCodes.usage.code;
}

/** Finds out whether a plant store responds and accepts the token. @throws the signal's reason, once it is aborted */
async function examineServer(
  target: Values<typeof requestOptions>,
  { io, terminal }: Run,
  signal: AbortSignal,
): Promise<ServerReport & { readonly exitCode: number }> {
  const { found, check } = await checkServer(target, { io, terminal }, signal);
  const hasToken = "token" in found;
  const isReachable = "isAccepted" in check;
  if (hasToken) await warnAboutPlaintext(target.url, terminal);
  const failure = hasToken ? toFailure(check) : toMissing(found);
  return {
    reachable: isReachable,
    serverProblem: isReachable ? undefined : check.message,
    ...(hasToken && {
      tokenSource: found.source,
      tokenPrefix: toTokenPrefix(found.token) || undefined,
    }),
    ...(await describeSaved(toEndpoint(target.url).origin, io)),
    works: failure === undefined,
    error: failure?.error,
    problem: failure?.message,
    exitCode: failure?.exitCode ?? exitCodes.done.code,
  };
}

/** The message about a missing server is next to the server. */
function toMissing(found: CheckFailure): CheckFailure {
  return found.exitCode === exitCodes.unavailable.code
    ? { ...found, message: 'none is saved: the first "plantstore serve" saves one' }
    : found;
}

function toFailure(check: TokenCheck | CheckFailure): CheckFailure | undefined {
  if (!("isAccepted" in check)) return check;
  if (check.isAccepted) return undefined;
  return { ...check.error, exitCode: toTokenExitCode(check.error.error) };
}

async function describeSaved(origin: string, io: Io): Promise<Partial<ServerReport>> {
  const directory = findConfigDirectoryIfAny(io);
  if (directory === undefined) return {};
  const file = await findCredentialFile(directory, origin, io);
  const origins = await listSavedOrigins(directory, io).catch(() => []);
  return {
    savedIn: file?.path,
    readableBy: file?.readers,
    otherOrigins: origins.filter((other) => other !== origin),
  };
}

function findStoreFile(url = ""): boolean | undefined {
  const path = url === "" ? undefined : parseStoreUrl(url).path;
  return path === undefined ? undefined : existsSync(path);
}

function findPlace(kind: "config" | "data", io: Io): Place {
  try {
    const place = locateDirectory(kind, io);
    return { ...place, exists: existsSync(place.path) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { source: "the default", problem: error.message };
  }
}
