/** How long connections stay open. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { stopClock } from "../../helpers/clock.ts";
import { startHeldServer } from "../../helpers/held-store.ts";
import { startServer } from "../../helpers/plant-server.ts";
import { openRawConnection, readResults, sendRaw, untilRead } from "../../helpers/raw-http.ts";
import { toRawCreate, toRawGet } from "../../helpers/raw-request.ts";

const post = toRawCreate(1);
const get = toRawGet("/healthz");
const getLarge = toRawGet("/openapi.json");

const requests = [
  ["a simple create", post],
  ["a request through node:http", get],
] as const;

describe("an idle connection", () => {
  it.each(requests)(
    "stays open for one second more than Keep-Alive announces, after %s",
    async (_what, request) => {
      const move = stopClock();
      await using server = await startHeldServer({ idleTimeoutMs: 1000, requestTimeoutMs: 3000 });
      using connection = await sendRaw(server.port, request);
      if (request === post) {
        await server.held.isWaiting(1);
        move(2500);
        server.held.release("created");
      }
      const [response] = await connection.responses(1);
      expect(response?.headers["keep-alive"]).toBe("timeout=1");
      move(1999);
      await untilRead(server.port);
      expect(connection.isOpen()).toBe(true);
      move(1);
      await connection.ended();
      expect(readResults(connection.received())).toHaveLength(1);
      expect(connection.failure()).toBeUndefined();
    },
  );

  it.each(requests)(
    "stays open for longer than the request timeout after %s",
    async (_, request) => {
      await using server = await startServer({ idleTimeoutMs: 60_000, requestTimeoutMs: 300 });
      using connection = await sendRaw(server.port, request);
      await connection.responses(1);
      await sleep(2500);
      connection.socket.write(request);
      await connection.responses(2);
      expect(connection.isOpen()).toBe(true);
    },
  );

  it("is closed without a response if it was never used", async () => {
    const move = stopClock();
    await using server = await startServer({ idleTimeoutMs: 1000, requestTimeoutMs: 300 });
    using connection = await openRawConnection(server.port);
    await untilRead(server.port);
    move(1999);
    await untilRead(server.port);
    expect(connection.isOpen()).toBe(true);
    move(1);
    await connection.ended();
    expect(connection.received()).toBe("");
  });

  it("is closed although the client sends line breaks instead of a request", async () => {
    const limits = { idleTimeoutMs: 10_000, requestTimeoutMs: 600 };
    await using server = await startServer({ ...limits, fastLane: true });
    using connection = await sendRaw(server.port, post);
    await connection.responses(1);
    while (connection.isOpen()) {
      connection.socket.write("\r\n");
      await sleep(100);
    }
    expect(readResults(connection.received())).toEqual(["200", "400 40800"]);
  });
});

it("keeps a connection open while the head of the next request arrives", async () => {
  await using server = await startServer({ idleTimeoutMs: 1000 });
  using connection = await sendRaw(server.port, post);
  await connection.responses(1);
  connection.socket.write(post.slice(0, 30));
  // Longer than an idle connection stays open.
  await sleep(3000);
  connection.socket.write(post.slice(30));
  expect(await connection.results(2)).toEqual(["200", "200"]);
});

it("waits for a body as long as for a request, whether or not its client has sent others before", async () => {
  await using server = await startServer({ requestTimeoutMs: 3000 });
  using first = await sendRaw(server.port, post.slice(0, -1));
  using second = await sendRaw(server.port, post + post.slice(0, -1));
  await second.responses(1);
  // Longer than a head may take.
  await sleep(1500);
  first.socket.write(post.slice(-1));
  second.socket.write(post.slice(-1));
  expect(await first.results(1)).toEqual(["200"]);
  expect(await second.results(2)).toEqual(["200", "200"]);
  second.socket.write(post.slice(0, -1));
  expect(await second.resultsAtEnd()).toEqual(["200", "200", "400 40800"]);
});

it("reads nothing from a client that does not read, and sends it all responses once it reads", async () => {
  let count = 0;
  await using server = await startServer({ idleTimeoutMs: 300, onResponse: () => count++ });
  using connection = await openRawConnection(server.port);
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
});
