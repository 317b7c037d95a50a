/** Keeps a terminal readable under load: the first requests have a line each, further ones are counted in a line a second. */
import type { LineFormat } from "../../../server/log.ts";
import { describeOutcome } from "./terminal-messages.ts";

/** Number of requests that have a line each, after a second without more. */
const maxLines = 10;
const periodMs = 1000;

/** A format that counts requests. */
export interface CountingFormat extends LineFormat {
  /** Writes the requests that were counted since the last line. */
  flush(): void;
}

/** Counts the requests of a format beyond the first ones. @param write writes a line, which includes its line break */
export function countRequests(format: LineFormat, write: (line: string) => void): CountingFormat {
  const counts = new Map<string, number>();
  let linesLeft = maxLines;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    if (counts.size === 0) return;
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const outcomes = [...counts].map(([outcome, count]) => `${toText(count)} × ${outcome}`);
    counts.clear();
    write(format.message("info", `${toText(total)} more: ${outcomes.join(", ")}`));
  }

  function endPeriod(): void {
    const isBusy = counts.size > 0;
    flush();
    linesLeft = isBusy ? 0 : maxLines;
    timer = isBusy ? setTimeout(endPeriod, periodMs).unref() : undefined;
  }

  return {
    message: (level, text) => format.message(level, text),
    request(level, record) {
      timer ??= setTimeout(endPeriod, periodMs).unref();
      if (linesLeft > 0) {
        linesLeft--;
        return format.request(level, record);
      }
      const outcome = describeOutcome(level, record);
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      return "";
    },
    flush,
  };
}

function toText(count: number): string {
  return count.toLocaleString("en");
}
