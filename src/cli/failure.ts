/** What becomes of a failure: the lines to say and the exit code. */
import { NotAPlantStoreError, UnavailableError } from "../client/client-error.ts";
import { errorTable } from "../core/errors.ts";
import { StoreError } from "../core/store.ts";
import { CommandError } from "./command-error.ts";
import { type ExitCodeName, exitCodes } from "./exit-codes.ts";
import { OutputError } from "./io.ts";

/** How a command ends that did not do what it was asked. */
export interface Failure {
  readonly exitCode: number;
  /** What to say of it; nothing when everything was said. */
  readonly message?: string;
  /** Where to read on. */
  readonly hint?: string | undefined;
  /** Only of a bug. */
  readonly stack?: string;
}

/** The exit code for the number of an Error that a server answered with. */
export function toExitCode(error: number): number {
  return exitCodes[toExitCodeName(error)].code;
}

/** Whether an Error with this number would be the answer to any other create as well. */
export function concernsAllCreates(error: number): boolean {
  const exit = toExitCodeName(error);
  return exit === "tokenRefused" || exit === "notAPlantStore";
}

function toExitCodeName(error: number): ExitCodeName {
  if (error === errorTable.malformedHttp.error) return "notAPlantStore";
  // The number begins with the status that the failure would have elsewhere.
  const status = Math.trunc(error / 100);
  if (status >= 500 && status <= 599) return "unavailable";
  return exitByStatus[status] ?? "invalidPlant";
}

const exitByStatus: Readonly<Record<number, ExitCodeName>> = {
  401: "tokenRefused",
  404: "notAPlantStore",
  405: "notAPlantStore",
  408: "unavailable",
  409: "idTaken",
  414: "notAPlantStore",
  417: "notAPlantStore",
  431: "notAPlantStore",
};

/** Whatever a command threw, explained. What nobody foresaw is a bug, and shown with its stack. */
export function toFailure(error: unknown): Failure {
  if (error instanceof CommandError) {
    const { exitCode, message, hint } = error;
    return { exitCode, message, hint };
  }
  if (error instanceof UnavailableError) return failure("unavailable", toAdvice(error));
  if (error instanceof NotAPlantStoreError) {
    return failure("notAPlantStore", `${error.message}; check --url and its path`);
  }
  if (error instanceof OutputError) {
    return error.isClosed
      ? { exitCode: exitCodes.outputClosed.code }
      : failure("internal", error.message);
  }
  if (error instanceof StoreError) return failure("internal", error.message);
  if (isOfWorkingDirectory(error)) {
    return failure("usage", "the working directory is gone: change to another one");
  }
  return {
    ...failure("internal", "this is a bug in plantstore, please report it with these lines"),
    stack: (error instanceof Error && error.stack) || String(error),
  };
}

/** Whoever asks for it gets this once it was removed. */
function isOfWorkingDirectory(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}

function failure(exit: ExitCodeName, message: string): Failure {
  return { exitCode: exitCodes[exit].code, message };
}

/** What is wrong with a store that did not answer, and what to do about it. */
export function toAdvice({ reason, message }: UnavailableError): string {
  const doubt = "the plant may or may not be there, and the same command can be repeated";
  switch (reason) {
    case "refused":
      return `${message}: start it with "plantstore serve", or name another with --url`;
    case "unknownHost":
      return `${message}: check --url`;
    case "insecure":
      return message;
    case "timeout":
      return `${message}: ${doubt}; --timeout gives it longer`;
    case "lost":
    case "gateway":
      return `${message}: ${doubt}`;
  }
}
