/** One run of `create`: what all of its steps use, and its end by a signal. */
import { CommandError, toExitName, Interruption } from "../../command-error.ts";
import type { Run } from "../../command.ts";
import type { Io, StopSignal } from "../../io.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { CreateOptions } from "./create-options.ts";

/** A run. It handles SIGINT and SIGTERM until it is released. */
export class CreateRun {
  readonly options: CreateOptions;
  readonly io: Io;
  readonly terminal: Terminal;
  /** Certificates of trusted authorities, in PEM. */
  readonly ca: string | undefined;
  /** Plants that may have been sent, which decide the effect of a signal. */
  sends: "nothing" | "one" | "many" = "nothing";
  /** The signal after which only the plants in flight are completed. */
  stoppedBy: StopSignal | undefined;
  /** Restores the default effect of signals. */
  readonly release: () => void;
  readonly #cutOff = new AbortController();
  /** Aborted when everything has to end, with the error to report. */
  readonly cutOff = this.#cutOff.signal;
  readonly #lastCall = new AbortController();
  /** Aborted when no further plant may be sent. */
  readonly lastCall = this.#lastCall.signal;

  constructor(options: CreateOptions, ca: string | undefined, { io, terminal }: Run) {
    this.options = options;
    this.ca = ca;
    this.io = io;
    this.terminal = terminal;
    this.release = io.onSignal((signal) => this.#stop(signal));
  }

  #stop(signal: StopSignal): void {
    if (this.sends === "many") {
      this.stoppedBy = signal;
      this.#lastCall.abort();
    } else {
      this.#cutOff.abort(toStopError(signal, this.sends === "one"));
    }
  }
}

/** @param isInDoubt whether the plant may have been sent already */
function toStopError(signal: StopSignal, isInDoubt: boolean): CommandError {
  if (isInDoubt) {
    const advice = "the plant may or may not exist; the same command can be repeated";
    return new Interruption(signal, advice);
  }
  return new CommandError(toExitName(signal), `stopped by ${signal} before anything was sent`);
}
