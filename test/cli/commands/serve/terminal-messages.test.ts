/** Which requests have a line of their own in a terminal. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createCountingFormat } from "../../../../src/cli/commands/serve/terminal-messages.ts";
import type { LogLevel } from "../../../../src/server/log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function startFormat() {
  const lines: string[] = [];
  const format = createCountingFormat(
    { message: (_level, text) => `${text}\n`, request: (level) => `${level}\n` },
    (line) => lines.push(line),
  );
  const add = (count: number, level: LogLevel = "info"): void => {
    const record = { status: 200, bytes: 0, durationMs: 1, requestId: "a", isAborted: false };
    for (let index = 0; index < count; index++) {
      const line = format.request(level, record);
      if (line !== "") lines.push(line);
    }
  };
  return { add, takeLines: () => lines.splice(0) };
}

it("each second has up to ten requests with a line, and a line that counts the others", () => {
  const { add, takeLines } = startFormat();
  const requests = Array.from({ length: 10 }, () => "info\n");
  for (const count of [12, 25]) {
    add(count);
    expect(takeLines()).toEqual(requests);
    vi.advanceTimersByTime(1000);
    expect(takeLines()).toEqual([`${count - 10} more: ${count - 10} × 200\n`]);
  }
  add(3);
  vi.advanceTimersByTime(1000);
  expect(takeLines()).toEqual(["info\n", "info\n", "info\n"]);
});

it("an error of the server always has a line", () => {
  const { add, takeLines } = startFormat();
  add(11);
  takeLines();
  add(2, "error");
  expect(takeLines()).toEqual(["error\n", "error\n"]);
});
