/** Usual requests whose rest arrives later: which of them the fast lane waits for, and how each wait ends. */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { maxRestMs } from "../../../src/server/http/fast-lane.ts";
import { digestToken } from "../../../src/auth/authenticator.ts";
import { countAnnouncedRequests } from "../../helpers/announced-requests.ts";
import { stopClock } from "../../helpers/clock.ts";
import { startHeldServer } from "../../helpers/held-store.ts";
import { startServer, type TestServer } from "../../helpers/plant-server.ts";
import {
  exchangeRaw,
  openRawConnection,
  type RawConnection,
  sendRaw,
  untilRead,
} from "../../helpers/raw-http.ts";
import { toRawCreate } from "../../helpers/raw-request.ts";

const request = toRawCreate(1);
const headEnd = request.indexOf("{");
const [head, body] = [request.slice(0, headEnd), request.slice(headEnd)];

/** Opens a connection that has written bytes, and resolves when the server waits for more. */
async function writePart({ port, server }: TestServer, bytes: string): Promise<RawConnection> {
  const connection = await sendRaw(port, bytes);
  while (server.readLoad().waitingBytes !== bytes.length) await nextTurn();
  return connection;
}

describe("a usual request in pieces", () => {
  it.each<[what: string, pieces: readonly string[]]>([
    ["cut before its body", [head, body]],
    ["cut within its body", [head + body.slice(0, 5), body.slice(5)]],
    ["cut twice", [head, body.slice(0, 5), body.slice(5)]],
    ["after a complete one", [request + head, body]],
    ["before another one", [head, body + head, body]],
    [
      "cut within its head, after a token was accepted",
      [request, head.slice(0, 30), head.slice(30) + body],
    ],
    ["cut within its head and its body", [request + head.slice(0, 30), head.slice(30), body]],
  ])("is handled without node:http if it is %s", async (_what, pieces) => {
    stopClock();
    const count = countAnnouncedRequests();
    await using server = await startServer({ fastLane: true });
    using connection = await openRawConnection(server.port);
    let complete = 0;
    for (const piece of pieces) {
      connection.socket.write(piece);
      // Each request is complete once its body has arrived.
      complete += piece.split("}").length - 1;
      await connection.responses(complete);
      await untilRead(server.port);
    }
    expect(await connection.results(complete)).toEqual(Array(complete).fill("200"));
    // The requests of untilRead.
    expect(count()).toBe(pieces.length);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(0);
    expect(server.errors).toEqual([]);
  });

  it.each([
    ["without node:http", 100_000, 0],
    ["through node:http", 200_000, 1],
  ])("is handled %s if it has %i bytes", async (_how, length, announced) => {
    stopClock();
    const count = countAnnouncedRequests();
    await using server = await startServer({ fastLane: true });
    const large = toRawCreate(2, "a".repeat(length));
    expect((await exchangeRaw(server.port, large)).status).toBe(200);
    expect((await server.store.get(2n))?.name).toHaveLength(length);
    expect(count()).toBe(announced);
  });

  it("is handled through node:http if its head is cut before a token was accepted", async () => {
    const count = countAnnouncedRequests();
    await using server = await startServer({ fastLane: true });
    using connection = await sendRaw(server.port, head.slice(0, 30));
    await untilRead(server.port);
    connection.socket.write(head.slice(30) + body);
    expect(await connection.results(1)).toEqual(["200"]);
    expect(count()).toBe(2);
  });

  it.each([
    ["an unknown token", head.replace(/Bearer \S+/, "Bearer unknown"), "400 40102"],
    ["no token", head.replace(/Authorization: .*\r\n/, ""), "400 40100"],
    ["another media type", head.replace("application/json", "text/plain"), "400 41500"],
  ])("is rejected before its body arrives if it has %s", async (_what, wrong, result) => {
    await using server = await startServer({ fastLane: true });
    using connection = await sendRaw(server.port, wrong);
    expect(await connection.results(1)).toEqual([result]);
  });

  it("is rejected if its token is revoked before its body arrives", async () => {
    await using server = await startServer({ fastLane: true });
    const digest = digestToken("chosen");
    await server.store.addToken({ digest, prefix: "", name: "", issuedAtMs: 0 });
    const other = toRawCreate(1, "fern", { token: "chosen" });
    using connection = await sendRaw(server.port, other);
    let results = await connection.results(1);
    while (!results.includes("400 40102")) {
      connection.socket.write(other.slice(0, -body.length));
      await untilRead(server.port);
      await server.store.endToken({ digest, revokedAtMs: Date.now() });
      connection.socket.write(body);
      results = await connection.results(results.length + 1);
    }
    expect(server.errors).toEqual([]);
  });

  it("gets its response after that of a create before it", async () => {
    stopClock();
    await using server = await startHeldServer({ fastLane: true });
    using connection = await sendRaw(server.port, request + head);
    await server.held.isWaiting(1);
    connection.socket.write(body);
    await server.held.isWaiting(2);
    expect(connection.received()).toBe("");
    server.held.release("created");
    expect(await connection.results(2)).toEqual(["200", "200"]);
  });
});

describe("the wait for a body", () => {
  it("ends with node:http if the body is slow", async () => {
    const count = countAnnouncedRequests();
    await using server = await startServer({ fastLane: true });
    using connection = await sendRaw(server.port, head + body.slice(0, 5));
    await expect.poll(count).toBe(1);
    connection.socket.write(body.slice(5));
    expect(await connection.results(1)).toEqual(["200"]);
  });

  it("ends with 40800 if the body does not arrive", async () => {
    await using server = await startServer({ fastLane: true, requestTimeoutMs: 600 });
    expect((await exchangeRaw(server.port, head)).body).toContain('"error":40800');
  });

  it("ends with 40800 if the next head arrives byte by byte, as one wait for all pieces", async () => {
    await using server = await startServer({ fastLane: true, requestTimeoutMs: 600 });
    using connection = await sendRaw(server.port, request);
    await connection.responses(1);
    let sent = 0;
    const timer = setInterval(() => connection.socket.write(head.charAt(sent++ % 50)), 20);
    expect(await connection.resultsAtEnd()).toEqual(["200", "400 40800"]);
    clearInterval(timer);
  });

  it("ends with node:http once the create before it has its response", async () => {
    const count = countAnnouncedRequests();
    await using server = await startHeldServer({ fastLane: true });
    using connection = await sendRaw(server.port, request + head);
    await server.held.isWaiting(1);
    await sleep(2 * maxRestMs);
    expect(server.server.readLoad().waitingBytes).toBe(body.length + head.length);
    server.held.release("created");
    await connection.responses(1);
    await expect.poll(count).toBe(1);
    connection.socket.write(body);
    await server.held.isWaiting(1);
    server.held.release("unchanged");
    expect(await connection.results(2)).toEqual(["200", "200"]);
  });

  it("ends with 50301 after the create before it if its bytes do not fit into memory", async () => {
    const maxWaitingBytes = head.length + body.length - 1;
    await using server = await startHeldServer({ fastLane: true, maxWaitingBytes });
    using connection = await sendRaw(server.port, request + head);
    await server.held.isWaiting(1);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(body.length);
    server.held.release("created");
    expect(await connection.resultsAtEnd()).toEqual(["200", "400 50301"]);
  });

  it("ends with 40000 if the client closes its side", async () => {
    await using server = await startServer({ fastLane: true });
    using connection = await openRawConnection(server.port);
    connection.socket.end(head);
    expect(await connection.resultsAtEnd()).toEqual(["400 40000"]);
  });

  it("ends with node:http if head and body do not fit into memory", async () => {
    stopClock();
    const count = countAnnouncedRequests();
    await using server = await startServer({ fastLane: true, maxWaitingBytes: head.length });
    using connection = await writePart(server, head);
    connection.socket.write(body);
    expect(await connection.results(1)).toEqual(["200"]);
    expect(count()).toBe(1);
  });

  it("ends with 50301 if the body alone does not fit into memory", async () => {
    const maxWaitingBytes = body.length - 1;
    await using server = await startServer({ fastLane: true, maxWaitingBytes });
    using connection = await sendRaw(server.port, head);
    await untilRead(server.port);
    connection.socket.write(body);
    expect(await connection.results(1)).toEqual(["400 50301"]);
  });

  it("ends with node:http if another client needs the memory", async () => {
    const count = countAnnouncedRequests();
    const limits = { maxWaitingBytes: head.length + body.length, requestTimeoutMs: 1200 };
    await using server = await startServer({ fastLane: true, ...limits });
    using slow = await writePart(server, head);
    // A transfer is slow after a twelfth of the request timeout.
    await sleep(110);
    const large = toRawCreate(2, "a".repeat(head.length - 5));
    expect((await exchangeRaw(server.port, large)).status).toBe(200);
    expect(count()).toBe(1);
    slow.socket.write(body);
    expect(await slow.results(1)).toEqual(["200"]);
  });

  it("counts as waiting bytes, and no longer if the client disconnects", async () => {
    await using server = await startServer({ fastLane: true });
    using connection = await writePart(server, head);
    connection.reset();
    const none = { creates: 0, waitingBytes: 0, connections: 0 };
    await expect.poll(() => server.server.readLoad()).toEqual(none);
  });

  it.each([0, 100, 5000])("ends with 50300 if the server stops within %i ms", async (timeoutMs) => {
    await using server = await startServer({ fastLane: true });
    using connection = await writePart(server, head);
    await server.server.close(timeoutMs);
    expect(await connection.resultsAtEnd()).toEqual(["400 50300"]);
  });

  it("does not end although the server stops, if the body arrives at once", async () => {
    stopClock();
    await using server = await startHeldServer({ fastLane: true });
    using connection = await sendRaw(server.port, request + head);
    await server.held.isWaiting(1);
    const closed = server.server.close(5000);
    server.held.release("created");
    await connection.responses(1);
    connection.socket.write(body);
    await server.held.isWaiting(1);
    server.held.release("unchanged");
    expect(await connection.results(2)).toEqual(["200", "200"]);
    connection.socket.destroy();
    await closed;
  });

  it("keeps the connection, although another one needs its place", async () => {
    stopClock();
    await using server = await startServer({ fastLane: true, maxConnections: 1 });
    using connection = await writePart(server, head);
    using other = await openRawConnection(server.port);
    expect(await other.resultsAtEnd()).toEqual(["400 50301"]);
    other.socket.destroy();
    connection.socket.write(body);
    expect(await connection.results(1)).toEqual(["200"]);
  });

  it("leaves an idle connection, which gives its place to another one", async () => {
    stopClock();
    await using server = await startServer({ fastLane: true, maxConnections: 1 });
    using connection = await writePart(server, head);
    connection.socket.write(body);
    await connection.responses(1);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(0);
    expect((await exchangeRaw(server.port, request)).status).toBe(200);
    await connection.ended();
  });
});

it("ends the connection after a usual request with Connection: close", async () => {
  const count = countAnnouncedRequests();
  await using server = await startServer({ fastLane: true });
  const last = toRawCreate(1, "fern", { headers: "Connection: close\r\n" });
  using connection = await sendRaw(server.port, last + request);
  expect(await connection.resultsAtEnd()).toEqual(["200"]);
  expect(connection.received()).toContain("\r\nConnection: close\r\n");
  expect(count()).toBe(0);
});
