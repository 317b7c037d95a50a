/** Keeps a terminal readable under load: the first requests of a second have a line each, and one more line counts the others. */
import type { LineFormat } from "../../../server/log.ts";
import { describeOutcome } from "./terminal-messages.ts";

/** Number of requests in each period that have a line each. Errors of the server always have one. */
const maxLines = 10;
const periodMs = 1000;

/** Counts the requests of a format beyond the first ones. @param write writes a line, which includes its line break */
export function createCountingFormat(
  format: LineFormat,
  write: (line: string) => void,
): LineFormat {
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
    flush();
    linesLeft = maxLines;
    timer = undefined;
  }

  return {
    message: (level, text) => format.message(level, text),
    request(level, record) {
      if (level === "error") return format.request(level, record);
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
