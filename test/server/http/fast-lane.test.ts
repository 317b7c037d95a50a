/** The fast lane: which requests it handles, and when it hands a connection over to node:http. */
import { describe, expect, it } from "vitest";
import { createUsualRequestParser } from "../../../src/server/http/fast-lane.ts";
import type { ServerFaults } from "../../../src/server/faults.ts";
import type { RequestRecord } from "../../../src/server/request.ts";
import { countAnnouncedRequests } from "../../helpers/announced-requests.ts";
import { createHeldStore } from "../../helpers/held-store.ts";
import { startServer } from "../../helpers/plant-server.ts";
import { exchangeRaw, openRawConnection, untilRead } from "../../helpers/raw-http.ts";
import { toRawGet, toRawRequest } from "../../helpers/raw-request.ts";

const body = '{"id":1,"name":"fern"}';
const post = (headers = ""): string => toRawRequest(body, { headers });
const get = toRawGet;
const statuses = (text: string): number[] =>
  Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status));

describe("the parser of usual requests", () => {
  const parse = createUsualRequestParser("/v1/plants", 100);
  const usual = (lines: readonly string[], content = body): Buffer =>
    Buffer.from(
      [
        "POST /v1/plants HTTP/1.1",
        "Host: a",
        ...lines,
        `Content-Length: ${content.length}`,
        "",
        "",
      ].join("\r\n") + content,
    );

  it("returns headers, body and end of the first of several requests", () => {
    const request = usual(["Authorization: Bearer x", "X-Request-Id:1"]);
    const bytes = Buffer.concat([Buffer.from("abc"), request, request]);
    const parsed = parse(bytes, 3);
    expect(parsed?.headers).toEqual({
      host: ["a"],
      authorization: ["Bearer x"],
      "x-request-id": ["1"],
      "content-length": [String(body.length)],
    });
    expect(parsed?.target).toBe("/v1/plants");
    expect(parsed?.body.toString()).toBe(body);
    expect(parsed?.end).toBe(3 + request.length);
  });

  it.each([
    ["curl", ["User-Agent: curl/8.0", "Accept: */*"]],
    ["undici", ["connection: keep-alive"]],
    ["fetch", ["accept: */*", "accept-language: *", "sec-fetch-mode: cors", "accept-encoding: br"]],
    ["Go", ["User-Agent: Go-http-client/1.1", "Accept-Encoding: gzip"]],
    [
      "a proxy",
      ["X-Forwarded-For: 10.0.0.1", "X-Forwarded-Proto: https", "traceparent: 00-a-b-01"],
    ],
    ["nginx", ["X-Real-IP: 10.0.0.1", "Connection: close"]],
    ["other proxies", ["Via: 1.1 a", "Forwarded: for=10.0.0.1", "X-Amzn-Trace-Id: Root=1-a"]],
    ["a browser", ["Cache-Control: no-cache", "Pragma: no-cache", "DNT: 1"]],
  ])("recognizes the headers of %s", (_client, lines) => {
    expect(parse(usual(lines), 0)).toBeDefined();
  });

  it("returns the end of a body that has not arrived yet", () => {
    const request = usual([]);
    const parsed = parse(request.subarray(0, -3), 0);
    expect(parsed?.body.toString()).toBe(body.slice(0, -3));
    expect(parsed?.end).toBe(request.length);
  });

  it.each<[what: string, bytes: Buffer]>([
    ["an incomplete head", usual([]).subarray(0, -body.length - 1)],
    ["another path", Buffer.from(usual([]).toString().replace("/v1/plants", "/plants"))],
    ["a query", Buffer.from(usual([]).toString().replace("/v1/plants", "/v1/plants?"))],
    ["another method", Buffer.from(usual([]).toString().replace("POST", "PUT"))],
    ["HTTP/1.0", Buffer.from(usual([]).toString().replace("HTTP/1.1", "HTTP/1.0"))],
    ["an empty line before it", Buffer.concat([Buffer.from("\r\n"), usual([])])],
    ["an unknown header", usual(["X-Other: 1"])],
    ["a header twice", usual(["Accept: a", "accept: b"])],
    ["a second Host", usual(["host: b"])],
    ["an invalid Host", Buffer.from(usual([]).toString().replace("Host: a", "Host: a b"))],
    ["no Host", Buffer.from(usual([]).toString().replace("Host: a\r\n", ""))],
    ["another option in Connection", usual(["Connection: closed"])],
    ["Connection with two options", usual(["Connection: keep-alive, Upgrade"])],
    ["Expect", usual(["Expect: 100-continue"])],
    ["Transfer-Encoding", usual(["Transfer-Encoding: chunked"])],
    ["Content-Encoding", usual(["Content-Encoding: gzip"])],
    ["a folded line", usual(["Accept: a", " b"])],
    ["a space before a colon", usual(["Accept : a"])],
    ["two spaces after a colon", usual(["Accept:  a"])],
    ["a space after a value", usual(["Accept: a "])],
    ["an empty value", usual(["Accept: "])],
    ["a tab in a value", usual(["Accept: a\tb"])],
    ["a NUL in a value", usual(["Accept: a\0b"])],
    ["a bare CR in a value", usual(["Accept: a\rb"])],
    ["a bare LF in a value", usual(["Accept: a\nX: b"])],
    ["a byte beyond ASCII", Buffer.from(usual(["Accept: \u00e9"]).toString(), "latin1")],
    ["a header without a name", usual([": a"])],
    ["a header without a colon", usual(["Accept"])],
    ["a length with a sign", Buffer.from(usual([]).toString().replace("Length: ", "Length: +"))],
    [
      "a length with a leading zero",
      Buffer.from(usual([]).toString().replace("Length: ", "Length: 0")),
    ],
    ["no length", Buffer.from(`POST /v1/plants HTTP/1.1\r\nHost: a\r\n\r\n`)],
    ["a body over the limit", usual([], " ".repeat(101))],
    ["a head over 4 KiB", usual([`Accept: ${"a".repeat(4096)}`])],
  ])("does not recognize %s", (_what, bytes) => {
    expect(parse(bytes, 0)).toBeUndefined();
  });
});

it("handles usual requests without node:http, and everything else through it", async () => {
  const count = countAnnouncedRequests();
  await using server = await startServer({ fastLane: true });
  const connection = await openRawConnection(server.port);
  connection.socket.write(post() + post());
  await connection.responses(2);
  expect(count()).toBe(0);
  connection.socket.write(post() + get("/nowhere") + post());
  await connection.responses(5);
  expect(statuses(connection.received())).toEqual([200, 200, 200, 404, 200]);
  expect(count()).toBe(2);
  connection.socket.destroy();
});

describe("while a usual request is in flight,", () => {
  it.each<[what: string, pieces: readonly string[]]>([
    ["in the same piece", [post() + get("/healthz") + get("/nowhere")]],
    ["in others", [post(), get("/healthz"), get("/nowhere")]],
    ["split", [post(), get("/healthz").slice(0, 9), get("/healthz").slice(9) + get("/nowhere")]],
  ])("unusual requests %s get their responses after it", async (_what, pieces) => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, fastLane: true });
    const connection = await openRawConnection(server.port);
    for (const piece of pieces) {
      connection.socket.write(piece);
      await untilRead(server.port);
    }
    expect(connection.received()).toBe("");
    held.release("created");
    await connection.responses(3);
    expect(statuses(connection.received())).toEqual([200, 200, 404]);
    connection.socket.write(post());
    await held.isWaiting(1);
    held.release("unchanged");
    await connection.responses(4);
    expect(server.errors).toEqual([]);
    connection.socket.destroy();
  });

  it("malformed HTTP is rejected after the response to the request", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, fastLane: true });
    const connection = await openRawConnection(server.port);
    connection.socket.write(post());
    await held.isWaiting(1);
    connection.socket.write("no request\r\n\r\n");
    await untilRead(server.port);
    held.release("created");
    await connection.ended();
    expect(statuses(connection.received())).toEqual([200, 400]);
    expect(connection.received()).toMatch(/"error":40000/);
  });

  it("a client that closes its side still gets the response", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, fastLane: true });
    const connection = await openRawConnection(server.port);
    connection.socket.end(post());
    await held.isWaiting(1);
    await untilRead(server.port);
    held.release("created");
    await connection.ended();
    expect(statuses(connection.received())).toEqual([200]);
    expect(server.errors).toEqual([]);
  });

  it("a client that disconnects is recorded, and its connection holds no memory", async () => {
    const held = createHeldStore();
    const records: RequestRecord[] = [];
    const onResponse = (record: RequestRecord): void => void records.push(record);
    await using server = await startServer({ store: held.store, onResponse, fastLane: true });
    const connection = await openRawConnection(server.port);
    connection.socket.write(post());
    await held.isWaiting(1);
    connection.reset();
    await expect.poll(() => server.server.readLoad().connections).toBe(0);
    held.release("created");
    await expect.poll(() => records).toMatchObject([{ status: 200, isAborted: true }]);
    expect(server.server.readLoad()).toEqual({ creates: 0, waitingBytes: 0, connections: 0 });
    expect(server.errors).toEqual([]);
  });

  it("its body counts as waiting bytes until its response is sent", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, fastLane: true });
    const connection = await openRawConnection(server.port);
    connection.socket.write(post());
    await held.isWaiting(1);
    const load = { creates: 1, waitingBytes: body.length, connections: 1 };
    expect(server.server.readLoad()).toEqual(load);
    held.release("created");
    await connection.responses(1);
    const idle = { creates: 0, waitingBytes: 0, connections: 1 };
    await expect.poll(() => server.server.readLoad()).toEqual(idle);
    connection.socket.destroy();
  });
});

describe("handles no request", () => {
  it.each<[what: string, request: string, responses: number]>([
    ["two Host headers", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 1],
    ["an upgrade", "GET /healthz HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n\r\n", 1],
    [
      "an empty transfer coding",
      "GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n",
      1,
    ],
  ])("in a separate packet after %s", async (_what, request, responses) => {
    const records: RequestRecord[] = [];
    const onResponse = (record: RequestRecord): void => void records.push(record);
    await using server = await startServer({ onResponse });
    const connection = await openRawConnection(server.port);
    connection.socket.write(request);
    await expect.poll(() => statuses(connection.received()).length).toBe(responses);
    connection.socket.write(post());
    connection.socket.write(post());
    await connection.ended();
    expect(await server.store.get(1n)).toBeUndefined();
    expect(records).toHaveLength(responses);
    expect(statuses(connection.received())).toHaveLength(responses);
  });
});

it("sends the response although the log throws", async () => {
  const bug = new Error("a bug in the log");
  const onResponse = (): void => {
    throw bug;
  };
  await using server = await startServer({ onResponse });
  expect((await exchangeRaw(server.port, post())).status).toBe(200);
  expect(server.errors).toEqual([bug]);
});

it("closes only the connection of a request whose handling throws", async () => {
  const failure = new Error("staged");
  let isFirst = true;
  const faults: ServerFaults = {
    maxDelayMs: 0,
    stop: () => {},
    async perform(create) {
      const result = await create();
      if (!isFirst) return result;
      isFirst = false;
      const throwFailure = (): never => {
        throw failure;
      };
      return Object.defineProperty({ ...result }, "body", { get: throwFailure });
    },
  };
  await using server = await startServer({ faults });
  const connections = await Promise.all([1, 2, 3].map(() => openRawConnection(server.port)));
  for (const { socket } of connections) socket.write(post());
  const outcomes = await Promise.allSettled(connections.map(({ responses }) => responses(1)));
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
  ]);
  expect(server.errors).toEqual([failure]);
  for (const { socket } of connections) socket.destroy();
  await expect
    .poll(() => server.server.readLoad())
    .toEqual({ creates: 0, waitingBytes: 0, connections: 0 });
});
