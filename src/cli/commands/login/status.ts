/** `plantstore status`: shows the current server and token, their sources, and whether they work. */
import { toTokenPrefix } from "../../../auth/token.ts";
import { type CheckTokenOptions, toCheckRequest } from "../../../client/check-token.ts";
import { toEndpoint } from "../../../core/base-url.ts";
import { escapeUnprintable, redactTokens } from "../../../core/quote.ts";
import type { Run } from "../../command.ts";
import { interruptible } from "../../command-error.ts";
import {
  type FileReaders,
  findCredentialFile,
  listSavedOrigins,
} from "../../config/credentials.ts";
import { findConfigDirectoryIfAny } from "../../config/directories.ts";
import { findToken, type FoundToken } from "../../config/token-source.ts";
import { exitCodes } from "../../exit-codes.ts";
import { toFailure } from "../../failure.ts";
import { type Io, writeText } from "../../io.ts";
import { statusOptions } from "../../options.ts";
import { readAuthorities, warnAboutPlaintext } from "../../server-access.ts";
import { printCurlCommand } from "../../request-trace.ts";
import { readOption, readOptions } from "../../settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { checkTokenWithProgress, toTokenExitCode } from "../../token-check.ts";

/** The report, which is printed as JSON. */
interface StatusReport {
  readonly url: string;
  /** Such as `--url`, `PLANTSTORE_URL` or `the default`. */
  readonly urlSource: string;
  /** Absent without a token. */
  readonly tokenSource?: string | undefined;
  /** Absent for a token that plantstore did not issue. */
  readonly tokenPrefix?: string | undefined;
  /** The file of the token that is saved for this URL, used or not. */
  readonly savedIn?: string | undefined;
  /** Absent on Windows. */
  readonly readableBy?: FileReaders | undefined;
  /** Other plant stores with a saved token. */
  readonly otherOrigins?: readonly string[] | undefined;
  /** True if the plant store accepts the token. */
  readonly works: boolean;
  /** The number of the Error. */
  readonly error?: number | undefined;
  readonly problem?: string | undefined;
}

type Outcome = Pick<StatusReport, "works" | "error" | "problem"> & { readonly exitCode: number };

/**
 * Prints the report, and checks the token.
 *
 * @returns the exit code: 0 if the token works, otherwise that of a create with it
 * @throws CommandError for an invalid URL; OutputError
 */
export async function status({ flags, io, terminal }: Run): Promise<number> {
  return interruptible(io, async (signal) => {
    const options = readOptions(statusOptions, flags, io);
    const { url: baseUrl, timeoutMs, json, cacert } = options;
    if (options.printsCurl) {
      await printCurlCommand(toCheckRequest(baseUrl, undefined), terminal, cacert);
      return exitCodes.done.code;
    }
    const ca = await readAuthorities(cacert);
    const { source: urlSource } = readOption(statusOptions.url, flags["url"], io, flags);
    const found = await findToken(undefined, baseUrl, io, signal).catch(toOutcome);
    const isFound = "token" in found;
    if (isFound) await warnAboutPlaintext(baseUrl, terminal);
    const outcome = isFound
      ? await check({ baseUrl, ca, token: found.token, timeoutMs, signal }, terminal)
      : found;
    signal.throwIfAborted();
    const { exitCode, ...result } = outcome;
    const report: StatusReport = {
      url: baseUrl,
      urlSource,
      ...(isFound && describeToken(found)),
      ...(await describeSaved(toEndpoint(baseUrl).origin, io)),
      ...result,
    };
    if (json) await terminal.printLines([redactTokens(JSON.stringify(report))]);
    else await writeText(io.stdout, toLines(report));
    return exitCode;
  });
}

async function check(options: CheckTokenOptions, terminal: Terminal): Promise<Outcome> {
  try {
    const result = await checkTokenWithProgress(options, terminal);
    if (result.isAccepted) return { works: true, exitCode: exitCodes.done.code };
    const { error, message } = result.error;
    return { works: false, error, problem: message, exitCode: toTokenExitCode(error) };
  } catch (error) {
    return toOutcome(error);
  }
}

/** @throws the error itself, if it is a bug */
function toOutcome(error: unknown): Outcome {
  const { exitCode, message, stack } = toFailure(error);
  if (stack !== undefined) throw error;
  return { works: false, problem: message, exitCode };
}

function describeToken({ token, source }: FoundToken): Partial<StatusReport> {
  return { tokenSource: source, tokenPrefix: toTokenPrefix(token) || undefined };
}

async function describeSaved(origin: string, io: Io): Promise<Partial<StatusReport>> {
  const directory = findConfigDirectoryIfAny(io);
  if (directory === undefined) return {};
  const file = await findCredentialFile(directory, origin);
  const origins = await listSavedOrigins(directory).catch(() => []);
  return {
    savedIn: file?.path,
    readableBy: file?.readers,
    otherOrigins: origins.filter((other) => other !== origin),
  };
}

const describedReaders: Readonly<Record<FileReaders, string>> = {
  none: "only its owner",
  group: "others of its group",
  everyone: "everyone",
};

/** The report as lines, each with a heading. */
function toLines(report: StatusReport): string {
  const { url, urlSource, tokenSource, savedIn, readableBy, otherOrigins = [] } = report;
  const { works, error, problem = "unknown" } = report;
  const prefix = report.tokenPrefix === undefined ? "" : `${report.tokenPrefix}… `;
  const readers = readableBy === undefined ? "" : ` (${describedReaders[readableBy]} can read it)`;
  const shownSource = tokenSource === savedIn ? "the saved file" : tokenSource;
  const token = tokenSource === undefined ? problem : `${prefix}from ${shownSource}`;
  const reason = error === undefined ? problem : `error ${error}: ${problem}`;
  const failure = tokenSource === undefined ? "no usable token" : reason;
  const lines: readonly (readonly [heading: string, text: string])[] = [
    ["URL", `${url} (from ${urlSource})`],
    ["Token", token],
    ["Saved", savedIn === undefined ? "none for this URL" : savedIn + readers],
    ["Works", works ? "yes" : `no: ${failure}`],
    ...(otherOrigins.length > 0 ? [["Others", otherOrigins.join(", ")] as const] : []),
  ];
  return lines
    .map(([heading, text]) => `${heading.padEnd(6)}  ${escapeUnprintable(redactTokens(text))}\n`)
    .join("");
}
