/** Usual requests whose rest arrives later: which of them the fast lane waits for, and how each wait ends. */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { maxRestMs } from "../../../src/server/http/fast-lane.ts";
import { digestToken } from "../../../src/auth/authenticator.ts";
import type { Connection } from "../../conformance/connection.ts";
import { countAnnouncedRequests } from "../../helpers/announced-requests.ts";
import { stopClock } from "../../helpers/clock.ts";
import { createHeldStore } from "../../helpers/held-store.ts";
import { startServer, type TestServer } from "../../helpers/plant-server.ts";
import { exchangeRaw, openRawConnection, untilRead } from "../../helpers/raw-http.ts";
import { toRawCreate } from "../../helpers/raw-request.ts";

const request = toRawCreate(1);
const headEnd = request.indexOf("{");
const [head, body] = [request.slice(0, headEnd), request.slice(headEnd)];
const statuses = (text: string): number[] =>
  Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status));

/** Opens a connection that has written bytes, and resolves when the server waits for more. */
async function writePart({ port, server }: TestServer, bytes: string): Promise<Connection> {
  const connection = await openRawConnection(port);
  connection.socket.write(bytes);
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
    const connection = await openRawConnection(server.port);
    let written = "";
    for (const piece of pieces) {
      connection.socket.write(piece);
      written += piece;
      // Each of them is complete once its body has arrived.
      await connection.responses(written.split("}").length - 1);
      await untilRead(server.port);
    }
    expect(statuses(connection.received())).toEqual(written.match(/POST/g)?.map(() => 200));
    // The requests of untilRead.
    expect(count()).toBe(pieces.length);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(0);
    expect(server.errors).toEqual([]);
    connection.socket.destroy();
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
    const connection = await openRawConnection(server.port);
    connection.socket.write(head.slice(0, 30));
    await untilRead(server.port);
    connection.socket.write(head.slice(30) + body);
    await connection.responses(1);
    expect(statuses(connection.received())).toEqual([200]);
    expect(count()).toBe(2);
    connection.socket.destroy();
  });

  it.each([
    ["an unknown token", head.replace(/Bearer \S+/, "Bearer unknown"), 40_102],
    ["no token", head.replace(/Authorization: .*\r\n/, ""), 40_100],
    ["another media type", head.replace("application/json", "text/plain"), 41_500],
  ])("is rejected before its body arrives if it has %s", async (_what, wrong, error) => {
    await using server = await startServer({ fastLane: true });
    const connection = await openRawConnection(server.port);
    connection.socket.write(wrong);
    const [response] = await connection.responses(1);
    expect(response?.body).toContain(`"error":${error}`);
    connection.socket.destroy();
  });

  it("is rejected if its token is revoked before its body arrives", async () => {
    await using server = await startServer({ fastLane: true });
    const digest = digestToken("chosen");
    await server.store.addToken({ digest, prefix: "", name: "", issuedAtMs: 0 });
    const other = toRawCreate(1, "fern", { token: "chosen" });
    const { socket, responses, received } = await openRawConnection(server.port);
    socket.write(other);
    await responses(1);
    for (let count = 2; !received().includes("40102"); count++) {
      socket.write(other.slice(0, -body.length));
      await untilRead(server.port);
      await server.store.endToken({ digest, revokedAtMs: Date.now() });
      socket.write(body);
      await responses(count);
    }
    expect(server.errors).toEqual([]);
    socket.destroy();
  });

  it("gets its response after that of a create before it", async () => {
    stopClock();
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, fastLane: true });
    const connection = await openRawConnection(server.port);
    connection.socket.write(request + head);
    await held.isWaiting(1);
    connection.socket.write(body);
    await held.isWaiting(2);
    expect(connection.received()).toBe("");
    held.release("created");
    await connection.responses(2);
    expect(statuses(connection.received())).toEqual([200, 200]);
    connection.socket.destroy();
  });
});

describe("the wait for a body", () => {
  it("ends with node:http if the body is slow", async () => {
    const count = countAnnouncedRequests();
    await using server = await startServer({ fastLane: true });
    const connection = await openRawConnection(server.port);
    connection.socket.write(head + body.slice(0, 5));
    await expect.poll(count).toBe(1);
    connection.socket.write(body.slice(5));
    await connection.responses(1);
    expect(statuses(connection.received())).toEqual([200]);
    connection.socket.destroy();
  });

  it("ends with 40800 if the body does not arrive", async () => {
    await using server = await startServer({ fastLane: true, requestTimeoutMs: 600 });
    expect((await exchangeRaw(server.port, head)).body).toContain('"error":40800');
  });

  it("ends with 40800 if the next head arrives byte by byte, as one wait for all pieces", async () => {
    await using server = await startServer({ fastLane: true, requestTimeoutMs: 600 });
    const connection = await openRawConnection(server.port);
    connection.socket.write(request);
    await connection.responses(1);
    let sent = 0;
    const timer = setInterval(() => connection.socket.write(head.charAt(sent++ % 50)), 20);
    await connection.ended();
    clearInterval(timer);
    expect(connection.received()).toContain('"error":40800');
  });

  it("ends with node:http once the create before it has its response", async () => {
    const count = countAnnouncedRequests();
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, fastLane: true });
    const connection = await openRawConnection(server.port);
    connection.socket.write(request + head);
    await held.isWaiting(1);
    await sleep(2 * maxRestMs);
    expect(server.server.readLoad().waitingBytes).toBe(body.length + head.length);
    held.release("created");
    await connection.responses(1);
    await expect.poll(count).toBe(1);
    connection.socket.write(body);
    await held.isWaiting(1);
    held.release("unchanged");
    await connection.responses(2);
    expect(statuses(connection.received())).toEqual([200, 200]);
    connection.socket.destroy();
  });

  it("ends with 50301 after the create before it if its bytes do not fit into memory", async () => {
    const held = createHeldStore();
    const maxWaitingBytes = head.length + body.length - 1;
    await using server = await startServer({ store: held.store, fastLane: true, maxWaitingBytes });
    const connection = await openRawConnection(server.port);
    connection.socket.write(request + head);
    await held.isWaiting(1);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(body.length);
    held.release("created");
    await connection.ended();
    expect(connection.received()).toMatch(/200 OK[^]*"error":50301/);
  });

  it("ends with 40000 if the client closes its side", async () => {
    await using server = await startServer({ fastLane: true });
    const connection = await openRawConnection(server.port);
    connection.socket.end(head);
    await connection.ended();
    expect(connection.received()).toContain('"error":40000');
  });

  it("ends with node:http if head and body do not fit into memory", async () => {
    stopClock();
    const count = countAnnouncedRequests();
    await using server = await startServer({ fastLane: true, maxWaitingBytes: head.length });
    const connection = await writePart(server, head);
    connection.socket.write(body);
    await connection.responses(1);
    expect(statuses(connection.received())).toEqual([200]);
    expect(count()).toBe(1);
    connection.socket.destroy();
  });

  it("ends with 50301 if the body alone does not fit into memory", async () => {
    const maxWaitingBytes = body.length - 1;
    await using server = await startServer({ fastLane: true, maxWaitingBytes });
    const connection = await openRawConnection(server.port);
    connection.socket.write(head);
    await untilRead(server.port);
    connection.socket.write(body);
    const [response] = await connection.responses(1);
    expect(response?.body).toContain('"error":50301');
    connection.socket.destroy();
  });

  it("ends with node:http if another client needs the memory", async () => {
    const count = countAnnouncedRequests();
    const limits = { maxWaitingBytes: head.length + body.length, requestTimeoutMs: 1200 };
    await using server = await startServer({ fastLane: true, ...limits });
    const slow = await writePart(server, head);
    // A transfer is slow after a twelfth of the request timeout.
    await sleep(110);
    const large = toRawCreate(2, "a".repeat(head.length - 5));
    expect((await exchangeRaw(server.port, large)).status).toBe(200);
    expect(count()).toBe(1);
    slow.socket.write(body);
    await slow.responses(1);
    expect(statuses(slow.received())).toEqual([200]);
    slow.socket.destroy();
  });

  it("counts as waiting bytes, and no longer if the client disconnects", async () => {
    await using server = await startServer({ fastLane: true });
    const connection = await writePart(server, head);
    connection.reset();
    const none = { creates: 0, waitingBytes: 0, connections: 0 };
    await expect.poll(() => server.server.readLoad()).toEqual(none);
  });

  it.each([0, 100, 5000])("ends with 50300 if the server stops within %i ms", async (timeoutMs) => {
    await using server = await startServer({ fastLane: true });
    const connection = await writePart(server, head);
    await server.server.close(timeoutMs);
    await connection.ended();
    expect(connection.received()).toContain('"error":50300');
  });

  it("does not end although the server stops, if the body arrives at once", async () => {
    stopClock();
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, fastLane: true });
    const connection = await openRawConnection(server.port);
    connection.socket.write(request + head);
    await held.isWaiting(1);
    const closed = server.server.close(5000);
    held.release("created");
    await connection.responses(1);
    connection.socket.write(body);
    await held.isWaiting(1);
    held.release("unchanged");
    await connection.responses(2);
    connection.socket.destroy();
    await closed;
    expect(statuses(connection.received())).toEqual([200, 200]);
  });

  it("keeps the connection, although another one needs its place", async () => {
    stopClock();
    await using server = await startServer({ fastLane: true, maxConnections: 1 });
    const connection = await writePart(server, head);
    const other = await openRawConnection(server.port);
    await other.ended();
    expect(other.received()).toContain('"error":50301');
    other.socket.destroy();
    connection.socket.write(body);
    await connection.responses(1);
    expect(statuses(connection.received())).toEqual([200]);
    connection.socket.destroy();
  });

  it("leaves an idle connection, which gives its place to another one", async () => {
    stopClock();
    await using server = await startServer({ fastLane: true, maxConnections: 1 });
    const connection = await writePart(server, head);
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
  const connection = await openRawConnection(server.port);
  const last = toRawCreate(1, "fern", { headers: "Connection: close\r\n" });
  connection.socket.write(last + request);
  await connection.ended();
  expect(statuses(connection.received())).toEqual([200]);
  expect(connection.received()).toContain("\r\nConnection: close\r\n");
  expect(count()).toBe(0);
});
