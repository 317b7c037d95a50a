/** What those who run the server see of it, and what holds when more comes than it can take. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { StoreError } from "../../src/core/store.ts";
import { createHeldStore } from "../helpers/held-store.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { exchangeRaw, openRawConnection } from "../helpers/raw-http.ts";

function create(id: number): string {
  const body = `{"id":${id},"name":"fern"}`;
  return `POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${testToken}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

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
    await sleep(20);
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
      body: '{"status":"ready"}',
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
    await sleep(20);
    const closing = server.server.close(5000);
    connection.socket.write("Host: localhost\r\n\r\n");
    const [answer] = await connection.answers(1);
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(answer?.body).toContain('"error":50300');
    await closing;
  });
});
