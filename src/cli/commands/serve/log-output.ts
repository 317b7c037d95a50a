/** Writes log lines together, and never waits for their reader. */
import { setTimeout as sleep } from "node:timers/promises";
import { type OutputStream, writeText } from "../../io.ts";

/** Maximum time for which a line waits for others. */
const gatherMs = 50;
/** Size of a batch of lines, in UTF-16 code units, after which it is written. */
const batchLength = 64 * 1024;
/** Maximum number of pending bytes; further lines are dropped. */
const maxLagBytes = 4 * 1024 * 1024;
const closeMs = 1000;

/**
 * Opens a log.
 *
 * @param onLoss receives the number of dropped lines as soon as the reader accepts lines again
 */
export function openLogOutput(stream: OutputStream, onLoss: (count: number) => void) {
  let batch = "";
  let dropped = 0;
  let reported = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const text = batch;
    batch = "";
    // A log whose reader has gone must not stop the service.
    return writeText(stream, text).catch(() => undefined);
  }

  return {
    /** Writes a line, which includes its line break. */
    write: (line: string): void => {
      if (stream.writableLength > maxLagBytes) {
        dropped++;
        return;
      }
      const count = dropped - reported;
      reported = dropped;
      if (count > 0) onLoss(count);
      batch += line;
      timer ??= setTimeout(() => void flush(), gatherMs);
      if (batch.length >= batchLength) void flush();
    },
    /** Returns the number of dropped lines. */
    countDropped: (): number => dropped,
    /**
     * Writes the remaining lines.
     *
     * @returns whether none is pending: false if the reader accepts nothing for a second
     */
    close(): Promise<boolean> {
      // A stream writes in order: this is the last write.
      const written = flush().then(() => true);
      return Promise.race([written, sleep(closeMs, false, { ref: false })]);
    },
  };
}
