/** The log of a server, as text and as JSON. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { StoreError } from "../../src/core/store.ts";
import { createTextFormat } from "../../src/cli/commands/serve/log-output.ts";
import { uncolored } from "../../src/cli/terminal/terminal.ts";
import { createLog, jsonFormat, type LogLevel } from "../../src/server/log.ts";
import type { RequestRecord } from "../../src/server/request.ts";

const formats = {
  json: jsonFormat,
  text: createTextFormat(uncolored, {}),
};

function createTested(format: keyof typeof formats = "text", level: LogLevel = "info") {
  const lines: string[] = [];
  return { lines, log: createLog(formats[format], level, (line) => void lines.push(line)) };
}

const record: RequestRecord = {
  method: "POST",
  path: "/plants",
  operation: "create",
  status: 200,
  durationMs: 1.23456,
  bytes: 15,
  requestId: "a-1",
  isAborted: false,
};
const rejected = { ...record, status: 400, error: 40900 };
const unreadable = { ...rejected, method: undefined };
const committed = { ...record, durableMs: 1.1, commitWaitMs: 0.75, batch: 12 };
const traced = { ...rejected, traceId: "4bf92f3577b34da6a3ce929d0e0e4736" };

it.each(["text", "json"] as const)("contains no token in a message in %s", (format) => {
  const { lines, log } = createTested(format);
  log.message("info", `Plants are kept in sqlite:/plants/pst_${"a1B2c3D".repeat(7)}.db`);
  expect(lines.join("")).toContain("sqlite:/plants/pst_….db");
});

describe("the line of a request", () => {
  it.each<[what: string, record: RequestRecord, line: string]>([
    ["an accepted request", record, "200 POST /plants 1.2 ms"],
    ["a create", { ...committed, result: "created" }, "200 POST /plants created 1.2 ms"],
    ["a rejected request", rejected, "400 POST /plants rejected 40900 1.2 ms id a-1"],
    ["a client that left", { ...record, isAborted: true }, "200 POST /plants client left 1.2 ms"],
    ["malformed HTTP", unreadable, "400 unreadable rejected 40900 1.2 ms id a-1"],
  ])("describes %s as text", (_what, each, line) => {
    const { lines, log } = createTested("text");
    log.request(each);
    expect(lines).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z /)]);
    expect(lines[0]?.slice(25)).toBe(`${line}\n`);
  });

  const post = { method: "POST", path: "/plants" };
  const rejection = { status: 400, error: 40900 };

  it.each<[what: string, record: RequestRecord, members: object]>([
    ["an accepted request", record, { ...post, status: 200 }],
    ["a rejected request", rejected, { ...post, ...rejection }],
    ["a client that left", { ...record, isAborted: true }, { ...post, status: 200, aborted: true }],
    ["a stored plant", committed, { ...post, status: 200, commit_wait: 0.75, batch: 12 }],
    ["a create", { ...record, result: "created" }, { ...post, status: 200, result: "created" }],
    ["a request of a trace", traced, { ...post, ...rejection, trace_id: traced.traceId }],
    ["malformed HTTP", unreadable, rejection],
  ])("describes %s as JSON", (_what, each, members) => {
    const { lines, log } = createTested("json");
    log.request(each);
    const rest = { level: "info", duration: 1.235, bytes: 15, id: "a-1", ...members };
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/) as string, ...rest },
    ]);
    expect(lines[0]).toMatch(/^[^\n]+\n$/);
  });

  it.each<[path: string, shown: string]>([
    ['/a"b\\', '/a"b\\'],
    ["/\u001b[31mred\u009b", "/\\u001b[31mred\\u009b"],
    ["/pst_0123456789", "/pst_…"],
    [`/${"a".repeat(300)}`, `/${"a".repeat(199)}…`],
  ])("escapes, redacts and truncates the path %j", (path, shown) => {
    const { lines, log } = createTested("json");
    log.request({ ...record, path });
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ path: shown });
  });
});

describe("the level of", () => {
  const readiness = { ...record, operation: "readiness", status: 503 } as const;
  it.each<[what: string, level: LogLevel, record: RequestRecord]>([
    ["a create", "info", record],
    ["a rejection", "info", rejected],
    ["a health check", "debug", { ...record, operation: "health" }],
    ["a readiness check with any result", "debug", { ...readiness, error: 50700 }],
    ["a check of a token", "debug", { ...rejected, operation: "probe", error: 42201 }],
    ["a check without a token", "debug", { ...rejected, operation: "probe", error: 40100 }],
    ["a check of a malformed token", "info", { ...rejected, operation: "probe", error: 40101 }],
    ["a check of a rejected token", "info", { ...rejected, operation: "probe", error: 40102 }],
    ["a check of an expired token", "info", { ...rejected, operation: "probe", error: 40103 }],
    ["an overload", "warn", { ...rejected, error: 50301 }],
    ["a full disk", "error", { ...rejected, error: 50700 }],
    ["a bug", "error", { ...rejected, error: 50000 }],
  ])("%s is %s", (_what, level, each) => {
    const levels = (["error", "warn", "info", "debug"] as const).filter((threshold) => {
      const { lines, log } = createTested("json", threshold);
      log.request(each);
      return lines.length > 0;
    });
    expect(levels[0]).toBe(level);
  });
});

it("writes a message as one line that is safe on a terminal, in both formats", () => {
  const text = createTested("text");
  text.log.message("warn", "a\u001b[2Jb");
  expect(text.lines[0]).toMatch(/Z warning: a\\u001b\[2Jb\n$/);
  const json = createTested("json");
  json.log.message("warn", "a\u001b[2Jb");
  expect(JSON.parse(json.lines[0] ?? "")).toMatchObject({ level: "warn", message: "a\u001b[2Jb" });
});

it("writes an error of the store as one line", () => {
  const { lines, log } = createTested();
  log.error(new StoreError("full", "the store has no room"));
  expect(lines).toEqual([expect.stringMatching(/^\S+Z error: store: the store has no room\n$/)]);
});

it("writes a bug with its stack trace", () => {
  const { lines, log } = createTested();
  log.error(new TypeError("x is not a function"));
  expect(lines[0]).toMatch(/unexpected: TypeError: x is not a function\n\S+Z +at /);
});

it("writes the same error at most once a second, although it alternates with others", () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(1);
  onTestFinished(() => now.mockRestore());
  const { lines, log } = createTested();
  const errors = ["no room", "locked"].map((message) => new StoreError("full", message));
  for (let count = 0; count < 1000; count++) for (const error of errors) log.error(error);
  expect(lines).toHaveLength(2);
  now.mockReturnValue(1002);
  for (const error of errors) log.error(error);
  expect(lines).toHaveLength(4);
});
