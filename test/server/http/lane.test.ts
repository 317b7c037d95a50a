/** The lane: which requests it handles, and when it hands a connection over to node:http. */
import { describe, expect, it } from "vitest";
import { createSimpleCreateParser } from "../../../src/server/http/lane.ts";
import type { ServerFaults } from "../../../src/server/faults.ts";
import { countAnnouncedRequests } from "../../helpers/announced-requests.ts";
import { startHeldServer } from "../../helpers/held-store.ts";
import { startServer } from "../../helpers/plant-server.ts";
import { exchangeRaw, openRawConnection, sendRaw, untilRead } from "../../helpers/raw-http.ts";
import { startRecordedServer } from "../../helpers/recorded-server.ts";
import { toRawCreate, toRawGet, toRawRequest } from "../../helpers/raw-request.ts";

const body = '{"id":1,"name":"fern"}';
const post = (headers = ""): string => toRawRequest(body, { headers });
const get = toRawGet;

describe("the parser of simple creates", () => {
  const parse = createSimpleCreateParser("/v1/plants", 100);
  const simple = (lines: readonly string[], content = body): Buffer =>
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

  const changed = (part: string, other: string): Buffer =>
    Buffer.from(simple([]).toString().replace(part, other));

  it("returns headers, body and end of the first of several requests", () => {
    const request = simple(["Authorization: Bearer x", "X-Request-Id:1"]);
    const bytes = Buffer.concat([Buffer.from("abc"), request, request]);
    const parsed = parse(bytes, 3);
    if (typeof parsed !== "object") throw new Error(`no create, but ${parsed}`);
    expect(parsed.head.headers).toEqual({
      host: "a",
      authorization: "Bearer x",
      "x-request-id": "1",
      "content-length": String(body.length),
    });
    expect(parsed.head.target).toBe("/v1/plants");
    const end = parsed.bodyStart + parsed.head.bodyLength;
    expect(bytes.toString("utf8", parsed.bodyStart, end)).toBe(body);
    expect(end).toBe(3 + request.length);
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
    expect(parse(simple(lines), 0)).toHaveProperty("head");
  });

  it("tells a head that is incomplete at any byte, and where a body will end", () => {
    const whole = simple([]);
    let known = 0;
    for (const length of whole.keys()) {
      const parsed = parse(whole.subarray(0, length), 0, known);
      expect(parse(whole.subarray(0, length), 0)).toEqual(parsed);
      if (length < whole.length - body.length) expect(parsed, `${length}`).toBeTypeOf("number");
      else expect(parsed, `${length}`).toMatchObject({ head: { bodyLength: body.length } });
      known = typeof parsed === "number" ? parsed : known;
    }
  });

  it.each([
    "X-Other: 1",
    "Accept{",
    "Accept : a",
    "Accept: a\rb",
    "Accept: a\0",
    "Accept\n: a",
    "",
    " a",
  ])("leaves an incomplete head once it has the line %j", (line) => {
    const head = Buffer.from(`POST /v1/plants HTTP/1.1\r\nHost: a\r\n${line}\r\nA`);
    const results = [...head.keys()].map((length) => parse(head.subarray(0, length + 1), 0));
    expect(results.at(-1)).toBeUndefined();
    expect(results[30]).toBeTypeOf("number");
  });

  it.each<[what: string, bytes: Buffer]>([
    ["a line break", Buffer.from("\r\n")],
    ["the end of a body", Buffer.from("}")],
    ["the beginning of another method", Buffer.from("PU")],
    ["an incomplete head over 4 KiB", simple([`Accept: ${"a".repeat(4096)}`]).subarray(0, 4097)],
    ["another path", changed("/v1/plants", "/plants")],
    ["a query", changed("/v1/plants", "/v1/plants?")],
    ["another method", changed("POST", "PUT")],
    ["HTTP/1.0", changed("HTTP/1.1", "HTTP/1.0")],
    ["an empty line before it", Buffer.concat([Buffer.from("\r\n"), simple([])])],
    ["an unknown header", simple(["X-Other: 1"])],
    ["a header twice", simple(["Accept: a", "accept: b"])],
    ["a second Host", simple(["host: b"])],
    ["an invalid Host", changed("Host: a", "Host: a b")],
    ["no Host", changed("Host: a\r\n", "")],
    ["another option in Connection", simple(["Connection: closed"])],
    ["Connection with two options", simple(["Connection: keep-alive, Upgrade"])],
    ["Expect", simple(["Expect: 100-continue"])],
    ["Transfer-Encoding", simple(["Transfer-Encoding: chunked"])],
    ["Content-Encoding", simple(["Content-Encoding: gzip"])],
    ["a folded line", simple(["Accept: a", " b"])],
    ["a space before a colon", simple(["Accept : a"])],
    ["two spaces after a colon", simple(["Accept:  a"])],
    ["a space after a value", simple(["Accept: a "])],
    ["an empty value", simple(["Accept: "])],
    ["a tab in a value", simple(["Accept: a\tb"])],
    ["a NUL in a value", simple(["Accept: a\0b"])],
    ["a bare CR in a value", simple(["Accept: a\rb"])],
    ["a bare LF in a value", simple(["Accept: a\nX: b"])],
    ["a byte beyond ASCII", Buffer.from(simple(["Accept: \u00e9"]).toString(), "latin1")],
    ["a header without a name", simple([": a"])],
    ["a header without a colon", simple(["Accept"])],
    ["a length with a sign", changed("Length: ", "Length: +")],
    ["a length with a leading zero", changed("Length: ", "Length: 0")],
    ["no length", Buffer.from(`POST /v1/plants HTTP/1.1\r\nHost: a\r\n\r\n`)],
    ["a body over the limit", simple([], " ".repeat(101))],
    ["a head over 4 KiB", simple([`Accept: ${"a".repeat(4096)}`])],
  ])("does not recognize %s", (_what, bytes) => {
    expect(parse(bytes, 0)).toBeUndefined();
  });
});

it("handles simple creates without node:http, and everything else through it", async () => {
  const count = countAnnouncedRequests();
  await using server = await startServer({ fastLane: true });
  using connection = await sendRaw(server.port, post() + post());
  await connection.responses(2);
  expect(count()).toBe(0);
  connection.socket.write(post() + get("/nowhere") + post());
  expect(await connection.results(5)).toEqual(["200", "200", "200", "404 40400", "200"]);
  expect(count()).toBe(2);
});

describe("after a create, a part of", () => {
  it.each<[what: string, options: { token?: string; type?: string }, result: string]>([
    ["a create with a wrong token", { token: "wrong" }, "400 40102"],
    ["a create without a Content-Type of JSON", { type: "text/plain" }, "400 41500"],
  ])("%s is rejected before its body has arrived", async (_what, options, result) => {
    await using server = await startServer({ fastLane: true });
    const { type = "application/json" } = options;
    const request = toRawCreate(2, "fern", options).replace("application/json", type);
    using connection = await sendRaw(server.port, post() + request.slice(0, -5));
    expect(await connection.results(2)).toEqual(["200", result]);
  });

  it("a create comes before what follows it in the next piece", async () => {
    await using server = await startServer({ fastLane: true, operations: "all" });
    const request = toRawCreate(2, "fern");
    const toDelete = toRawRequest("", { method: "DELETE", target: "/plants/2" });
    for (const cut of [5, request.length - 5]) {
      using connection = await sendRaw(server.port, post() + request.slice(0, cut));
      await connection.responses(1);
      connection.socket.write(request.slice(cut) + toRawCreate(2, "moss") + toDelete);
      expect(await connection.results(4)).toEqual(["200", "200", "400 40900", "204"]);
    }
  });

  it("no create is rejected at once", async () => {
    await using server = await startServer({ fastLane: true });
    using connection = await sendRaw(server.port, `${post()}}`);
    expect(await connection.resultsAtEnd()).toEqual(["200", "400 40000"]);
  });

  it("a create longer than 16 KiB is for node:http", async () => {
    const count = countAnnouncedRequests();
    await using server = await startServer({ fastLane: true });
    const send = async (length: number): Promise<void> => {
      const request = toRawCreate(1, "a".repeat(length));
      using connection = await sendRaw(server.port, post() + request.slice(0, -1));
      await connection.responses(1);
      connection.socket.write(request.slice(-1));
      await connection.responses(2);
    };
    await send(15_000);
    expect(count()).toBe(0);
    await send(16_384);
    expect(count()).toBe(1);
  });
});

describe("while a simple create is in flight,", () => {
  it.each<[what: string, pieces: readonly string[]]>([
    ["in the same piece", [post() + get("/healthz") + get("/nowhere")]],
    ["in others", [post(), get("/healthz"), get("/nowhere")]],
    ["split", [post(), get("/healthz").slice(0, 9), get("/healthz").slice(9) + get("/nowhere")]],
  ])("other requests %s get their responses after it", async (_what, pieces) => {
    await using server = await startHeldServer({ fastLane: true });
    using connection = await openRawConnection(server.port);
    for (const piece of pieces) {
      connection.socket.write(piece);
      await untilRead(server.port);
    }
    expect(connection.received()).toBe("");
    server.held.release("created");
    expect(await connection.results(3)).toEqual(["200", "200", "404 40400"]);
    connection.socket.write(post());
    await server.held.isWaiting(1);
    server.held.release("unchanged");
    await connection.responses(4);
    expect(server.errors).toEqual([]);
  });
});

describe("handles no request", () => {
  it.each([
    ["two Host headers", "Host: b\r\n\r\n"],
    ["an upgrade", "Upgrade: x\r\n\r\n"],
    ["an empty transfer coding", "Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n"],
  ])("in a separate packet after %s", async (_what, lines) => {
    await using server = await startRecordedServer();
    const request = `GET /healthz HTTP/1.1\r\nHost: a\r\n${lines}`;
    using connection = await sendRaw(server.port, request);
    await connection.responses(1);
    connection.socket.write(post());
    connection.socket.write(post());
    expect(await connection.resultsAtEnd()).toHaveLength(1);
    expect(await server.store.get(1n)).toBeUndefined();
    expect(server.records).toHaveLength(1);
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

it("fails only the request whose handling throws, with 50000", async () => {
  const failure = new Error("staged");
  let isFirst = true;
  const faults: ServerFaults = {
    maxDelayMs: 0,
    stop: () => {},
    delay: (read) => read(),
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
  const connections = await Promise.all([1, 2, 3].map(() => sendRaw(server.port, post())));
  const results = await Promise.all(connections.map((connection) => connection.results(1)));
  expect(results.flat().toSorted()).toEqual(["200", "200", "400 50000"]);
  expect(server.errors).toEqual([failure]);
  for (const { socket } of connections) socket.destroy();
  const none = { changes: 0, waitingBytes: 0, connections: 0 };
  await expect.poll(() => server.server.readLoad()).toEqual(none);
});

it.each(["Acc{ept: a", "Accept: \0", "Accept: a\rb"])(
  "rejects a head with %j before its end has arrived",
  async (line) => {
    await using server = await startServer({ fastLane: true });
    using connection = await sendRaw(server.port, `POST /plants HTTP/1.1\r\nHost: a\r\n${line}`);
    expect(await connection.results(1)).toEqual(["400 40000"]);
  },
);
