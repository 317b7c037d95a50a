/** Writes log lines together, and never waits for their reader. */
import { setTimeout as sleep } from "node:timers/promises";
import { type OutputStream, writeText } from "../../io.ts";

/** Maximum time for which a line waits for others. */
const gatherMs = 50;
/** Size of a batch of lines, which is written before it would get larger. */
const batchBytes = 64 * 1024;
/** Maximum number of bytes in UTF-8 for one UTF-16 code unit. */
const maxUnitBytes = 3;
/** Maximum number of pending bytes; further lines are dropped. */
const maxLagBytes = 4 * 1024 * 1024;
const closeMs = 1000;

/** @param onLoss receives the number of dropped lines as soon as the reader accepts lines again */
export function openLogOutput(stream: OutputStream, onLoss: (count: number) => void) {
  // As bytes: to convert a text of many lines takes 3 % of the time of a busy server.
  const batch = Buffer.allocUnsafe(batchBytes);
  let length = 0;
  let dropped = 0;
  let reported = 0;
  let timer: NodeJS.Timeout | undefined;

  // A log whose reader has gone must not stop the service.
  const send = (text: string | Uint8Array): Promise<void> =>
    writeText(stream, text).catch(() => undefined);

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const bytes = Buffer.from(batch.subarray(0, length));
    length = 0;
    return send(bytes);
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
      const maxBytes = line.length * maxUnitBytes;
      if (length + maxBytes > batchBytes) void flush();
      if (maxBytes > batchBytes) return void send(line);
      length += batch.write(line, length);
      timer ??= setTimeout(() => void flush(), gatherMs);
    },
    countDropped: (): number => dropped,
    /** Writes the remaining lines. @returns false if the reader accepts nothing for a second */
    close(): Promise<boolean> {
      // A stream writes in order: this is the last write.
      const written = flush().then(() => true);
      return Promise.race([written, sleep(closeMs, false, { ref: false })]);
    },
  };
}
