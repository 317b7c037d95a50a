/** Where a log goes: lines are gathered and written together, and nobody waits for whoever reads them. */
import { type OutputStream, writeText } from "../io.ts";

/** A log that is written to a stream. */
export interface LogOutput {
  /** Takes a line with its line break. */
  readonly write: (line: string) => void;
  /** Writes what is gathered; resolves when it is out, or could not be, or after a second. */
  close(): Promise<void>;
}

/** Lines wait for others no longer than this. */
const gatherMs = 50;
/** Nor for more than so many UTF-16 code units. */
const gatherLength = 64 * 1024;
/** Bytes that a reader may lag behind; after that lines are lost rather than the service held up. */
const maxLagBytes = 4 * 1024 * 1024;
const closeMs = 1000;

/**
 * Opens a log.
 *
 * @param onLoss is told how many lines were lost, once there is room for one that says so
 */
export function openLogOutput(stream: OutputStream, onLoss: (count: number) => void): LogOutput {
  let gathered = "";
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const text = gathered;
    gathered = "";
    // A log that nobody takes any more must not stop the service.
    return text === "" ? Promise.resolve() : writeText(stream, text).catch(() => undefined);
  }

  return {
    write(line) {
      if (stream.writableLength > maxLagBytes) {
        lost++;
        return;
      }
      const count = lost;
      lost = 0;
      if (count > 0) onLoss(count);
      gathered += line;
      if (gathered.length >= gatherLength) void flush();
      else timer ??= setTimeout(() => void flush(), gatherMs);
    },
    async close() {
      // A stream writes in order: this is the last of it.
      const written = flush().then(() => writeText(stream, "").catch(() => undefined));
      let patience: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (patience = setTimeout(resolve, closeMs)));
      await Promise.race([written, late]);
      clearTimeout(patience);
    },
  };
}
