/** Maps errors, and the Errors of a server, to messages and exit codes. A create without a failure does not load it. */
import type { Retry } from "../client/create-plant.ts";
import { checkReadiness, type TokenCheck } from "../client/probe.ts";
import {
  type ErrorResponse,
  NotAPlantStoreError,
  type Rejection,
  type StopCause,
  toReason,
  toWaitDetails,
  UnavailableError,
} from "../client/results.ts";
import { isLocalUrl, joinPath, toEndpoint } from "../core/base-url.ts";
import { type ContractOperationId, operations } from "../core/contract.ts";
import { errorTable, type NextStep, toNextStep } from "../core/errors.ts";
import { hasTooManyFiles, StoreError, type StoreErrorReason, tooManyFiles } from "../core/store.ts";
import { isError, quoteInput, toShellWord, toSystemReason } from "../core/messages.ts";
import {
  adviseCommand,
  CommandError,
  createDoubt,
  type ExitCodeName,
  exitCodes,
  type HintedMessage,
  Interruption,
} from "./command-error.ts";
import type { Run } from "./command.ts";
import { findConfigDirectory } from "./config/saved-settings.ts";
import { listSavedOrigins, type TokenOrigin } from "./config/saved-tokens.ts";
import { type Io, OutputError } from "./io.ts";
import { urlOption } from "./options/remote.ts";
import { readDefaultUrl, readOption, savingCommands } from "./options/values.ts";

const exitByStep: Readonly<Record<NextStep, ExitCodeName>> = {
  fix: "invalidPlant",
  token: "tokenRejected",
  conflict: "idTaken",
  absent: "noSuchPlant",
  server: "noPlantStore",
  later: "unavailable",
  resend: "unavailable",
  retry: "unavailable",
};

export function toExitCode(error: number): number {
  return exitCodes[exitByStep[toNextStep(error)]].code;
}

/** A store that cannot be opened or changed is like any other local file. A retry may succeed if it is busy or its disk is full. */
const exitByReason: Readonly<Record<StoreErrorReason, ExitCodeName>> = {
  unusable: "usage",
  readOnly: "usage",
  damaged: "invalidPlant",
  full: "unavailable",
  busy: "unavailable",
  closed: "internal",
  failed: "internal",
};

interface UrlSource extends Pick<Run, "flags" | "io"> {
  /** True if the command needs a server with all operations. */
  readonly needsAll?: true;
}

/** Returns the error of a command for any error. Unexpected errors are bugs and keep their stack trace. */
export function toCommandFailure(error: unknown): CommandError {
  const expected = toExpectedFailure(error);
  if (expected !== undefined) return expected;
  const message = "this is a bug in plantstore: please report it with these lines";
  const stack = (isError(error) && error.stack) || String(error);
  return new CommandError("internal", message, { cause: error, hints: stack.split("\n") });
}

/** @returns undefined for a bug */
function toExpectedFailure(cause: unknown): CommandError | undefined {
  if (isOfWorkingDirectory(cause)) {
    const message = "the working directory was deleted: change to another one";
    return new CommandError("usage", message, { cause });
  }
  if (cause instanceof CommandError) return cause;
  if (cause instanceof OutputError) {
    return cause.isClosed
      ? new CommandError("outputClosed", "the output was closed", { cause })
      : new CommandError("internal", `${cause.message}: ${toSystemReason(cause.cause)}`, { cause });
  }
  if (cause instanceof StoreError) {
    const { reason, message, command } = cause;
    const hints = command === undefined ? [] : adviseCommand("For example", command);
    return new CommandError(exitByReason[reason], message, { cause, hints });
  }
  return hasTooManyFiles(cause) ? new CommandError("internal", tooManyFiles, { cause }) : undefined;
}

/**
 * Returns the error of a command for a request without a response of a plant store; any other error does not change.
 *
 * @param doubt what it means if the store may have handled the request
 */
export function toCommandError(
  error: unknown,
  source: UrlSource,
  doubt?: string,
  hints: readonly string[] = [],
): unknown {
  if (error instanceof UnavailableError) {
    // A retry does not heal a failure of TLS, such as an untrusted certificate.
    const exit = error.reason === "insecure" ? "noPlantStore" : "unavailable";
    const [advice, ...start] = toAdvice(error, source, doubt);
    const message = advice === "" ? error.message : `${error.message}: ${advice}`;
    return new CommandError(exit, message, { cause: error, hints: [...start, ...hints] });
  }
  if (!(error instanceof NotAPlantStoreError)) return error;
  const advice = error.proxyLimit === undefined ? `: ${adviseUrl(error.url, source)}` : "";
  return new CommandError("noPlantStore", `${error.message}${advice}`, { cause: error, hints });
}

/** As {@link toCommandFailure}, for a check. @throws the error itself, if it is a bug or a signal */
export function explainFailure(error: unknown, source: UrlSource): CommandError {
  const problem = toExpectedFailure(toCommandError(error, source, "try again"));
  if (problem === undefined || problem instanceof Interruption) throw error;
  return problem;
}

/** Thrown by `process.cwd()` after the directory is deleted, in this thread or in that of a store. */
function isOfWorkingDirectory(error: unknown): boolean {
  if (!isError(error)) return false;
  return ("syscall" in error && error.syscall === "uv_cwd") || isOfWorkingDirectory(error.cause);
}

/** @returns the end of the sentence, which may be empty, and hints */
function toAdvice(
  { reason, url, detail }: UnavailableError,
  source: UrlSource,
  doubt = createDoubt,
): HintedMessage {
  const checkUrl = adviseUrl(toEndpoint(url).origin, source);
  switch (reason) {
    case "refused":
      return toRefusedAdvice(url, detail, checkUrl, source.needsAll);
    case "unknownHost":
      return [checkUrl];
    case "insecure":
      return [""];
    case "timeout":
      return [`${doubt}; a higher --timeout waits longer`];
    case "lost":
    case "gateway":
      return [doubt];
  }
}

function toRefusedAdvice(
  url: string,
  detail: string,
  checkUrl: string,
  needsAll = false,
): HintedMessage {
  if (detail === "EACCES") return [`use it as a user who may write to it, or ${checkUrl}`];
  if (detail === "ENOTSOCK") return [checkUrl];
  const { origin, socketPath, httpUrl } = toEndpoint(url);
  if (!isLocalUrl(url) || url.startsWith("https:")) {
    return [`${checkUrl}, and that its server runs`];
  }
  let command = "plantstore serve";
  if (socketPath !== undefined) command += ` --socket ${toShellWord(socketPath)}`;
  else if (origin !== urlOption.url.default) command += ` --port ${new URL(httpUrl).port || 80}`;
  if (needsAll) command += " --operations all";
  return ["", ...adviseCommand(`Start a server, or ${checkUrl}`, command)];
}

/** @param url of a request, or its origin if only that matters */
function adviseUrl(url: string, { flags, io }: UrlSource): string {
  const { source, savedBy } = readOption(urlOption.url, flags["url"], io);
  const { path } = operations.create;
  const changed = source === "the default" ? "--url" : source;
  const name = savedBy === undefined ? changed : `the URL of the ${savingCommands[savedBy]}`;
  return url.includes(path + path) ? `remove ${path} from ${name}` : `check ${name}`;
}

/** Longest message on stderr in UTF-16 code units. stdout has the whole message. */
const maxSentenceLength = 1000;

/** Describes a failed attempt. The text may be followed by a comma or a colon. */
export function describeUnavailable({ failure }: Retry, url: string): string {
  const reason = "error" in failure ? `error ${failure.error.error}` : toReason(failure.detail);
  return `${url} is unavailable (${quoteInput(reason, 100)})`;
}

export interface ErrorContext {
  /** Of the plant store, with its base path. */
  readonly url: string;
  readonly source: UrlSource;
  /** Undefined if no token was sent. */
  readonly token?: TokenOrigin | undefined;
  /** Default: create. */
  readonly operation?: ContractOperationId;
}

/** Returns what the sentence about an Error adds to its message. */
export function toDetails(
  {
    error: { error },
    attempts = 1,
    requestId,
    retryAfterS,
  }: Partial<Omit<StopCause, "error">> & { readonly error: Rejection },
  { url, source, token }: ErrorContext,
): string[] {
  const next = error === undefined ? undefined : toNextStep(error);
  const details = [];
  if (next === "token" && token !== undefined) {
    details.push(`the token came from ${token.source}`);
  }
  if (next === "server") {
    details.push(`${adviseUrl(joinPath(url, operations.create.path), source)}, which is ${url}`);
  }
  if (attempts > 1) details.push(`after ${attempts} attempts`);
  details.push(...toWaitDetails(retryAfterS).map((wait) => `the server ${wait}`));
  if (requestId !== undefined) details.push(`request ${quoteInput(requestId, 128)}`);
  return details;
}

/** Lines that replace a rejected token. A login changes nothing for one from a variable or a file, which has precedence. */
export function adviseToken(
  { error }: Rejection,
  { url, token, operation = "create" }: Pick<ErrorContext, "url" | "token" | "operation">,
): readonly string[] {
  if (error === undefined || toNextStep(error) !== "token") return [];
  const login = `plantstore login --url ${toShellWord(url)}`;
  return [
    ...(error === errorTable.forbidden.error ? adviseRights(operation) : []),
    ...(token?.isSaved ? adviseCommand("Replace the token", login) : []),
  ];
}

export function adviseRights(operation: ContractOperationId): readonly string[] {
  const command = `plantstore token issue --allow ${operation}`;
  return adviseCommand("Issue a token that may, on the machine of the store", command);
}

export function toErrorSentence({ message }: Rejection, details: readonly string[]): string {
  const addition = details.length === 0 ? "" : ` (${details.join("; ")})`;
  const isLong = message.length > maxSentenceLength;
  return (isLong ? `${message.slice(0, maxSentenceLength)}…` : message) + addition;
}

/** Returns the error of a command for the Error of a server. @param advice ends the sentence */
export function toResponseError(
  response: ErrorResponse,
  context: ErrorContext,
  advice: readonly string[] = [],
): CommandError {
  const { error } = response;
  const hints = adviseToken(error, context);
  const sentence = toErrorSentence(error, [...toDetails(response, context), ...advice]);
  const options = { cause: response, hints, number: error.error };
  return new CommandError(exitByStep[toNextStep(error.error)], sentence, options);
}

/** As {@link toResponseError}, for a check, which a plant store only rejects for its token or while it is unavailable. */
export function toCheckError(response: ErrorResponse, context: ErrorContext): CommandError {
  const problem = toResponseError(response, context);
  const { exit, message, number } = problem;
  if (exit === "tokenRejected" || exit === "unavailable") return problem;
  return new CommandError("noPlantStore", message, { cause: response, number });
}

/**
 * Returns the problem with a server, from its response to a check without a token: a plant store asks for one, or needs none.
 * Any other server never gets the token.
 */
export function findServerProblem(
  check: TokenCheck,
  context: ErrorContext,
): CommandError | undefined {
  if (check.isAccepted) return undefined;
  const isAsking = check.response.error.error === errorTable.noCredential.error;
  return isAsking ? undefined : toCheckError(check.response, context);
}

/** The message of an error with the number of the server's Error, as stderr shows it. */
export function toSentence({ message, number }: CommandError): string {
  return number === undefined ? message : `error ${number}: ${message}`;
}

/** Limit for the request to a server of this machine. */
const localTimeoutMs = 1000;

/** Finds the error for a missing token: it says how to get one, or that no server runs on this machine. */
export async function explainMissingToken(
  baseUrl: string,
  io: Io,
  signal: AbortSignal,
): Promise<CommandError | UnavailableError> {
  const isDefault = readDefaultUrl(io)?.value === baseUrl;
  const login = `plantstore login${isDefault ? "" : ` --url ${toShellWord(baseUrl)}`}`;
  const origins = await listSavedOrigins(findConfigDirectory(io));
  const server = isLocalUrl(baseUrl)
    ? await checkReadiness({ baseUrl, timeoutMs: localTimeoutMs, signal })
    : undefined;
  const cause = server?.state === "unknown" ? server.cause : undefined;
  if (cause?.reason === "refused") return cause;
  const known = origins.length === 0 ? "" : ` (saved: ${origins.join(", ")})`;
  const [how = "", issue = ""] =
    server?.state !== "ready"
      ? []
      : server.isVolatile
        ? [" with the token that the server printed when it started"]
        : [" as the owner of its store", "plantstore token issue | "];
  const advice = `Log in${how}, or set PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE`;
  return new CommandError("tokenRejected", `no token for ${baseUrl}${known}`, {
    hints: adviseCommand(advice, issue + login),
  });
}
