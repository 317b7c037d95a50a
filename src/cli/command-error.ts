/**
 * Exit codes, and the errors that choose them. Any function of the command line may throw a CommandError, and one that takes
 * a signal may throw its reason, so comments name only other errors.
 */
import { isError, toSystemReason } from "../core/messages.ts";
import type { Io, StopSignal } from "./io.ts";

/** A failure that its message explains. It is never a bug, so it is printed without a stack. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly exit: ExitCodeName;
  /** Further lines, such as those of {@link adviseCommand}. */
  readonly hints: readonly string[];
  /** The number of the server's Error, if it sent one. */
  readonly number: number | undefined;

  /** @param message one line: what is wrong, and how to fix it */
  constructor(
    exit: ExitCodeName,
    message: string,
    {
      hints = [],
      number,
      ...options
    }: ErrorOptions & {
      readonly hints?: readonly string[];
      readonly number?: number | undefined;
    } = {},
  ) {
    super(message, options);
    this.exit = exit;
    this.hints = hints;
    this.number = number;
  }

  get exitCode(): number {
    return exitCodes[this.exit].code;
  }
}

/** A wrong command line. The command that prints its help follows the hints. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";

  constructor(message: string, hints: readonly string[] = []) {
    super("usage", message, { hints });
  }
}

export class Interruption extends CommandError {
  /** @param consequence continues the sentence */
  constructor(signal: StopSignal, consequence?: string) {
    const end = consequence === undefined ? "" : `: ${consequence}`;
    super(toExitName(signal), `stopped by ${signal}${end}`);
  }
}

/** Follows a failure after which the store may have the plant. */
export const createDoubt = "the plant may or may not exist; you can run the command again";

const maxEndMs = 3000;

/**
 * Does work that SIGINT and SIGTERM stop, with the exit code of the signal.
 *
 * @param work receives a signal, and throws its reason once it is aborted
 * @param toConsequence returns the end of the sentence, such as `nothing was saved`; called after the work has ended
 * @param onStuck receives the error if the work has not ended three seconds after the signal, as work that waits for a lock
 */
export async function interruptible<T>(
  io: Io,
  work: (signal: AbortSignal) => Promise<T>,
  toConsequence: () => string | undefined = () => undefined,
  onStuck?: (error: CommandError) => void,
): Promise<T> {
  const interruption = new AbortController();
  const { signal } = interruption;
  let stoppedBy: StopSignal | undefined;
  let timer: NodeJS.Timeout | undefined;
  const releaseSignals = io.onSignal((name) => {
    const toInterruption = () => new Interruption(name, toConsequence());
    stoppedBy = name;
    interruption.abort(toInterruption());
    timer = onStuck && setTimeout(() => onStuck(toInterruption()), maxEndMs).unref();
  });
  try {
    return await work(signal);
  } catch (error) {
    throw stoppedBy && error === signal.reason
      ? new Interruption(stoppedBy, toConsequence())
      : error;
  } finally {
    clearTimeout(timer);
    releaseSignals();
  }
}

/** A sentence, and hints as further lines. */
export type HintedMessage = readonly [sentence: string, ...hints: readonly string[]];

/** The lines of a hint. @param sentence an imperative, without its colon. @param commands lines to paste, for a shell */
export function adviseCommand(sentence: string, ...commands: readonly string[]): readonly string[] {
  return [`${sentence}:`, ...commands.map((command) => `  ${command}`)];
}

export function toExitName(signal: StopSignal): ExitCodeName {
  return signal === "SIGINT" ? "interrupted" : "terminated";
}

/** The error for a file or an input that cannot be read. */
export function toReadError(
  name: string,
  cause: unknown,
  hints: readonly string[] = [],
): CommandError {
  const isMissing = isError(cause) && "code" in cause && cause.code === "ENOENT";
  const problem = isMissing ? "does not exist" : `cannot be read: ${toSystemReason(cause)}`;
  return new CommandError("usage", `${name} ${problem}`, { cause, hints });
}

/** Every exit code of the command, with its text in help. */
export const exitCodes = {
  done: { code: 0, meaning: "Done" },
  internal: {
    code: 1,
    meaning: "Internal error, output could not be written, or serve cannot listen",
  },
  usage: {
    code: 2,
    meaning: "Wrong usage, or a file, store or setting cannot be read or written",
  },
  invalidPlant: {
    code: 3,
    meaning: "Invalid plant, locally or at the server, or damaged store or backup",
  },
  tokenRejected: {
    code: 4,
    meaning: "No token, or one that the server rejects or that may not do this",
  },
  idTaken: { code: 5, meaning: "The id belongs to a different plant" },
  unavailable: { code: 6, meaning: "The server or the store is unavailable; a retry may succeed" },
  noPlantStore: { code: 7, meaning: "No plant store at this URL, or no secure connection to it" },
  someMissing: {
    code: 8,
    meaning: "Some of several plants were not created, or some deletions failed",
  },
  noSuchPlant: { code: 9, meaning: "No such plant or token, also if others were deleted" },
  interrupted: { code: 130, meaning: "Stopped by SIGINT (Ctrl-C)" },
  outputClosed: { code: 141, meaning: "The output was closed before the end" },
  terminated: { code: 143, meaning: "Stopped by SIGTERM" },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type ExitCodes = Readonly<Partial<Record<ExitCodeName, string>>>;

/** Exit codes of every command. All have those of signals and of a closed output too, which only the topic lists. */
export const commonExitCodes = {
  done: exitCodes.done.meaning,
  internal: "Internal error, or output could not be written",
  usage: "Wrong usage",
} as const;

/** Exit codes of commands that send requests without a token. */
export const serverExitCodes = {
  ...commonExitCodes,
  usage: "Wrong usage, or a file or setting cannot be read or written",
  unavailable: "The server is unavailable; a retry may succeed",
  noPlantStore: exitCodes.noPlantStore.meaning,
} as const;

export const requestExitCodes = {
  ...serverExitCodes,
  tokenRejected: exitCodes.tokenRejected.meaning,
} as const;

export const storeExitCodes = {
  ...commonExitCodes,
  usage: "Wrong usage, or a file or the store cannot be read or written",
  invalidPlant: "The store is damaged",
  unavailable: "The store is unavailable; a retry may succeed",
} as const;

/** Exit codes of commands that open a store, or with `--url` talk to a server. */
export const targetExitCodes = {
  ...requestExitCodes,
  ...storeExitCodes,
  usage: exitCodes.usage.meaning,
  unavailable: exitCodes.unavailable.meaning,
} as const;

export type ExitCodeName = keyof typeof exitCodes;
