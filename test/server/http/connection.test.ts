/** Connections: order of responses, early rejections, slow and half-closed clients, and the stop of the server. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { StoreError, type StoreErrorReason } from "../../../src/core/store.ts";
import { stopClock } from "../../helpers/clock.ts";
import { createHeldAuthenticator } from "../../helpers/held-authenticator.ts";
import { startHeldServer } from "../../helpers/held-store.ts";
import { openServer, startServer, testToken } from "../../helpers/plant-server.ts";
import { exchangeRaw, openRawConnection, sendRaw, untilRead } from "../../helpers/raw-http.ts";
import { toRawCreate, toRawGet, toRawHead } from "../../helpers/raw-request.ts";

const head = toRawHead();
const create = toRawCreate;
const getHealth = toRawGet("/healthz");

it("keeps a connection open after a body over the limit that arrived completely before it was rejected", async () => {
  await using server = await startServer({ maxBodyBytes: 1000 });
  using connection = await openRawConnection(server.port);
  connection.socket.write(`${head}Content-Length: 5000\r\n\r\n${"a".repeat(5000)}${create(1)}`);
  expect(await connection.results(2)).toEqual(["400 41300", "200"]);
});

describe("reports what is malformed in", () => {
  it.each([
    ["the method", "FOO /plants HTTP/1.1\r\nHost: a\r\n\r\n", "Invalid method encountered"],
    ["the version", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "it is HTTP/2"],
    ["a header", "GET / HTTP/1.1\r\nHo st: a\r\n\r\n", "Invalid header token"],
    [
      "the chunks",
      `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      "Invalid character in chunk size",
    ],
  ])("%s", async (_part, bytes, reason) => {
    await using server = await startServer();
    const { body } = await exchangeRaw(server.port, bytes);
    expect(JSON.parse(body)).toEqual({
      error: 40000,
      message: `the request is not well-formed HTTP/1.1 (${reason})`,
    });
  });
});

describe("the server closes a connection", () => {
  const wrong = toRawHead({ token: "x" });

  it.each([
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "405 40500"],
    ["malformed HTTP", "nonsense\r\n\r\n", "400 40000"],
  ])("after its response to %s, which comes after earlier ones", async (_what, bytes, last) => {
    await using server = await startHeldServer();
    using connection = await sendRaw(server.port, create(1) + bytes);
    await server.held.isWaiting(1);
    await untilRead(server.port);
    expect(connection.received()).toBe("");
    server.held.release("created");
    expect(await connection.resultsAtEnd()).toEqual(["200", last]);
  });

  it.each([
    ["that the client continues to send", 10_000_000, 200_000],
    ["that the client does not send", 10_000_000, 500],
    ["that is too long to discard", 5000, 2500],
  ])("after it rejected a body over the limit %s", async (_what, length, sent) => {
    await using server = await startServer({ maxBodyBytes: 1000 });
    using connection = await openRawConnection(server.port);
    connection.socket.write(`${head}Content-Length: ${length}\r\n\r\n${"a".repeat(sent)}`);
    const [response] = await connection.responses(1);
    expect(response?.headers["connection"]).toBe("close");
    expect(await connection.resultsAtEnd()).toEqual(["400 41300"]);
    expect(connection.failure()).toBeUndefined();
    await expect.poll(() => server.server.readLoad().connections).toBe(0);
  });

  it("after it rejected an expectation, although the client waits for 100", async () => {
    await using server = await startServer();
    const expecting = `${wrong}Expect: 100-continue\r\nContent-Length: 20\r\n\r\n`;
    using connection = await sendRaw(server.port, expecting);
    const [response] = await connection.responses(1);
    expect(response).toMatchObject({ status: 400, headers: { connection: "close" } });
    await connection.ended();
    await expect.poll(() => server.server.readLoad().connections).toBe(0);
  });

  it("during the stop if its client reads no response", async () => {
    let responses = 0;
    const onResponse = (): void => void responses++;
    await using server = await startServer({ requestTimeoutMs: 1500, onResponse });
    using connection = await openRawConnection(server.port);
    connection.socket.pause();
    connection.socket.write(getHealth.repeat(50_000));
    await expect.poll(() => responses).toBeGreaterThan(0);
    await expect(server.server.close(3_600_000)).resolves.toBeUndefined();
  });

  it.each([
    ["its headers", "POST /plants HTTP/1.1\r\nHost: localhost\r\nX:", "400 40800"],
    ["its body", `${head}Content-Length: 100\r\n\r\n{"id":1,`, "400 40800"],
    ["the rest of a rejected body", `${wrong}Content-Length: 9\r\n\r\n{"id":1,`, "400 40102"],
  ])("when a request takes too long for %s", async (_what, bytes, result) => {
    // After twice this time without traffic, the connection is closed without a response: a busy machine needs the difference.
    await using server = await startServer({ requestTimeoutMs: 1500 });
    using connection = await sendRaw(server.port, bytes);
    expect(await connection.resultsAtEnd()).toEqual([result]);
  });
});

it.each(["/plants", "/healthz", "/readyz", "/openapi.json", "/docs", "/nowhere"])(
  "responds to HEAD of %s like to GET, without the body",
  async (path) => {
    await using server = await startServer();
    const [ofHead, ofGet] = await Promise.all(
      ["HEAD", "GET"].map((method) => server.fetch(new URL(path, server.url), { method })),
    );
    const names = ["allow", "cache-control", "content-type"];
    expect(ofHead?.status).toBe(ofGet?.status);
    for (const name of names) expect(ofHead?.headers.get(name)).toBe(ofGet?.headers.get(name));
    expect(await ofHead?.text()).toBe("");
    expect(await ofGet?.text()).not.toBe("");
  },
);

it("responds to HEAD before its body arrives", async () => {
  await using server = await startServer();
  using connection = await openRawConnection(server.port);
  connection.socket.write("HEAD /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
  await expect.poll(connection.received).toMatch(/^HTTP\/1\.1 405 [^]*\r\n\r\n$/);
});

describe("rejects a head that arrives in pieces for the limit that it exceeds:", () => {
  const line = "POST /plants HTTP/1.1\r\nHost: a\r\n";
  it.each<[what: string, pieces: readonly string[], error: number]>([
    [
      "a long target in two pieces",
      [`POST /plants?${"a".repeat(9000)}`, `${"a".repeat(9000)}${line.slice(12)}\r\n`],
      41400,
    ],
    ["large headers after the request line", [line, `X-A: ${"b".repeat(30_000)}\r\n\r\n`], 43100],
    ["a target too long to be read", [`GET /${"a".repeat(300_000)} HTTP/1.1\r\n\r\n`], 43100],
    ["headers of many words", [line, `X-A: ${"b ".repeat(60_000)}\r\n\r\n`], 43100],
  ])("%s", async (_what, pieces, error) => {
    await using server = await startServer();
    using connection = await openRawConnection(server.port);
    for (const piece of pieces) {
      connection.socket.write(piece);
      await untilRead(server.port);
    }
    expect(await connection.results(1)).toEqual([`400 ${error}`]);
  });

  it("accepts a target and headers that are both just within their limits", async () => {
    await using server = await startServer();
    const target = `/plants?${"a".repeat(8000)}`;
    const long = create(1, "fern", { target, headers: `X-A: ${"b".repeat(15_000)}\r\n` });
    expect((await exchangeRaw(server.port, long)).status).toBe(200);
  });
});

const upgrade = "Connection: Upgrade\r\nUpgrade: h2c\r\n";

it("responds in order up to a request for another protocol, and closes the connection", async () => {
  await using server = await startServer();
  const before = create(1) + getHealth.repeat(3) + create(1, "moss");
  const requests = before + create(2, "fern", { headers: upgrade });
  using connection = await sendRaw(server.port, requests + create(3));
  const results = ["200", "200", "200", "200", "400 40900", "200"];
  expect(await connection.resultsAtEnd()).toEqual(results);
  expect(connection.received()).toContain("Connection: close\r\n");
  expect(await server.store.get(3n)).toBeUndefined();
});

it("reads the body of a request for another protocol that arrives while responses are owed", async () => {
  await using server = await startHeldServer();
  using connection = await sendRaw(server.port, getHealth);
  await connection.responses(1);
  const request = create(2, "fern", { headers: upgrade });
  connection.socket.write(create(1) + request.slice(0, -5));
  await server.held.isWaiting(1);
  await untilRead(server.port);
  connection.socket.write(request.slice(-5));
  await untilRead(server.port);
  server.held.release("created");
  await server.held.isWaiting(1);
  server.held.release("created");
  expect(await connection.resultsAtEnd()).toEqual(["200", "200", "200"]);
});

it("reads a request for another protocol once, whichever header of a connection names it", async () => {
  await using server = await startServer();
  const proxy = "GET / HTTP/1.1\r\nHost: h\r\nProxy-Connection: Upgrade\r\nUpgrade: x\r\n\r\n";
  expect(await exchangeRaw(server.port, proxy)).toMatchObject({ status: 404 });
  expect(await exchangeRaw(server.port, getHealth)).toMatchObject({ status: 200 });
});

it("rejects a malformed chunk of a request for another protocol at once", async () => {
  await using server = await startServer({ requestTimeoutMs: 3_600_000 });
  const chunked = `${toRawHead({ headers: upgrade })}Transfer-Encoding: chunked\r\n\r\n`;
  using connection = await sendRaw(server.port, chunked);
  connection.socket.write("z\r\n");
  expect(await connection.resultsAtEnd()).toEqual(["400 40000"]);
});

describe("rejects a request line with two spaces", () => {
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n16\r\n{"id":2,"name":"moss"}\r\n0\r\n\r\n`;
  const long = create(2, "moss", { headers: "X-Other: yes\r\n" });

  it.each([
    ["before the target", "", "POST  /plants HTTP/1.1"],
    ["after it", "", "POST /plants  HTTP/1.1"],
    ["after empty lines", "", "\r\n\r\nPOST  /plants HTTP/1.1"],
    ["after a request without a body", getHealth, "POST  /plants HTTP/1.1"],
    ["after a body", long, "POST  /plants HTTP/1.1"],
    ["after a chunked body", chunked, "\r\nPOST  /plants HTTP/1.1"],
  ])("%s", async (_where, before, line) => {
    await using server = await startServer();
    const rejected = create(1).replace("POST /plants HTTP/1.1", line);
    using connection = await sendRaw(server.port, before + rejected);
    const results = await connection.resultsAtEnd();
    expect(results).toEqual([...(before === "" ? [] : ["200"]), "400 40000"]);
    expect(connection.received()).toContain("its first line has two spaces in a row");
    expect(await server.store.get(1n)).toBeUndefined();
  });

  it("that is cut anywhere", async () => {
    await using server = await startServer();
    const rejected = create(1).replace(" HTTP", "  HTTP");
    for (let cut = 1; cut < rejected.indexOf("\n"); cut++) {
      // The head before it is cut as well.
      using connection = await sendRaw(server.port, getHealth.slice(0, -2));
      await untilRead(server.port);
      connection.socket.write(getHealth.slice(-2));
      await connection.responses(1);
      connection.socket.write(rejected.slice(0, cut));
      await untilRead(server.port);
      connection.socket.write(rejected.slice(cut));
      expect(await connection.resultsAtEnd()).toEqual(["200", "400 40000"]);
    }
    expect(await server.store.get(1n)).toBeUndefined();
  });
});

it("accepts two spaces in a body that is cut anywhere", async () => {
  await using server = await startServer();
  using connection = await sendRaw(server.port, getHealth);
  await connection.responses(1);
  const request = create(1, "a  b", { headers: "X-A:  b  c\r\n" });
  for (const character of request) {
    connection.socket.write(character);
    await untilRead(server.port);
  }
  expect(await connection.results(2)).toEqual(["200", "200"]);
});

describe("rejects a request at once that the end of the connection cuts in", () => {
  const chunks = "Transfer-Encoding: chunked\r\n\r\n";
  it.each([
    ["its head", head],
    ["its body", create(1).slice(0, -1)],
    ["its chunks", `${head}${chunks}16\r\n{"id":1,`],
    ["its body, with Upgrade", create(1, "fern", { headers: upgrade }).slice(0, -1)],
    ["its chunks, with Upgrade", `${head}${upgrade}${chunks}16\r\n{"id":1,`],
    ["the end of its chunks, with Upgrade", `${head}${upgrade}${chunks}2\r\n{}\r\n0\r\n`],
  ])("%s", async (_part, bytes) => {
    await using server = await startServer({ requestTimeoutMs: 3_600_000 });
    using connection = await openRawConnection(server.port);
    connection.socket.end(bytes);
    expect(await connection.resultsAtEnd()).toEqual(["400 40000"]);
    expect(connection.received()).toContain("the connection ended before the request did");
    expect(server.errors).toEqual([]);
  });

  it("a rejected body with Upgrade, whose response it has", async () => {
    await using server = await startServer({ requestTimeoutMs: 3_600_000 });
    using connection = await openRawConnection(server.port);
    const rejected = create(1, "fern", { headers: upgrade, token: "x" });
    connection.socket.write(rejected.slice(0, -1));
    await connection.responses(1);
    connection.socket.end();
    expect(await connection.resultsAtEnd()).toEqual(["400 40102"]);
  });
});

describe("discards a rejected body of unknown length", () => {
  const chunked = `${toRawHead({ token: "x" })}Transfer-Encoding: chunked\r\n\r\n`;

  it("up to the limit, and responds to the next request", async () => {
    await using server = await startServer({ maxBodyBytes: 1000 });
    using connection = await sendRaw(server.port, `${chunked}3e8\r\n${"a".repeat(500)}`);
    const [response] = await connection.responses(1);
    expect(response?.headers["connection"]).toBe("keep-alive");
    connection.socket.write(`${"a".repeat(500)}\r\n0\r\n\r\n${create(1)}`);
    expect(await connection.results(2)).toEqual(["400 40102", "200"]);
  });

  it("only up to the limit, and closes the connection then", async () => {
    await using server = await startServer({ maxBodyBytes: 1000 });
    using connection = await sendRaw(server.port, `${chunked}3e8\r\n${"a".repeat(1000)}\r\n`);
    await connection.responses(1);
    connection.socket.write(`1\r\na\r\n0\r\n\r\n${create(1)}`);
    expect(await connection.resultsAtEnd()).toEqual(["400 40102"]);
    expect(connection.failure()).toBeUndefined();
  });

  it("of a request that sends the body after Expect, only if the server asked for it", async () => {
    await using server = await startServer();
    using connection = await openRawConnection(server.port);
    const expecting = chunked.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");
    connection.socket.write(expecting);
    const [response] = await connection.responses(1);
    expect(response?.headers["connection"]).toBe("close");
    connection.socket.write(`2\r\n{}\r\n0\r\n\r\n${create(1)}`);
    expect(await connection.resultsAtEnd()).toEqual(["400 40102"]);
  });
});

it("sends the response to a client that closes its side after the request", async () => {
  await using server = await startHeldServer();
  using connection = await openRawConnection(server.port);
  connection.socket.end(create(1));
  await server.held.isWaiting(1);
  server.held.release("created");
  expect(await connection.resultsAtEnd()).toEqual(["200"]);
  expect(server.errors).toEqual([]);
});

describe("sends all responses to a client that closes its side during the credential check of", () => {
  it.each<[what: string, bytes: string, count: number]>([
    ["a large body", create(1, "f".repeat(40_000)), 1],
    [
      "a chunked body",
      `${head}Transfer-Encoding: chunked\r\n\r\n16\r\n{"id":1,"name":"fern"}\r\n0\r\n\r\n`,
      1,
    ],
    ["a simple and another request", create(1) + getHealth, 2],
    ["large and small requests", create(1, "f".repeat(40_000)) + create(2) + getHealth, 3],
  ])("%s", async (_what, bytes, count) => {
    const { authenticator, release } = createHeldAuthenticator();
    await using server = await startServer({ authenticator });
    using connection = await openRawConnection(server.port);
    connection.socket.end(bytes);
    await untilRead(server.port);
    release();
    expect(await connection.resultsAtEnd()).toEqual(Array(count).fill("200"));
  });
});

describe("after CONNECT", () => {
  const tunnel = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";

  it("reports no error for a reset", async () => {
    await using server = await startServer();
    for (let count = 0; count < 20; count++) {
      using connection = await openRawConnection(server.port);
      connection.socket.write(tunnel, () => connection.reset());
      await connection.ended();
    }
    expect(await exchangeRaw(server.port, create(1))).toMatchObject({ status: 200 });
    expect(server.errors).toEqual([]);
  });

  it("sends a response that a client can read although it sends more", async () => {
    await using server = await startServer();
    using connection = await sendRaw(server.port, tunnel + "x".repeat(100_000));
    const sending = setInterval(() => void connection.socket.write("x".repeat(10_000)), 50);
    expect(await connection.resultsAtEnd()).toEqual(["405 40500"]);
    clearInterval(sending);
    expect(connection.failure()).toBeUndefined();
  });

  it("sends no response if a malformed request came before", async () => {
    await using server = await startServer();
    using connection = await sendRaw(server.port, `GET /healthz HTTP/1.1\r\n\r\n${tunnel}`);
    expect(await connection.resultsAtEnd()).toEqual(["400 40000"]);
    expect(connection.received()).toContain("Connection: close\r\n");
  });

  it("closes the connection of a client that does not read", async () => {
    await using server = await startHeldServer({ requestTimeoutMs: 2000 });
    using connection = await openRawConnection(server.port);
    connection.socket.pause();
    // Together, the responses are larger than the buffers between the two.
    const creates = Array.from({ length: 8 }, (_, id) => create(id, "a".repeat(1_000_000)));
    connection.socket.write(creates.join("") + tunnel);
    await server.held.isWaiting(8);
    server.held.release("created");
    const closed = { changes: 0, waitingBytes: 0, connections: 0 };
    await expect.poll(() => server.server.readLoad()).toEqual(closed);
  });
});

it("stores nothing and reports no error for a client that disconnects in the middle of a request", async () => {
  await using server = await startServer();
  for (const part of [20, head.length, head.length + 40]) {
    const connection = await sendRaw(server.port, create(1).slice(0, part));
    await untilRead(server.port);
    connection.socket.destroy();
  }
  await exchangeRaw(server.port, create(2));
  expect(await server.store.get(1n)).toBeUndefined();
  expect(server.errors).toEqual([]);
});

describe("responds to a failure of the store with", () => {
  it.each<[reason: StoreErrorReason, error: number]>([
    ["full", 50700],
    ["busy", 50302],
    ["closed", 50300],
    ["failed", 50000],
  ])("%s: %i", async (reason, error) => {
    await using server = await startHeldServer();
    const failure = new StoreError(reason, "disk I/O error in /secret/place");
    const pending = exchangeRaw(server.port, create(1));
    await server.held.isWaiting(1);
    server.held.release(failure);
    const response = await pending;
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body)).toMatchObject({ error });
    expect(response.body).not.toContain("secret");
    expect(response.headers["retry-after"]).toBe([50300, 50302].includes(error) ? "1" : undefined);
    expect(server.errors).toEqual([failure]);
  });

  it("50000 for an unexpected error, without its message", async () => {
    await using server = await startHeldServer();
    const pending = exchangeRaw(server.port, create(1));
    await server.held.isWaiting(1);
    server.held.release(new TypeError("x is not a function"));
    expect((await pending).body).toMatch(/^\{"error":50000,"message":"[a-z :]+"\}$/);
    expect(server.errors).toMatchObject([{ message: "x is not a function" }]);
  });

  it("50000 for an error that is thrown before the store is used, and continues", async () => {
    const failure = new TypeError("x is not a function");
    let isFirst = true;
    const isFresh = (): boolean => {
      if (!isFirst) return true;
      isFirst = false;
      throw failure;
    };
    const authenticator = {
      accepts: () => true,
      isFresh,
      refresh: async () => {},
      check: () => undefined,
    };
    await using server = await startServer({ authenticator });
    expect((await exchangeRaw(server.port, create(1))).body).toContain('"error":50000');
    expect(server.errors).toEqual([failure]);
    expect((await exchangeRaw(server.port, create(1))).status).toBe(200);
  });
});

describe("close", () => {
  it("sends the responses in flight, closes idle connections, and accepts no new ones", async () => {
    const server = await startHeldServer();
    using idle = await openRawConnection(server.port);
    using busy = await sendRaw(server.port, create(1));
    await server.held.isWaiting(1);
    const closing = server.server.close(5000);
    await idle.ended();
    const late = await openRawConnection(server.port).catch((error: unknown) => error);
    expect(late).toMatchObject({ code: "ECONNREFUSED" });
    server.held.release("created");
    await closing;
    expect(await busy.resultsAtEnd()).toEqual(["200"]);
    expect(busy.received()).toContain("Connection: close");
  });

  it("lets a slow client read its response to the end", async () => {
    await using server = await startServer({ maxBodyBytes: 8 * 1024 * 1024 });
    using connection = await openRawConnection(server.port);
    connection.socket.pause();
    connection.socket.write(create(1, "a".repeat(7_000_000)));
    await expect.poll(async () => server.store.get(1n)).toBeDefined();
    const closing = server.server.close(60_000);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    connection.socket.resume();
    await closing;
    await connection.ended();
    expect(connection.received().length).toBeGreaterThan(7_000_000);
  });

  it.each([
    ["checks the credential of a request that was arriving", "wrong", "400 40102"],
    ["handles a request that was arriving", testToken, "200"],
  ])("%s", async (_what, token, result) => {
    await using server = await startServer();
    const request = create(1, "fern", { token });
    using connection = await sendRaw(server.port, request.slice(0, 30));
    await untilRead(server.port);
    stopClock();
    const closing = server.server.close(5000);
    connection.socket.write(request.slice(30));
    expect(await connection.resultsAtEnd()).toEqual([result]);
    connection.socket.destroy();
    await closing;
    expect(connection.received()).toContain("Connection: close\r\n");
    expect(await server.store.count({})).toBe(result === "200" ? 1 : 0);
  });
});

it("accepts a request timeout that is not divisible by three", async () => {
  await using server = await startServer({ requestTimeoutMs: 20_000 });
  expect((await exchangeRaw(server.port, getHealth)).status).toBe(200);
});

describe("a server that listens but is not started", () => {
  const getReadiness = toRawGet("/readyz");

  it("lets 256 creates wait, rejects further ones with 50301, and responds to other requests", async () => {
    await using server = await openServer();
    const connections = await Promise.all(
      Array.from({ length: 8 }, () => openRawConnection(server.port)),
    );
    for (const [index, { socket }] of connections.entries()) {
      const ids = Array.from({ length: 32 }, (_, offset) => 32 * index + offset);
      socket.write(ids.map((id) => create(id)).join(""));
      await untilRead(server.port);
    }
    const early = await exchangeRaw(server.port, create(256));
    expect(early).toMatchObject({ status: 400, headers: { "retry-after": "1" } });
    expect(early.body).toContain('"error":50301');
    const rejected = await exchangeRaw(server.port, create(256).replace("Bearer", "Basic"));
    expect(rejected.body).toContain('"error":40101');
    expect(await exchangeRaw(server.port, getReadiness)).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
    expect(await exchangeRaw(server.port, getHealth)).toMatchObject({ status: 200 });
    expect(connections.map(({ received }) => received()).join("")).toBe("");
    server.start();
    for (const { results, socket } of connections) {
      expect(await results(32)).toEqual(Array(32).fill("200"));
      socket.destroy();
    }
    expect(await exchangeRaw(server.port, create(256))).toMatchObject({ status: 200 });
    expect(await exchangeRaw(server.port, getReadiness)).toMatchObject({ status: 200 });
  });

  it("sends 50301 to a create that waited for half of the request timeout", async () => {
    await using server = await openServer({ requestTimeoutMs: 1500 });
    expect((await exchangeRaw(server.port, create(1))).body).toContain('"error":50301');
  });

  it("sends 50300 to creates that wait when it stops", async () => {
    await using server = await openServer();
    const waiting = exchangeRaw(server.port, create(1));
    await untilRead(server.port);
    await server.server.close(3_600_000);
    expect((await waiting).body).toContain('"error":50300');
  });

  it("accepts 512 connections, so that descriptors are left for its store", async () => {
    await using server = await openServer();
    const sockets = Array.from({ length: 600 }, () =>
      connect(server.port, "127.0.0.1").on("error", () => {}),
    );
    await Promise.all(sockets.slice(512).map((socket) => once(socket, "close")));
    expect(server.server.readLoad().connections).toBe(512);
    server.start();
    sockets.push(...Array.from({ length: 88 }, () => connect(server.port, "127.0.0.1")));
    await expect.poll(() => server.server.readLoad().connections).toBe(600);
    for (const socket of sockets) socket.destroy();
  });
});
