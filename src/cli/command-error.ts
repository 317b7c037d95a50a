/** The exceptions for what a command can't do. */
import { type ExitCodeName, exitCodes } from "./exit-codes.ts";
import type { StopSignal } from "./io.ts";

/** A failure that its message explains: a mistake, or a state of the world. Never a bug, so it is shown without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;
  /** Where to read on. */
  readonly hint: string | undefined;

  /** @param message one line: what is wrong, where, and what to do */
  constructor(
    exit: ExitCodeName,
    message: string,
    { hint, ...options }: ErrorOptions & { readonly hint?: string } = {},
  ) {
    super(message, options);
    this.exitCode = exitCodes[exit].code;
    this.hint = hint;
  }
}

/** A create that SIGINT or SIGTERM ended. */
export class Interruption extends CommandError {
  /** @param isInDoubt whether the plant may have been sent already */
  constructor(signal: StopSignal, isInDoubt: boolean) {
    super(
      toExitName(signal),
      isInDoubt
        ? `stopped by ${signal}: the plant may or may not be there, and the same command can be repeated`
        : `stopped by ${signal} before anything was sent`,
    );
  }
}

/** Many creates that SIGINT or SIGTERM ended, with nothing left in doubt. */
export class BatchInterruption extends CommandError {
  /** @param wayOn how to go on; continues the sentence */
  constructor(signal: StopSignal, wayOn: string) {
    super(toExitName(signal), `stopped by ${signal}: ${wayOn}`);
  }
}

/** The exit code of a command that a signal ended. */
export function toExitName(signal: StopSignal): ExitCodeName {
  return signal === "SIGINT" ? "interrupted" : "terminated";
}
