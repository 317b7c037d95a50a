/** Limits of the server under load, and its health and readiness checks. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { StoreError } from "../../src/core/store.ts";
import type { ServerBackend } from "../../src/server/operations.ts";
import { stopClock } from "../helpers/clock.ts";
import type { Connection } from "../conformance/connection.ts";
import { startHeldServer } from "../helpers/held-store.ts";
import { startServer } from "../helpers/plant-server.ts";
import { exchangeRaw, openRawConnection, sendRaw, untilRead } from "../helpers/raw-http.ts";
import { toRawCreate, toRawGet, toRawHead } from "../helpers/raw-request.ts";

const create = toRawCreate;

/** With the default request timeout: a transfer that takes longer makes room for others. */
const minTransferMs = 5000;

/** Stops `performance.now` until the test ends. Returns a function that moves it. */
function controlTime(): (ms: number) => void {
  // An integer, so that sums and differences are exact.
  let nowMs = Math.round(performance.now());
  const spy = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => spy.mockRestore());
  return (ms) => void (nowMs += ms);
}

const get = (path: string, method = "GET"): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

describe("the limit of creates in flight", () => {
  it("rejects one more create at once with 50301, and accepts creates again when the others end", async () => {
    await using server = await startHeldServer({ maxInflight: 3 });
    const waiting = [1, 2, 3].map((id) => exchangeRaw(server.port, create(id)));
    await server.held.isWaiting(3);

    const rejected = await exchangeRaw(server.port, create(4));
    expect(rejected).toMatchObject({ status: 400, headers: { "retry-after": "1" } });
    expect(rejected.body).toContain('"error":50301');

    server.held.release("created");
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
    const next = exchangeRaw(server.port, create(4));
    await server.held.isWaiting(1);
    server.held.release("created");
    expect((await next).status).toBe(200);
  });

  it("applies to pipelined creates, whose responses keep their order", async () => {
    await using server = await startHeldServer({ maxInflight: 1 });
    using connection = await sendRaw(server.port, create(1) + create(2));
    await server.held.isWaiting(1);
    await untilRead(server.port);
    server.held.release("created");
    expect(await connection.results(2)).toEqual(["200", "400 50301"]);
  });

  it("does not count creates that failed", async () => {
    await using server = await startHeldServer({ maxInflight: 1 });
    for (const id of [1, 2]) {
      const pending = exchangeRaw(server.port, create(id));
      await server.held.isWaiting(1);
      server.held.release(new StoreError("full", "no room"));
      expect(JSON.parse((await pending).body)).toMatchObject({ error: 50700 });
    }
  });
});

describe("the limit of bytes in memory", () => {
  const head = toRawHead();
  const half = `${head}Content-Length: 1000\r\n\r\n${" ".repeat(800)}`;

  it("rejects one more body with 50301 while others arrive, and accepts bodies again afterwards", async () => {
    // Far longer than the test, because clients that send for long make room for others.
    const limits = { maxBodyBytes: 1000, maxWaitingBytes: 2000, requestTimeoutMs: 3_600_000 };
    await using server = await startServer(limits);
    const slow = await Promise.all([1, 2].map(() => sendRaw(server.port, half)));
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(1600);
    expect((await exchangeRaw(server.port, `${half}${" ".repeat(200)}`)).body).toContain("50301");
    for (const { socket } of slow) socket.destroy();
    await expect
      .poll(async () => (await exchangeRaw(server.port, `${half}${" ".repeat(200)}`)).body)
      .toContain("40001");
  });

  it("drops the body of a client that sends for long to make room for others", async () => {
    const advance = controlTime();
    await using server = await startServer({ maxBodyBytes: 1000, maxWaitingBytes: 1000 });
    using slow = await sendRaw(server.port, half);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(800);
    const sendOther = async () =>
      (await exchangeRaw(server.port, `${half}${" ".repeat(200)}`)).body;
    expect(await sendOther()).toContain("50301");
    // The client can have a response before the server counts it as sent.
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(800);
    advance(minTransferMs);
    expect(await sendOther()).toContain("40001");
    await slow.ended();
    expect(slow.received()).toContain("50301");
  });

  it("drops no other body for the error that the client of a dropped one gets", async () => {
    const advance = controlTime();
    await using server = await startHeldServer({ maxBodyBytes: 1000, maxWaitingBytes: 1800 });
    using slow = await sendRaw(server.port, half);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(800);
    advance(minTransferMs);
    using other = await sendRaw(server.port, half);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(1600);
    const body = `{"id":1,"name":"fern"}`.padEnd(1000);
    using last = await sendRaw(server.port, `${head}Content-Length: 1000\r\n\r\n${body}`);
    await slow.ended();
    expect(slow.received()).toContain("50301");
    server.held.release("created");
    expect(await last.results(1)).toEqual(["200"]);
    other.socket.write(" ".repeat(200));
    expect(await other.results(1)).toEqual(["400 40001"]);
  });

  it("counts the part of a body that the lane has, and drops it to make room for others", async () => {
    const advance = controlTime();
    const limits = { maxBodyBytes: 1000, maxWaitingBytes: 1000, fastLane: true };
    await using server = await startServer(limits);
    using slow = await sendRaw(server.port, create(1) + half);
    await slow.responses(1);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(800);
    advance(minTransferMs);
    // More of it does not make it a new one. Its buffer grows to the announced length.
    slow.socket.write(" ");
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(1000);
    const response = await exchangeRaw(server.port, `${half}${" ".repeat(200)}`);
    expect(response.body).toContain("40001");
    expect(await slow.resultsAtEnd()).toEqual(["200", "400 50301"]);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(0);
  });

  it("counts responses until they are sent, and drops one that its client does not read", async () => {
    const advance = controlTime();
    const large = 8 * 1024 * 1024;
    await using server = await startServer({ maxBodyBytes: large, maxWaitingBytes: large });
    const toCreate = (id: number): string => create(id, "a".repeat(7_000_000));
    using slow = await openRawConnection(server.port);
    slow.socket.pause();
    slow.socket.write(toCreate(1));
    await expect.poll(() => server.server.readLoad().changes).toBe(0);
    await expect.poll(async () => server.store.get(1n)).toBeDefined();
    expect((await exchangeRaw(server.port, toCreate(2))).body).toContain("50301");
    const responseBytes = '{"name":""}'.length + 7_000_000;
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(responseBytes);
    advance(minTransferMs);
    const readStatus = async () => (await exchangeRaw(server.port, toCreate(2))).status;
    await expect.poll(readStatus, { interval: 100 }).toBe(200);
    slow.socket.resume();
    await slow.ended();
    expect(slow.received().length).toBeLessThan(7_000_000);
  });

  it("counts bodies while their creates wait for the store", async () => {
    await using server = await startHeldServer({ maxBodyBytes: 40, maxWaitingBytes: 40 });
    const waiting = exchangeRaw(server.port, create(1));
    await server.held.isWaiting(1);
    const rejected = await exchangeRaw(server.port, create(2));
    expect(rejected).toMatchObject({ status: 400, headers: { "retry-after": "1" } });
    expect(rejected.body).toContain("50301");
    server.held.release("created");
    expect((await waiting).status).toBe(200);
    const next = exchangeRaw(server.port, create(3));
    await server.held.isWaiting(1);
    server.held.release("conflict");
    expect((await next).body).toContain("40900");
  });

  it.each<[what: string, request: string, error: string]>([
    ["is not a plant", `${head}Content-Length: 900\r\n\r\n${" ".repeat(900)}`, "40001"],
    [
      "is over the limit",
      `${head}Transfer-Encoding: chunked\r\n\r\n3e8\r\n${" ".repeat(1000)}\r\n1\r\n \r\n0\r\n\r\n`,
      "41300",
    ],
  ])("does not count a rejected body that %s", async (_what, request, error) => {
    await using server = await startServer({ maxBodyBytes: 1000, maxWaitingBytes: 1000 });
    for (let count = 0; count < 5; count++) {
      expect((await exchangeRaw(server.port, request)).body).toContain(error);
    }
  });
});

describe("the limit of connections", () => {
  it("closes the connection that is idle longest for one more", async () => {
    await using server = await startServer({ maxConnections: 2 });
    using first = await openRawConnection(server.port);
    using second = await openRawConnection(server.port);
    const request = toRawGet("/healthz");
    for (const { socket } of [second, first]) socket.write(request);
    await Promise.all([first.responses(1), second.responses(1)]);
    first.socket.write(request);
    await first.responses(2);
    expect((await exchangeRaw(server.port, create(1))).status).toBe(200);
    await second.ended();
    expect(first.isOpen()).toBe(true);
  });

  it("rejects one more connection with 50301 while all others are busy", async () => {
    await using server = await startHeldServer({ maxConnections: 2 });
    const waiting = [1, 2].map((id) => exchangeRaw(server.port, create(id)));
    await server.held.isWaiting(2);
    const rejected = await exchangeRaw(server.port, create(3));
    expect(rejected).toMatchObject({ status: 400, headers: { connection: "close" } });
    expect(rejected.body).toContain("50301");
    server.held.release("created");
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
    expect(server.errors).toEqual([]);
  });

  it("closes no connection whose response is being sent", async () => {
    await using server = await startServer({ maxConnections: 1, maxBodyBytes: 8 * 1024 * 1024 });
    using reading = await openRawConnection(server.port);
    reading.socket.pause();
    reading.socket.write(create(1, "a".repeat(8_000_000)));
    await expect.poll(async () => server.store.get(1n)).toBeDefined();
    await expect.poll(() => server.server.readLoad().changes).toBe(0);
    expect((await exchangeRaw(server.port, create(2))).body).toContain("50301");
    reading.socket.resume();
    const [response] = await reading.responses(1);
    expect(response?.body).toHaveLength(8_000_011);
  });

  const half = `${toRawHead()}Content-Length: 100\r\n\r\n`;

  it.each([
    ["do not read their responses", toRawGet("/openapi.json").repeat(400)],
    ["send no body", half],
    ["send half of a body", `${half}{"id":1`],
  ])("lets another client in when all connections are of clients that %s", async (_what, bytes) => {
    const pass = controlTime();
    await using server = await startServer({ maxConnections: 4 });
    const stuck: Connection[] = [];
    const createAfterOneMore = async (): Promise<string> => {
      const connection = await openRawConnection(server.port);
      stuck.push(connection);
      connection.socket.pause();
      connection.socket.write(bytes);
      // Before the next client, which would replace it while it is idle.
      await sleep(20);
      return (await exchangeRaw(server.port, create(1))).body;
    };
    await expect.poll(createAfterOneMore).toContain('"error":50301');
    const createLater = async (): Promise<string> => {
      pass(minTransferMs + 1);
      return (await exchangeRaw(server.port, create(1))).body;
    };
    await expect.poll(createLater).toBe('{"name":"fern"}');
    for (const { socket } of stuck) socket.destroy();
  });

  it("is exceeded by at most 100 connections that read the error of their transfer", async () => {
    const pass = controlTime();
    await using server = await startServer({ maxConnections: 151 });
    const openHalf = async (): Promise<Connection> => {
      const connection = await openRawConnection(server.port);
      connection.socket.pause();
      connection.socket.write(half);
      return connection;
    };
    const early = await Promise.all(Array.from({ length: 150 }, openHalf));
    await untilRead(server.port);
    pass(minTransferMs + 1);
    const counts: number[] = [];
    const late: Connection[] = [];
    const expecting = half.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");
    for (let count = 0; count < 200; count++) {
      const connection = await sendRaw(server.port, expecting);
      late.push(connection);
      // A client that the server has not read counts as idle, and the next one would replace it.
      while (connection.isOpen() && !connection.received().includes("\r\n\r\n")) {
        await connection.changed();
      }
      counts.push(server.server.readLoad().connections);
    }
    expect(Math.max(...counts)).toBeGreaterThan(151);
    expect(Math.max(...counts)).toBeLessThanOrEqual(251);
    for (const { socket } of [...early, ...late]) socket.destroy();
  });

  it("does not count a rejected client that continues to send", async () => {
    await using server = await startServer({ maxConnections: 1 });
    const request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n";
    using endless = await sendRaw(server.port, request);
    expect(await endless.results(1)).toEqual(["404 40400"]);
    expect((await exchangeRaw(server.port, create(1))).status).toBe(200);
    await endless.ended();
  });
});

describe("GET /healthz", () => {
  it.each(["POST", "DELETE"])("rejects %s with 405 and the allowed methods", async (method) => {
    await using server = await startServer();
    const response = await exchangeRaw(server.port, get("/healthz", method));
    expect(response).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    expect(JSON.parse(response.body)).toMatchObject({ error: 40500 });
  });
});

describe("GET /readyz", () => {
  it("reports that the store is writable", async () => {
    await using server = await startServer();
    expect(await exchangeRaw(server.port, get("/readyz"))).toMatchObject({
      status: 200,
      body: '{"status":"ready","store":"memory"}',
    });
  });

  it("responds 503 with an Error while the store is full, and 200 afterwards", async () => {
    await using server = await startHeldServer();
    server.held.setProblem(new StoreError("full", "no room in /secret/place"));
    const response = await exchangeRaw(server.port, get("/readyz"));
    expect(response.status).toBe(503);
    expect(JSON.parse(response.body)).toMatchObject({ error: 50700 });
    expect(response.body).not.toContain("secret");

    server.held.setProblem(undefined);
    await expect
      .poll(async () => (await exchangeRaw(server.port, get("/readyz"))).status)
      .toBe(200);
  });

  it("checks the store once a second for any number of requests", async () => {
    const advance = stopClock();
    await using server = await startHeldServer();
    const sendMany = () =>
      Promise.all(Array.from({ length: 50 }, () => exchangeRaw(server.port, get("/readyz"))));
    await sendMany();
    expect(server.held.checks()).toBe(1);
    advance(1000);
    await sendMany();
    expect(server.held.checks()).toBe(2);
  });

  it("checks the store again after a create failed, and then once a second", async () => {
    stopClock();
    await using server = await startHeldServer();
    const readStatus = async () => (await exchangeRaw(server.port, get("/readyz"))).status;
    expect(await readStatus()).toBe(200);
    server.held.setProblem(new StoreError("full", "no room"));
    expect(await readStatus()).toBe(200);
    const fail = async (id: number) => {
      const response = exchangeRaw(server.port, create(id));
      await server.held.isWaiting(1);
      server.held.release(new StoreError("full", "no room"));
      expect(JSON.parse((await response).body)).toMatchObject({ error: 50700 });
    };
    await fail(1);
    expect(await readStatus()).toBe(503);
    await fail(2);
    expect(await readStatus()).toBe(503);
    expect(server.held.checks()).toBe(2);
  });

  it("does not keep the result of a check during which a create failed", async () => {
    stopClock();
    let pass = (): void => undefined;
    let checks = 0;
    const store: Pick<ServerBackend["store"], "create" | "checkWritable"> = {
      create: () => Promise.reject(new StoreError("full", "no room")),
      checkWritable: () => {
        checks++;
        return new Promise((resolve) => (pass = resolve));
      },
    };
    await using server = await startServer({ store });
    const first = exchangeRaw(server.port, get("/readyz"));
    await expect.poll(() => checks).toBe(1);
    await exchangeRaw(server.port, create(1));
    const second = exchangeRaw(server.port, get("/readyz"));
    await untilRead(server.port);
    expect(checks).toBe(1);
    pass();
    for (const { status } of await Promise.all([first, second])) expect(status).toBe(200);
    const third = exchangeRaw(server.port, get("/readyz"));
    await expect.poll(() => checks).toBe(2);
    pass();
    await third;
  });

  it("responds 503 with 50300 once the server stops", async () => {
    await using server = await startServer();
    using connection = await sendRaw(server.port, "GET /readyz HTTP/1.1\r\n");
    await untilRead(server.port);
    stopClock();
    const closing = server.server.close(5000);
    connection.socket.write("Host: localhost\r\n\r\n");
    const [response] = await connection.responses(1);
    connection.socket.destroy();
    expect(response).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(response?.body).toContain('"error":50300');
    await closing;
  });
});
