/** What those who run the server see of it, and what holds when more comes than it can take. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { StoreError } from "../../src/core/store.ts";
import { createHeldStore } from "../helpers/held-store.ts";
import { startServer } from "../helpers/plant-server.ts";
import { exchangeRaw, openRawConnection, untilRead } from "../helpers/raw-http.ts";
import { toRawCreate, toRawHead } from "../helpers/raw-request.ts";

const create = (id: number): string => toRawCreate(id);

const get = (path: string, method = "GET"): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

describe("the creates that wait for the store are bounded", () => {
  it("one more is refused at once with 50301, and there is room again when they are done", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, maxInflight: 3 });
    const waiting = [1, 2, 3].map((id) => exchangeRaw(server.port, create(id)));
    await held.isWaiting(3);

    const refused = await exchangeRaw(server.port, create(4));
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.body)).toMatchObject({ error: 50301 });
    expect(refused.headers["retry-after"]).toBe("1");

    held.release("created");
    expect((await Promise.all(waiting)).map((answer) => answer.status)).toEqual([200, 200, 200]);
    const next = exchangeRaw(server.port, create(4));
    await held.isWaiting(1);
    held.release("created");
    expect((await next).status).toBe(200);
  });

  it("pipelined ones as well, in the order of the requests", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, maxInflight: 1 });
    const connection = await openRawConnection(server.port);
    connection.socket.write(create(1) + create(2));
    await held.isWaiting(1);
    await untilRead(server.port);
    held.release("created");
    const answers = await connection.answers(2);
    expect(answers.map((answer) => answer.status)).toEqual([200, 400]);
    connection.socket.destroy();
  });

  it("a failure makes room as a success does", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, maxInflight: 1 });
    for (const id of [1, 2]) {
      const answering = exchangeRaw(server.port, create(id));
      await held.isWaiting(1);
      held.release(new StoreError("full", "no room"));
      expect(JSON.parse((await answering).body)).toMatchObject({ error: 50700 });
    }
  });
});

describe("the bytes of bodies that arrive or wait are bounded", () => {
  const head = toRawHead();
  const half = `${head}Content-Length: 1000\r\n\r\n${" ".repeat(800)}`;

  it("one more is refused with 50301 while others arrive, and there is room once they are gone", async () => {
    await using server = await startServer({ maxBodyBytes: 1000, maxWaitingBytes: 2000 });
    const slow = await Promise.all([1, 2].map(() => openRawConnection(server.port)));
    for (const { socket } of slow) socket.write(half);
    await expect
      .poll(async () => (await exchangeRaw(server.port, `${half}${" ".repeat(200)}`)).body)
      .toContain("50301");
    for (const { socket } of slow) socket.destroy();
    await expect
      .poll(async () => (await exchangeRaw(server.port, `${half}${" ".repeat(200)}`)).body)
      .toContain("40001");
  });

  it("a client that has been sending for long makes room for others", async () => {
    const limits = { maxBodyBytes: 1000, maxWaitingBytes: 1000, requestTimeoutMs: 3000 };
    await using server = await startServer(limits);
    const slow = await openRawConnection(server.port);
    slow.socket.write(half);
    await expect
      .poll(async () => (await exchangeRaw(server.port, `${half}${" ".repeat(200)}`)).body)
      .toContain("40001");
    await slow.ended();
    expect(slow.received()).toContain("50301");
  });

  it("responses count until they are sent, and a client that does not read makes room for others", async () => {
    const large = 8 * 1024 * 1024;
    await using server = await startServer({ maxBodyBytes: large, maxWaitingBytes: large });
    const toCreate = (id: number): string => {
      const body = `{"id":${id},"name":"${"a".repeat(7_000_000)}"}`;
      return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    };
    const slow = await openRawConnection(server.port);
    slow.socket.pause();
    slow.socket.write(toCreate(1));
    await expect.poll(async () => server.store.get(1n)).toBeDefined();
    expect((await exchangeRaw(server.port, toCreate(2))).body).toContain("50301");
    const readStatus = async () => (await exchangeRaw(server.port, toCreate(2))).status;
    await expect.poll(readStatus, { interval: 100 }).toBe(200);
    slow.socket.resume();
    await slow.ended();
    expect(slow.received().length).toBeLessThan(7_000_000);
  });

  it("also while they wait for the store", async () => {
    const held = createHeldStore();
    await using server = await startServer({
      store: held.store,
      maxBodyBytes: 40,
      maxWaitingBytes: 40,
    });
    const waiting = exchangeRaw(server.port, create(1));
    await held.isWaiting(1);
    const refused = await exchangeRaw(server.port, create(2));
    expect(refused).toMatchObject({ status: 400, headers: { "retry-after": "1" } });
    expect(refused.body).toContain("50301");
    held.release("created");
    expect((await waiting).status).toBe(200);
    const next = exchangeRaw(server.port, create(3));
    await held.isWaiting(1);
    held.release("conflict");
    expect((await next).body).toContain("40900");
  });

  it.each<[what: string, request: string, error: string]>([
    ["is no plant", `${head}Content-Length: 900\r\n\r\n${" ".repeat(900)}`, "40001"],
    [
      "is over the limit",
      `${head}Transfer-Encoding: chunked\r\n\r\n3e8\r\n${" ".repeat(1000)}\r\n1\r\n \r\n0\r\n\r\n`,
      "41300",
    ],
  ])("what a body held that %s is free again", async (_what, request, error) => {
    await using server = await startServer({ maxBodyBytes: 1000, maxWaitingBytes: 1000 });
    for (let count = 0; count < 5; count++) {
      expect((await exchangeRaw(server.port, request)).body).toContain(error);
    }
  });
});

describe("connections are bounded", () => {
  it("one more ends the one that has been idle for longest", async () => {
    await using server = await startServer({ maxConnections: 2 });
    const first = await openRawConnection(server.port);
    const second = await openRawConnection(server.port);
    const request = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
    for (const { socket } of [second, first]) socket.write(request);
    await Promise.all([first.answers(1), second.answers(1)]);
    first.socket.write(request);
    await first.answers(2);
    expect((await exchangeRaw(server.port, create(1))).status).toBe(200);
    await second.ended();
    expect(first.isOpen()).toBe(true);
    first.socket.destroy();
  });

  it("busy connections stay open, and one more gets 50301; before a TLS handshake nothing can be sent", async () => {
    const held = createHeldStore();
    const options = { store: held.store, maxConnections: 2, certificate: undefined };
    await using server = await startServer(options);
    const waiting = [1, 2].map((id) => exchangeRaw(server.port, create(id)));
    await held.isWaiting(2);
    const refused = await exchangeRaw(server.port, create(3));
    expect(refused).toMatchObject({ status: 400, headers: { connection: "close" } });
    expect(refused.body).toContain("50301");
    held.release("created");
    expect((await Promise.all(waiting)).map((answer) => answer.status)).toEqual([200, 200]);
    expect(server.errors).toEqual([]);
  });

  it("one more does not close a connection whose response is being sent", async () => {
    await using server = await startServer({
      maxConnections: 1,
      maxBodyBytes: 8 * 1024 * 1024,
      certificate: undefined,
    });
    const body = `{"id":1,"name":"${"a".repeat(8_000_000)}"}`;
    const reading = await openRawConnection(server.port);
    reading.socket.pause();
    reading.socket.write(
      create(1).replace(/Content-Length: [^]*/, `Content-Length: ${body.length}\r\n\r\n${body}`),
    );
    await expect.poll(async () => server.store.get(1n)).toBeDefined();
    await sleep(50);
    expect((await exchangeRaw(server.port, create(2))).body).toContain("50301");
    reading.socket.resume();
    const [answer] = await reading.answers(1);
    expect(answer?.body).toHaveLength(8_000_011);
    reading.socket.destroy();
  });

  it("a refused client that goes on sending keeps no place", async () => {
    await using server = await startServer({ maxConnections: 1 });
    const endless = await openRawConnection(server.port);
    endless.socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n`);
    expect(await endless.answers(1)).toMatchObject([{ status: 404 }]);
    expect((await exchangeRaw(server.port, create(1))).status).toBe(200);
    await endless.ended();
  });
});

describe("GET /healthz", () => {
  it("tells that the process answers, to anybody", async () => {
    await using server = await startServer({ basePath: "/v1" });
    expect(await exchangeRaw(server.port, get("/healthz"))).toMatchObject({
      status: 200,
      body: '{"status":"ok"}',
    });
  });

  it.each(["POST", "DELETE"])("%s is 405 with the methods that are allowed", async (method) => {
    await using server = await startServer();
    const answer = await exchangeRaw(server.port, get("/healthz", method));
    expect(answer).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    expect(JSON.parse(answer.body)).toMatchObject({ error: 40500 });
  });
});

describe("GET /readyz", () => {
  it("tells that storage is writable", async () => {
    await using server = await startServer();
    expect(await exchangeRaw(server.port, get("/readyz"))).toMatchObject({
      status: 200,
      body: '{"status":"ready","store":"memory"}',
    });
  });

  it("HEAD tells the same without a body", async () => {
    await using server = await startServer();
    const connection = await openRawConnection(server.port);
    connection.socket.write(get("/readyz", "HEAD"));
    await connection.ended();
    expect(connection.received()).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n$/);
  });

  it("follows the store: 503 with its Error while it is full, and ready again afterwards", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store });
    held.setTrouble(new StoreError("full", "no room in /secret/place"));
    const answer = await exchangeRaw(server.port, get("/readyz"));
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({ error: 50700 });
    expect(answer.body).not.toContain("secret");

    held.setTrouble(undefined);
    await expect
      .poll(async () => (await exchangeRaw(server.port, get("/readyz"))).status, { timeout: 5000 })
      .toBe(200);
  });

  it("asks the store once for many requests", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store });
    await Promise.all(Array.from({ length: 50 }, () => exchangeRaw(server.port, get("/readyz"))));
    expect(held.checks()).toBeLessThanOrEqual(2);
  });

  it("is 503 with 50300 once the server stops", async () => {
    await using server = await startServer();
    const connection = await openRawConnection(server.port);
    connection.socket.write("GET /readyz HTTP/1.1\r\n");
    await untilRead(server.port);
    const closing = server.server.close(5000);
    connection.socket.write("Host: localhost\r\n\r\n");
    const [answer] = await connection.answers(1);
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(answer?.body).toContain('"error":50300');
    await closing;
  });
});
