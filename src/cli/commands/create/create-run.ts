/** State that the steps of one `plantstore create` share. */
import type { Io, StopSignal } from "../../io.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { CreateOptions } from "./create-options.ts";
import type { RecordInput } from "./record-input.ts";
import type { RejectsFile } from "./rejects-file.ts";

/** One run of `create`. */
export interface CreateRun {
  readonly options: CreateOptions;
  readonly io: Io;
  readonly terminal: Terminal;
  /** Certificates of trusted authorities, in PEM. */
  readonly ca: string | undefined;
  /** Aborts everything, with the reason to report. */
  readonly cutOff: AbortController;
  /** Undefined without `--rejects`. Opened directly before the first plant is sent or rejected. */
  readonly rejects?: RejectsFile | undefined;
  /** True if a plant may have been sent. */
  isSent: boolean;
}

/** A run with plants from files or standard input. */
export interface ManyRun extends CreateRun {
  /** At least one; `-` is standard input. */
  readonly paths: readonly string[];
  readonly input: RecordInput;
  /** True if an input is a terminal: progress would hide what the user types. */
  readonly isTyped: boolean;
  /** Aborted when no further plant may be sent. */
  readonly lastCall: AbortSignal;
  /** Returns the signal that stopped the run. */
  readonly stopSignal: () => StopSignal | undefined;
}
