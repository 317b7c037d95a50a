/** How a server stops: clients get the responses that they are owed, and no client delays the stop. */
import { describe, expect, it } from "vitest";
import { listAll } from "../../helpers/all-plants.ts";
import { stopClock } from "../../helpers/clock.ts";
import { createHeldStore, startHeldServer } from "../../helpers/held-store.ts";
import { startServer } from "../../helpers/plant-server.ts";
import type { Connection } from "../../conformance/connection.ts";
import { openRawConnection, readResults, sendRaw, untilRead } from "../../helpers/raw-http.ts";
import { toRawCreate, toRawHead, toRawRequest } from "../../helpers/raw-request.ts";
import { startRecordedServer } from "../../helpers/recorded-server.ts";

const head = toRawHead();
const create = toRawCreate;

/** Time after the stop for a client to send one more request. */
const graceMs = 250;

it.each([
  ["one byte of a request", "P"],
  ["half of a request head", head],
])("sends 50300 to a client that sent %s, without waiting for the rest", async (_what, bytes) => {
  await using server = await startServer();
  using connection = await sendRaw(server.port, bytes);
  await untilRead(server.port);
  await server.server.close(3_600_000);
  expect(await connection.resultsAtEnd()).toEqual(["400 50300"]);
});

it("waits for the body of a request, and sends 50300 when the time is over", async () => {
  const advance = stopClock();
  await using server = await startServer();
  using connection = await sendRaw(server.port, create(1).slice(0, -5));
  await untilRead(server.port);
  const stopped = server.server.close(5000);
  advance(4999);
  connection.socket.write(create(1).slice(-5, -1));
  await expectOpen(connection);
  advance(1);
  expect(await connection.resultsAtEnd()).toEqual(["400 50300"]);
  // The server waits for its client.
  connection.socket.destroy();
  await stopped;
  expect(connection.received()).toMatch(/Retry-After: 1\r\n[^]*Connection: close\r\n/);
});

describe.each([
  ["the first request", []],
  ["a request after another one", [create(2)]],
])("the body of %s", (_what, before) => {
  const results = before.map(() => "200");

  it("may arrive after the stop", async () => {
    const advance = stopClock();
    await using server = await startServer();
    using connection = await sendRaw(server.port, before.join("") + create(1).slice(0, -5));
    await connection.responses(before.length);
    await untilRead(server.port);
    const stopped = server.server.close(10_000);
    advance(9999);
    connection.socket.write(create(1).slice(-5));
    expect(await connection.resultsAtEnd()).toEqual([...results, "200"]);
    connection.socket.destroy();
    await stopped;
  });

  it("is awaited until the time of the stop is over", async () => {
    await using server = await startServer();
    using connection = await sendRaw(server.port, before.join("") + create(1).slice(0, -5));
    await connection.responses(before.length);
    await untilRead(server.port);
    await server.server.close(2000);
    expect(await connection.resultsAtEnd()).toEqual([...results, "400 50300"]);
  });
});

it("sends 50302 to each change in flight when the time is over, and may be stopped twice", async () => {
  await using server = await startHeldServer();
  using connection = await sendRaw(server.port, create(1) + create(2) + create(3));
  await server.held.isWaiting(3);
  await Promise.all([server.server.close(50), server.server.close(50)]);
  expect(await connection.resultsAtEnd()).toEqual(Array(3).fill("400 50302"));
  expect(connection.received()).toMatch(/Retry-After: 1\r\n[^]*Connection: close\r\n/);
  server.held.release("created");
});

it("sends 50302, not 50300, to a delete that has reached the store when the time is over", async () => {
  const { store, isWaiting, release } = createHeldStore();
  const deletePlant = async (id: bigint) => {
    await store.create({ id, name: "held" }, "reject");
    return { result: "deleted", durableAtMs: performance.now(), waitMs: 0, plants: 1 } as const;
  };
  await using server = await startServer({ store: { ...store, deletePlant }, operations: "all" });
  const remove = toRawRequest("", { method: "DELETE", target: "/plants/1" });
  using connection = await sendRaw(server.port, remove);
  await isWaiting(1);
  await server.server.close(50);
  expect(await connection.resultsAtEnd()).toEqual(["400 50302"]);
  release("created");
});

it("sends no second error on a connection whose first request was rejected before its body arrived", async () => {
  await using server = await startServer();
  const wrong = toRawHead({ token: "wrong" });
  using connection = await sendRaw(server.port, `${wrong}Content-Length: 100\r\n\r\n{"id"`);
  await connection.responses(1);
  connection.socket.write(":1");
  await untilRead(server.port);
  await server.server.close(60_000);
  expect(await connection.resultsAtEnd()).toEqual(["400 40102"]);
});

describe.each([
  ["was just opened", [], 0],
  ["has just had a response", [create(1)], 0],
  ["has been idle for seconds", [create(1)], 4000],
])("a connection that %s", (_what, before, idleMs) => {
  const results = before.map(() => "200");

  it("may carry one more request within a quarter of a second after the stop", async () => {
    const advance = stopClock();
    await using server = await startServer();
    using connection = await sendRaw(server.port, before.join(""));
    await connection.responses(before.length);
    // The server ends its TLS handshake after the client.
    await untilRead(server.port);
    advance(idleMs);
    const stopped = server.server.close(60_000);
    advance(graceMs - 1);
    connection.socket.write(create(2));
    expect(await connection.resultsAtEnd()).toEqual([...results, "200"]);
    expect(connection.received()).toMatch(/Connection: close\r\n\r\n.*$/);
    connection.socket.destroy();
    await stopped;
    expect(await server.store.get(2n)).toBeDefined();
  });

  it("is closed after that time", async () => {
    const advance = stopClock();
    await using server = await startServer();
    using connection = await sendRaw(server.port, before.join(""));
    await connection.responses(before.length);
    await untilRead(server.port);
    advance(idleMs);
    const stopped = server.server.close(60_000);
    advance(graceMs - 1);
    await expectOpen(connection);
    advance(1);
    expect(await connection.resultsAtEnd()).toEqual(results);
    await stopped;
  });
});

/** Expects that the server has not ended a connection, after several turns in which the end could have arrived. */
async function expectOpen(connection: Connection): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(connection.isOpen()).toBe(true);
}

it("does not wait for a rejected client that continues to send", async () => {
  await using server = await startHeldServer({ maxConnections: 1, certificate: undefined });
  using busy = await sendRaw(server.port, create(1));
  await server.held.isWaiting(1);
  using rejected = await openRawConnection(server.port);
  expect(await rejected.results(1)).toEqual(["400 50301"]);
  const sending = setInterval(() => void rejected.socket.write("more"), 20);
  await server.server.close(0);
  clearInterval(sending);
  expect(readResults(busy.received())).toEqual(["400 50302"]);
});

it("records no response for idle connections that it closes", async () => {
  const { store, isWaiting } = createHeldStore();
  await using server = await startRecordedServer({ store });
  using idle = await openRawConnection(server.port);
  using busy = await sendRaw(server.port, create(1));
  await isWaiting(1);
  await server.server.close(0);
  await Promise.all([idle.ended(), busy.ended()]);
  expect(server.records).toMatchObject([{ operation: "create", error: 50302 }]);
});

it("loses no request of 64 busy connections", async () => {
  stopClock();
  await using server = await startServer();
  let id = 0;
  let busy = 0;
  const isLast = (connection: Connection): boolean =>
    connection.received().includes("Connection: close");
  async function keepBusy(): Promise<{ sent: number; connection: Connection }> {
    const connection = await openRawConnection(server.port);
    for (let sent = 0; ; sent++) {
      if (isLast(connection)) return { sent, connection };
      connection.socket.write(create((id += 1)));
      await connection.responses(sent + 1);
      if (sent === 0) busy++;
    }
  }
  const clients = Array.from({ length: 64 }, keepBusy);
  while (id <= 1000 || busy < clients.length) await new Promise((resolve) => setImmediate(resolve));
  const stopped = server.server.close(10_000);
  for (const { sent, connection } of await Promise.all(clients)) {
    expect(readResults(connection.received())).toEqual(Array(sent).fill("200"));
    connection.socket.destroy();
  }
  await stopped;
  expect(await listAll(server.store)).toHaveLength(id);
});
