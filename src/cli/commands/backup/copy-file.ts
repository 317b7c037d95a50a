/** Copies a file with progress. SQLite cannot be stopped while it copies, so a signal ends the process. */
import type { FileWork } from "../../../store/backup-store.ts";
import type { Run } from "../../command.ts";
import { toExitName } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import type { StopSignal } from "../../io.ts";

/** Texts about a copy. */
interface CopyTexts {
  /** Such as `backing up to FILE`. */
  readonly doing: string;
  /** Meaning of an interruption, such as `no backup was made`. */
  readonly unchanged: string;
}

/** A copy, and how the end of its use of signals is reported. */
export interface CopyWork extends FileWork {
  /** Gives signals their default effect again, once the files are changed. */
  readonly onReplaced: () => void;
}

/**
 * Copies a file and reports it. SIGINT and SIGTERM remove what was written so far and end the process.
 *
 * @returns the exit code
 * @throws every error of `copy` and of `report`
 */
export async function copyFile<T>(
  { io, terminal }: Run,
  { doing, unchanged }: CopyTexts,
  copy: (work: CopyWork) => Promise<T>,
  report: (result: T) => Promise<void>,
): Promise<number> {
  const stop = new AbortController();
  let stoppedBy: StopSignal | undefined;
  let readSize: (() => number) | undefined;
  let clear = (): void => undefined;
  const releaseSignals = io.onSignal((name) => {
    stoppedBy = name;
    stop.abort();
    clear();
    void terminal.error(`stopped by ${name}: ${unchanged}`).then(() => io.endBySignal(name));
  });
  const work: CopyWork = {
    signal: stop.signal,
    onCopy: (read) => (readSize = read),
    onReplaced: releaseSignals,
  };
  const toText = (): string =>
    readSize === undefined ? doing : `${doing}: ${toSize(readSize())} so far`;
  let result: T;
  try {
    result = await terminal.showWhile(toText, (clearSpinner) => {
      clear = clearSpinner;
      return copy(work);
    });
  } catch (error) {
    // Only where a signal does not end the process, such as for the first process of a container.
    if (stoppedBy !== undefined) return exitCodes[toExitName(stoppedBy)].code;
    throw error;
  } finally {
    releaseSignals();
  }
  await report(result);
  return exitCodes.done.code;
}

const units = ["kB", "MB", "GB", "TB"] as const;

/** Such as `12.3 MB`. */
export function toSize(bytes: number): string {
  let size = bytes / 1000;
  let index = 0;
  while (size >= 999.95 && index < units.length - 1) {
    size /= 1000;
    index++;
  }
  return `${size.toFixed(1)} ${units[index]}`;
}
