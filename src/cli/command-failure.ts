/** Maps errors to messages and exit codes. */
import { categorizeError, NotAPlantStoreError, UnavailableError } from "../client/results.ts";
import { hasTooManyFiles, StoreError, type StoreErrorReason, tooManyFiles } from "../core/store.ts";
import { isError, toSystemReason } from "../core/messages.ts";
import { CommandError, type ExitCodeName, exitCodes } from "./command-error.ts";
import { OutputError } from "./io.ts";

/** The messages and the exit code of a failed command. */
export interface Failure {
  readonly exitCode: number;
  /** Absent if everything was printed already. */
  readonly message?: string;
  /** Lines after the message. */
  readonly hints?: readonly string[];
  /** Only for a bug. */
  readonly stack?: string;
}

/** The exit code for the number of an Error. */
export function toExitCode(error: number): number {
  return exitCodes[categorizeError(error)].code;
}

/** A store that cannot be read is a local file that cannot be read. A retry may succeed if a store is busy or cannot be written. */
const exitByReason: Readonly<Record<StoreErrorReason, ExitCodeName>> = {
  unusable: "usage",
  full: "unavailable",
  busy: "unavailable",
  closed: "internal",
  failed: "internal",
};

/** Maps an error to a message and an exit code. Unexpected errors are bugs and keep their stack trace. */
export function toFailure(error: unknown): Failure {
  if (isOfWorkingDirectory(error)) {
    return failure("usage", "the working directory was deleted: change to another one");
  }
  if (error instanceof CommandError) {
    const { exitCode, message, hints } = error;
    return { exitCode, message, hints };
  }
  if (error instanceof UnavailableError) return failure("unavailable", toAdvice(error));
  if (error instanceof NotAPlantStoreError) {
    const advice = error.proxyLimit === undefined ? "; check --url and its path" : "";
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

/** As {@link toFailure}, for a report. @throws the error itself, if it is a bug or the output was closed */
export function explainFailure(error: unknown): Failure & { readonly message: string } {
  const { exitCode, message, stack } = toFailure(error);
  if (message === undefined || stack !== undefined) throw error;
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
      if (url.startsWith("unix:")) return `${message}: ${toSocketAdvice(detail)}`;
      return `${message}: start a server with "plantstore serve", or choose another URL with --url`;
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

function toSocketAdvice(detail: string): string {
  if (detail === "EACCES") return "use it as a user who may write to it, or set --url";
  if (detail === "ENOTSOCK") return "check the path in --url";
  return 'start a server with "plantstore serve --socket PATH", or set --url';
}
