/** The log of `serve`: lines as text, and their output, which never waits for its reader. */
import { setTimeout as sleep } from "node:timers/promises";
import { escapeUnprintable } from "../../../core/messages.ts";
import { type LineFormat, type LogLevel, toShownPath } from "../../../server/log.ts";
import type { RequestRecord } from "../../../server/request.ts";
import { type OutputStream, writeText } from "../../io.ts";
import type { Palette } from "../../terminal/terminal.ts";

/** Maximum time for which a line waits for others. */
const gatherMs = 50;
/** Size of a batch of lines, which is written before it would get larger. */
const batchBytes = 64 * 1024;
/** Maximum number of bytes in UTF-8 for one UTF-16 code unit. */
const maxUnitBytes = 3;
/** Maximum number of pending bytes; further lines are dropped. */
const maxLagBytes = 4 * 1024 * 1024;
const closeMs = 1000;

/** Writes lines together. @param onLoss receives the number of dropped lines as soon as the reader accepts lines again */
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

const timeLength = "00:00:00".length;

/**
 * Creates the format of log lines as text. A terminal shows the local time of day. Elsewhere a line begins with date and time
 * in UTC.
 */
export function createTextFormat(
  palette: Palette,
  screen: Pick<OutputStream, "isTTY">,
): LineFormat {
  const { dim } = palette;
  const labels: Readonly<Record<LogLevel, string>> = {
    error: `${palette.error("error")}: `,
    warn: `${palette.warning("warning")}: `,
    info: "",
    debug: dim("debug: "),
  };

  function toLogLine(text: string): string {
    const now = new Date();
    const time =
      screen.isTTY === true ? now.toTimeString().slice(0, timeLength) : now.toISOString();
    return `${dim(time)} ${text}\n`;
  }

  return {
    message: (level, text) =>
      text
        .split("\n")
        .map((line, index) =>
          toLogLine((index === 0 ? labels[level] : "") + escapeUnprintable(line)),
        )
        .join(""),
    request(level, record) {
      const { method, path = "", status, error, durationMs, requestId } = record;
      const paint = level === "error" ? palette.error : palette.warning;
      const shownStatus = status < 400 ? palette.success(String(status)) : paint(String(status));
      const request = method === undefined ? "unreadable" : `${method} ${toShownPath(path)}`;
      const words = [shownStatus, request, ...toOutcome(level, record)];
      words.push(dim(`${durationMs.toFixed(1)} ms`));
      if (error !== undefined) words.push(dim(`id ${requestId}`));
      return toLogLine(words.join(" "));
    },
  };
}

function toOutcome(level: LogLevel, record: RequestRecord): readonly string[] {
  const { error, result = "", isDropped, isAborted } = record;
  const outcome = error === undefined ? result : `${outcomes[level]} ${error}`;
  const lost = isDropped ? "dropped on purpose" : isAborted ? "client left" : "";
  return [outcome, lost].filter((word) => word !== "");
}

/** A client causes a rejection; everything else is a failure of the server. */
const outcomes: Readonly<Record<LogLevel, string>> = {
  error: "failed",
  warn: "unavailable",
  info: "rejected",
  debug: "error",
};
