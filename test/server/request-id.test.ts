/** X-Request-Id, and the record of each request: enough to find it again, and no secret. */
import { describe, expect, it } from "vitest";
import { createTextFormat } from "../../src/cli/commands/serve/log-output.ts";
import { uncolored } from "../../src/cli/terminal/terminal.ts";
import { createLog, jsonFormat } from "../../src/server/log.ts";
import { createHeldAuthenticator } from "../helpers/held-authenticator.ts";
import { createHeldStore } from "../helpers/held-store.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { exchangeRaw, sendRaw, untilRead } from "../helpers/raw-http.ts";
import { toRawCreate, toRawGet, toRawRequest } from "../helpers/raw-request.ts";
import { startRecordedServer } from "../helpers/recorded-server.ts";

const token = `pst_${"A".repeat(49)}`;
const made = /^[0-9a-f]{12}-[0-9a-z]+$/;

function create(more: string, target = "/plants"): string {
  const body = '{"id":1,"name":"secret-name"}';
  return toRawRequest(body, { target, headers: more });
}

describe("X-Request-Id", () => {
  it.each(["a", "7f6c-11.ee:01_~/@+=", "x".repeat(128)])("accepts and returns %j", async (id) => {
    await using server = await startRecordedServer();
    const response = await exchangeRaw(server.port, create(`X-Request-Id: ${id}\r\n`));
    expect(response.headers["x-request-id"]).toBe(id);
    expect(server.records.map((record) => record.requestId)).toEqual([id]);
  });

  it.each(["", "a b", 'a"b', "é", "x".repeat(129), token])(
    "replaces %j with a new id",
    async (id) => {
      await using server = await startServer();
      const response = await exchangeRaw(server.port, create(`X-Request-Id: ${id}\r\n`));
      expect(response.headers["x-request-id"]).toMatch(made);
    },
  );

  it.each([
    ["a rejection", "GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["malformed HTTP", "hello\r\n\r\n"],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
  ])("is in the response to %s, and differs each time", async (_what, bytes) => {
    await using server = await startRecordedServer();
    const responses = [
      await exchangeRaw(server.port, bytes),
      await exchangeRaw(server.port, bytes),
    ];
    const ids = responses.map((response) => response.headers["x-request-id"]);
    expect(ids).toEqual(server.records.map((record) => record.requestId));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(made);
  });
});

describe("the header traceparent", () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const parentId = "00f067aa0ba902b7";
  const valid = `00-${traceId}-${parentId}-01`;

  async function findTraceIds(...requests: readonly string[]): Promise<unknown[]> {
    await using server = await startRecordedServer();
    for (const request of requests) await exchangeRaw(server.port, request);
    return server.records.map((record) => record.traceId);
  }

  it.each<[what: string, value: string]>([
    ["version 00", valid],
    ["other flags", `00-${traceId}-${parentId}-ff`],
    ["a later version", `cc-${traceId}-${parentId}-01`],
    ["a later version with more parts", `cc-${traceId}-${parentId}-01-what-the-future-will-be`],
  ])("names the trace of a request: %s", async (_what, value) => {
    const header = `traceparent: ${value}\r\n`;
    const requests = [create(header), create(`Tracestate: a=1\r\n${header}`)];
    expect(
      await findTraceIds(...requests, `GET /healthz HTTP/1.1\r\nHost: a\r\n${header}\r\n`),
    ).toEqual([traceId, traceId, traceId]);
  });

  it.each<[what: string, headers: string]>([
    ["is missing", ""],
    ["is empty", "traceparent:\r\n"],
    ["has the version ff", `traceparent: ff-${traceId}-${parentId}-01\r\n`],
    ["has a trace id of zeros", `traceparent: 00-${"0".repeat(32)}-${parentId}-01\r\n`],
    ["has a parent id of zeros", `traceparent: 00-${traceId}-${"0".repeat(16)}-01\r\n`],
    ["has capital letters", `traceparent: ${valid.toUpperCase()}\r\n`],
    ["has other characters", `traceparent: ${valid.replace("4bf9", "4bg9")}\r\n`],
    ["is too short", `traceparent: ${valid.slice(0, -1)}\r\n`],
    ["is too long for version 00", `traceparent: ${valid}-00\r\n`],
    ["has other separators", `traceparent: ${valid.replaceAll("-", "_")}\r\n`],
    ["has flags of three digits", `traceparent: cc-${traceId}-${parentId}-011\r\n`],
    ["occurs twice", `traceparent: ${valid}\r\ntraceparent: ${valid}\r\n`],
  ])("is ignored if it %s", async (_what, headers) => {
    expect(await findTraceIds(create(headers))).toEqual([undefined]);
  });
});

describe("the record of a request", () => {
  it("contains no bytes for a response to HEAD", async () => {
    await using server = await startRecordedServer();
    await fetch(`${server.url}/openapi.json`, { method: "HEAD" });
    expect(server.records).toMatchObject([{ method: "HEAD", status: 200, bytes: 0 }]);
  });

  const created = { operation: "create", status: 200, result: "created" };
  const left = { operation: "create", isAborted: true };

  it.each<[what: string, bytes: string, record: object]>([
    ["a create", create(""), { ...created, method: "POST", path: "/plants", bytes: 22 }],
    ["a health check", toRawGet("/healthz"), { operation: "health", status: 200 }],
    [
      "another path",
      create("", "/nowhere?token=hunter2"),
      { path: "/nowhere", status: 404, error: 40400 },
    ],
    [
      "an absolute target",
      create("", "http://u:hunter2@a/plants?x"),
      { path: "/plants", status: 200 },
    ],
    ["malformed HTTP", "hello\r\n\r\n", { status: 400, error: 40000 }],
  ])("describes %s", async (_what, bytes, record) => {
    await using server = await startRecordedServer();
    await exchangeRaw(server.port, bytes);
    expect(server.records).toMatchObject([{ isAborted: false, ...record }]);
  });

  it("contains the wait of a stored plant for its commit, and the size of the batch", async () => {
    await using server = await startRecordedServer();
    const requests = toRawCreate(1) + toRawCreate(2) + toRawCreate(1, "moss");
    using connection = await sendRaw(server.port, requests);
    await connection.responses(3);
    const stored = server.records.filter(({ result }) => result !== undefined);
    expect(stored).toHaveLength(2);
    for (const { batch, commitWaitMs = -1, durableMs = -1, durationMs } of stored) {
      expect([1, 2, 3]).toContain(batch);
      expect(commitWaitMs).toBeGreaterThanOrEqual(0);
      expect(durableMs).toBeGreaterThanOrEqual(commitWaitMs);
      expect(durationMs).toBeGreaterThanOrEqual(durableMs);
    }
    expect(server.records.at(-1)).toMatchObject({ error: 40900, batch: undefined });
  });

  it("reports that the client disconnected before the response", async () => {
    const { store, isWaiting, release } = createHeldStore();
    await using server = await startRecordedServer({ store });
    using connection = await sendRaw(server.port, create(""));
    await isWaiting(1);
    // A TLS client that has not read its session tickets would end the connection without a reset.
    await untilRead(server.port);
    server.records.length = 0;
    connection.reset();
    await expect.poll(() => server.server.readLoad().connections).toBe(0);
    release("created");
    await expect.poll(() => server.records).toMatchObject([{ ...left, status: 200 }]);
    expect(server.server.readLoad()).toEqual({ changes: 0, waitingBytes: 0, connections: 0 });
    expect(server.errors).toEqual([]);
  });

  it("reports that the client disconnected during the check of its credential", async () => {
    const { authenticator, release, waiting } = createHeldAuthenticator();
    await using server = await startRecordedServer({ authenticator });
    using connection = await sendRaw(server.port, create("").slice(0, -5));
    await expect.poll(waiting).toBe(1);
    // As above.
    await untilRead(server.port);
    server.records.length = 0;
    connection.reset();
    await expect.poll(() => server.server.readLoad().connections).toBe(0);
    release();
    await expect.poll(() => server.records).toMatchObject([left]);
  });

  it.each([
    ["text", createTextFormat(uncolored, {})],
    ["json", jsonFormat],
  ])("contains no header, body, query or token in %s", async (_name, format) => {
    let lines = "";
    const log = createLog(format, "debug", (line) => (lines += line));
    await using server = await startServer({ onResponse: (record) => log.request(record) });
    for (const bytes of [
      create("X-Secret: hunter2\r\n", "/plants?password=hunter2"),
      create("X-Request-Id: hunter2 \u00e9\r\n", `/${token}`),
      create(`X-Request-Id: ${token}\r\n`, "http://u:hunter2@a/plants"),
      create("Content-Encoding: hunter2\r\nExpect: hunter2\r\n"),
      "hunter2 /hunter2\r\n\r\n",
    ]) {
      await exchangeRaw(server.port, bytes);
    }
    expect(lines.split("\n")).toHaveLength(6);
    for (const secret of ["hunter2", "AAAA", testToken, "secret-name"]) {
      expect(lines).not.toContain(secret);
    }
  });
});
