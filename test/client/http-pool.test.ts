/** Requests share connections, and closing the pool ends all of them. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { openPool } from "../../src/client/http-pool.ts";
import { openRawServer } from "./scripted-server.ts";

const plant = '{"name":"fern"}';
const response = `HTTP/1.1 200 OK\r\nContent-Length: ${plant.length}\r\n\r\n${plant}`;
/** Above one second undici counts ticks of its own clock: a stall of the process counts as one tick of half a second. */
const coarseTimeoutMs = 1500;

function open(url: string, timeoutMs = 10_000) {
  const pool = openPool(new URL(url).origin, 16, timeoutMs);
  const message = { url: `${url}/plants`, headers: {}, timeoutMs: 10_000 };
  return { pool, post: (body = "{}", isRetry = false) => pool.post({ ...message, body, isRetry }) };
}

it("requests share a connection, and a retry has a separate one", async () => {
  const sockets: Socket[] = [];
  const url = await openRawServer((socket) => {
    sockets.push(socket);
    socket.on("data", (bytes: Buffer) => {
      socket.write(response.repeat(bytes.toString().split("POST /").length - 1));
    });
  });
  const { pool, post } = open(url);
  for (let count = 0; count < 3; count++) await Promise.all([post(), post()]);
  expect(sockets).toHaveLength(1);
  await post("{}", true);
  expect(sockets).toHaveLength(2);
  await pool.close();
});

it("a large body has a separate connection, so that it delays no other request", async () => {
  const bodies = new Map<Socket, string>();
  const url = await openRawServer((socket) => {
    bodies.set(socket, "");
    socket.on("data", (bytes: Buffer) => {
      const body = `${bodies.get(socket)}${bytes.toString("latin1")}`;
      bodies.set(socket, body);
      // The small request gets no response.
      if (!body.includes("small")) socket.write(response);
    });
  });
  const { pool, post } = open(url);
  const small = post("small");
  await post("l".repeat(65_537));
  const findBody = (part: string) => [...bodies.values()].filter((body) => body.includes(part));
  await expect.poll(() => findBody("small")).toHaveLength(1);
  expect(findBody("lll")).toHaveLength(1);
  expect(bodies.size).toBe(2);
  await Promise.all([pool.close(), expect(small).rejects.toThrow("lost the connection")]);
});

it.each([
  [200, "application/json", /its response has more than \d+ bytes/],
  [400, "application/json", undefined],
  [200, "text/html", undefined],
])("does not read a long response to its end: status %d, %s", async (status, type, problem) => {
  let closed: Promise<unknown> | undefined;
  const url = await openRawServer((socket) => {
    closed = once(socket, "close");
    socket.once("data", () => {
      socket.write(
        `HTTP/1.1 ${status} x\r\nContent-Type: ${type}\r\nContent-Length: 99999999\r\n\r\n`,
      );
      socket.write(" ".repeat(1024 * 1024));
    });
  });
  const { pool, post } = open(url);
  const request = post();
  if (problem) await expect(request).rejects.toThrow(problem);
  else expect((await request).status).toBe(status);
  await closed;
  await pool.close();
});

describe("closing a pool", () => {
  it.each([
    ["http:", "in flight"],
    ["https:", "before the end of the TLS handshake"],
  ])("over %s rejects a request %s, and leaves no connection open", async (protocol) => {
    let closed: Promise<unknown> | undefined;
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const url = await openRawServer((socket) => {
      closed = once(socket.resume(), "close");
      begin();
    });
    const { pool, post } = open(url.replace("http:", protocol));
    const request = post();
    await Promise.all([
      begun.then(() => pool.close()),
      expect(request).rejects.toThrow("lost the connection"),
    ]);
    await closed;
  });
});

it("the timeout of a request does not include the time of earlier requests on its connection", async () => {
  const url = await openRawServer((socket) => {
    let pending = 0;
    const respond = (): void => {
      if (pending-- > 0) socket.write(response, () => setTimeout(respond, 200));
    };
    socket.on("data", (bytes: Buffer) => {
      const isIdle = pending <= 0;
      pending = Math.max(pending, 0) + bytes.toString().split("POST /").length - 1;
      if (isIdle) setTimeout(respond, 200);
    });
  });
  const { pool, post } = open(url, coarseTimeoutMs);
  // The last response arrives after more than three seconds.
  const responses = await Promise.all(Array.from({ length: 16 }, () => post()));
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  await pool.close();
});

it("a request without a response times out, and the next one on its connection is sent again", async () => {
  const url = await openRawServer((socket) => {
    socket.on("data", (bytes: Buffer) => {
      if (!bytes.toString().includes("silent")) socket.write(response);
    });
  });
  const { pool, post } = open(url, coarseTimeoutMs);
  const [silent, next] = await Promise.allSettled([post("silent"), post("next")]);
  expect(silent).toMatchObject({ status: "rejected", reason: { reason: "timeout" } });
  expect(next).toMatchObject({ status: "fulfilled", value: { status: 200 } });
  await pool.close();
});

it("a connection that does not open in time fails as a lost connection", async () => {
  const url = await openRawServer(() => {});
  const { pool, post } = open(url.replace("http:", "https:"), 100);
  await expect(post()).rejects.toMatchObject({ reason: "lost", detail: "connection timed out" });
  await pool.close();
});
