/** Maps errors to messages and exit codes. */
import { categorizeError, NotAPlantStoreError, UnavailableError } from "../client/results.ts";
import { isLocalUrl, toEndpoint } from "../core/base-url.ts";
import { hasTooManyFiles, StoreError, type StoreErrorReason, tooManyFiles } from "../core/store.ts";
import { isError, toShellWord, toSystemReason } from "../core/messages.ts";
import { CommandError, type ExitCodeName, exitCodes, Interruption } from "./command-error.ts";
import { OutputError } from "./io.ts";
import { urlOption } from "./options/remote.ts";

/** The messages and the exit code of a failed command. */
export interface Failure {
  readonly exitCode: number;
  /** Absent if everything was printed already. */
  readonly message?: string;
  /** That of an Error of a server. */
  readonly number?: number;
  /** Lines after the message. */
  readonly hints?: readonly string[];
  /** Only for a bug. */
  readonly stack?: string;
}

/** The exit code for the number of an Error. */
export function toExitCode(error: number): number {
  return exitCodes[categorizeError(error)].code;
}

/** A store that cannot be opened or changed is a local file like others. A retry may succeed if it is busy or its disk full. */
const exitByReason: Readonly<Record<StoreErrorReason, ExitCodeName>> = {
  unusable: "usage",
  readOnly: "usage",
  damaged: "invalidPlant",
  full: "unavailable",
  busy: "unavailable",
  closed: "internal",
  failed: "internal",
};

/**
 * Maps an error to a message and an exit code. Unexpected errors are bugs and keep their stack trace.
 *
 * @param doubt as for {@link toAdvice}
 */
export function toFailure(error: unknown, doubt?: string): Failure {
  if (isOfWorkingDirectory(error)) {
    return failure("usage", "the working directory was deleted: change to another one");
  }
  if (error instanceof CommandError) {
    const { exitCode, message, hints, number } = error;
    return { exitCode, message, hints, ...(number !== undefined && { number }) };
  }
  if (error instanceof UnavailableError) {
    return failure(toUnavailableExit(error), toAdvice(error, doubt));
  }
  if (error instanceof NotAPlantStoreError) {
    const advice = error.proxyLimit === undefined ? ": check --url" : "";
    return failure("noPlantStore", `${error.message}${advice}`);
  }
  if (error instanceof OutputError) {
    return error.isClosed
      ? { exitCode: exitCodes.outputClosed.code }
      : failure("internal", `${error.message}: ${toSystemReason(error.cause)}`);
  }
  if (error instanceof StoreError) return failure(exitByReason[error.reason], error.message);
  if (hasTooManyFiles(error)) return failure("internal", tooManyFiles);
  return {
    ...failure("internal", "this is a bug in plantstore: please report it with these lines"),
    stack: (isError(error) && error.stack) || String(error),
  };
}

/** A retry does not heal a failure of TLS, such as an untrusted certificate. */
export function toUnavailableExit({ reason }: UnavailableError): ExitCodeName {
  return reason === "insecure" ? "noPlantStore" : "unavailable";
}

/** A failure that is reported. */
export type CheckProblem = Failure & { readonly message: string };

/** As {@link toFailure}, for a check. @throws the error itself, if it is a bug, a signal, or the output was closed */
export function toProblem(error: unknown): CheckProblem {
  const { exitCode, message, stack } = toFailure(error, "try again");
  const isSignal = error instanceof Interruption;
  if (message === undefined || stack !== undefined || isSignal) throw error;
  return { exitCode, message };
}

/** Thrown by `process.cwd()` after the directory is deleted, in this thread or in that of a store. */
function isOfWorkingDirectory(error: unknown): boolean {
  if (!isError(error)) return false;
  return ("syscall" in error && error.syscall === "uv_cwd") || isOfWorkingDirectory(error.cause);
}

function failure(exit: ExitCodeName, message: string): Failure {
  return { exitCode: exitCodes[exit].code, message };
}

/**
 * The message of an unavailable store, with advice.
 *
 * @param doubt what it means if the store may have handled the request
 */
export function toAdvice(
  { reason, message, url, detail }: UnavailableError,
  doubt = "the plant may or may not exist; the same command can be repeated",
): string {
  switch (reason) {
    case "refused":
      return `${message}: ${toRefusedAdvice(url, detail)}`;
    case "unknownHost":
      return `${message}: check --url`;
    case "insecure":
      return message;
    case "timeout":
      return `${message}: ${doubt}; a higher --timeout waits longer`;
    case "lost":
    case "gateway":
      return `${message}: ${doubt}`;
  }
}

function toRefusedAdvice(url: string, detail: string): string {
  if (detail === "EACCES") return "use it as a user who may write to it, or check --url";
  if (detail === "ENOTSOCK") return "check the path in --url";
  const { origin, socketPath, httpUrl } = toEndpoint(url);
  if (!isLocalUrl(url) || url.startsWith("https:")) return "check --url, and that its server runs";
  let command = "plantstore serve";
  if (socketPath !== undefined) command += ` --socket ${toShellWord(socketPath)}`;
  else if (origin !== urlOption.url.default) command += ` --port ${new URL(httpUrl).port || 80}`;
  return `start a server with "${command}", or check --url`;
}
