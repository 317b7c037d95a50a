/** How long connections stay open. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createHeldStore } from "../../helpers/held-store.ts";
import { startServer } from "../../helpers/plant-server.ts";
import { openRawConnection } from "../../helpers/raw-http.ts";
import { toRawGet, toRawRequest } from "../../helpers/raw-request.ts";

const body = '{"id":1,"name":"fern"}';
const post = toRawRequest(body);
const get = toRawGet("/healthz");
const getLarge = toRawGet("/openapi.json");
const statuses = (text: string): number[] =>
  Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status));

describe("an idle connection", () => {
  it.each([
    ["a usual request", post],
    ["a request through node:http", get],
  ])(
    "stays open for one second more than Keep-Alive announces, after %s",
    async (_what, request) => {
      const held = createHeldStore();
      await using server = await startServer({ store: held.store, idleTimeoutMs: 1000 });
      const connection = await openRawConnection(server.port);
      // Before the response: it may reach a busy client late.
      let idleAfterMs = performance.now();
      connection.socket.write(request);
      if (request === post) {
        await held.isWaiting(1);
        await sleep(2500);
        idleAfterMs = performance.now();
        held.release("created");
      }
      const [response] = await connection.responses(1);
      expect(response?.headers["keep-alive"]).toBe("timeout=1");
      await connection.ended();
      expect(performance.now() - idleAfterMs).toBeGreaterThan(1900);
      expect(statuses(connection.received())).toHaveLength(1);
      expect(connection.failure()).toBeUndefined();
    },
  );

  it.each([
    ["a usual request", post],
    ["a request through node:http", get],
  ])("stays open for longer than the request timeout after %s", async (_what, request) => {
    await using server = await startServer({ idleTimeoutMs: 60_000, requestTimeoutMs: 300 });
    const connection = await openRawConnection(server.port);
    connection.socket.write(request);
    await connection.responses(1);
    await sleep(2500);
    connection.socket.write(request);
    await connection.responses(2);
    expect(connection.isOpen()).toBe(true);
    connection.socket.destroy();
  });

  it("is closed without a response if it was never used", async () => {
    await using server = await startServer({ idleTimeoutMs: 1000, requestTimeoutMs: 300 });
    const openedAtMs = performance.now();
    const connection = await openRawConnection(server.port);
    await connection.ended();
    expect(performance.now() - openedAtMs).toBeGreaterThan(1900);
    expect(connection.received()).toBe("");
  });

  it("is closed although the client sends line breaks instead of a request", async () => {
    await using server = await startServer({
      idleTimeoutMs: 10_000,
      requestTimeoutMs: 600,
      fastLane: true,
    });
    const connection = await openRawConnection(server.port);
    connection.socket.write(post);
    await connection.responses(1);
    while (connection.isOpen()) {
      connection.socket.write("\r\n");
      await sleep(100);
    }
    expect(statuses(connection.received())).toEqual([200, 400]);
    expect(connection.received()).toContain('"error":40800');
  });
});

it("keeps a connection open while the head of the next request arrives", async () => {
  await using server = await startServer({ idleTimeoutMs: 1000 });
  const connection = await openRawConnection(server.port);
  connection.socket.write(post);
  await connection.responses(1);
  connection.socket.write(post.slice(0, 30));
  // Longer than an idle connection stays open.
  await sleep(3000);
  connection.socket.write(post.slice(30));
  await connection.responses(2);
  expect(statuses(connection.received())).toEqual([200, 200]);
  connection.socket.destroy();
});

it("reads nothing from a client that does not read, and sends it all responses once it reads", async () => {
  let count = 0;
  await using server = await startServer({ idleTimeoutMs: 300, onResponse: () => count++ });
  const connection = await openRawConnection(server.port);
  connection.socket.pause();
  let sent = 0;
  do {
    do {
      connection.socket.write(getLarge);
      sent++;
      for (let wait = 0; wait < 100 && count < sent; wait++) await sleep(2);
    } while (count === sent);
    // Longer than an idle connection stays open.
    await sleep(2500);
    // The buffers between the two may have grown.
  } while (count === sent);
  expect(count).toBe(sent - 1);
  connection.socket.resume();
  const countBodies = () => Array.from(connection.received().matchAll(/^\}$/gm)).length;
  await expect.poll(countBodies).toBe(sent);
  connection.socket.destroy();
});
