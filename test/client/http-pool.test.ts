/** Requests share connections, and closing the pool ends all of them. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openPool } from "../../src/client/http-pool.ts";
import { openRawServer } from "./scripted-server.ts";

const plant = '{"name":"fern"}';
const response = `HTTP/1.1 200 OK\r\nContent-Length: ${plant.length}\r\n\r\n${plant}`;

function open(url: string, timeoutMs = 10_000) {
  const pool = openPool(new URL(url).origin, 16, timeoutMs);
  const message = { url: `${url}/plants`, headers: {}, timeoutMs };
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
  await Promise.all([pool.close(), expect(small).rejects.toThrow("The client is destroyed")]);
});

it.each([
  [200, "application/json", /a response of more than \d+ bytes/],
  [400, "application/json", undefined],
  [200, "text/html", undefined],
])("does not read a long response to its end: status %d, %s", async (status, type, problem) => {
  let closed: Promise<unknown> | undefined;
  const url = await openRawServer((socket) => {
    // The client may reset the connection.
    closed = new Promise((resolve) => socket.once("close", resolve));
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
      expect(request).rejects.toThrow("The client is destroyed"),
    ]);
    await closed;
  });
});

describe("the time of a request", () => {
  it("includes the requests before it on its connection", async () => {
    const url = await openRawServer((socket) => {
      let pending = 0;
      const respond = (): void => {
        if (pending-- > 0) socket.write(response, () => setTimeout(respond, 300));
      };
      socket.on("data", (bytes: Buffer) => {
        pending += bytes.toString().split("POST /").length - 1;
        setTimeout(respond, 300);
      });
    });
    // Responses take 4.8 s together. The first one has time on a busy machine too.
    const { pool, post } = open(url, 4000);
    const results = await Promise.allSettled(Array.from({ length: 16 }, () => post()));
    expect(results[0]).toMatchObject({ status: "fulfilled", value: { status: 200 } });
    expect(results.at(-1)).toMatchObject({ status: "rejected", reason: { reason: "timeout" } });
    await pool.close();
  });

  const head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
  it.each<[what: string, first: string, repeated: string]>([
    ["a byte of the body", head, " "],
    ["a byte of a header", "HTTP/1.1 200 OK\r\nX: ", "a"],
    ["a byte of a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"],
    ["a response with status 102", "", "HTTP/1.1 102 Processing\r\n\r\n"],
    ["a response with status 103", "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"],
  ])("does not start again with %s", async (_what, first, repeated) => {
    const url = await openRawServer((socket) => {
      socket.once("data", () => {
        socket.write(first);
        const timer = setInterval(() => socket.write(repeated), 10);
        socket.on("close", () => clearInterval(timer));
      });
    });
    const { pool, post } = open(url, 400);
    await expect(post()).rejects.toMatchObject({ reason: "timeout", detail: "waited 0.4 s" });
    await pool.close();
  });

  it("ends while a flood of responses with status 103 arrives", async () => {
    const flood = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(500);
    const url = await openRawServer((socket) => {
      const send = (): void => {
        while (!socket.destroyed && socket.write(flood));
      };
      socket.once("data", send);
      socket.on("drain", send);
    });
    const { pool, post } = open(url, 400);
    await expect(post()).rejects.toMatchObject({ reason: "timeout" });
    await pool.close();
  });

  it("does not start again when another request ends its connection", async () => {
    let connections = 0;
    const url = await openRawServer((socket) => {
      connections++;
      socket.resume();
    });
    const { pool, post } = open(url, 400);
    const requests = Array.from({ length: 16 }, () => post());
    const results = await Promise.allSettled(requests);
    expect(results.map(({ status }) => status)).toEqual(requests.map(() => "rejected"));
    expect(connections).toBeLessThan(16);
    await pool.close();
  });

  it("includes the time until the connection is open", async () => {
    const url = await openRawServer(() => {});
    const { pool, post } = open(url.replace("http:", "https:"), 100);
    await expect(post()).rejects.toMatchObject({ reason: "timeout", detail: "waited 0.1 s" });
    await pool.close();
  });
});

it("a request without a response times out, and a later one on its connection is sent again", async () => {
  const url = await openRawServer((socket) => {
    let isSilent = false;
    socket.on("data", (bytes: Buffer) => {
      isSilent ||= bytes.toString().includes("silent");
      if (!isSilent) socket.write(response);
    });
  });
  const { pool, post } = open(url, 4000);
  const silent = post("silent");
  // The later one has as much time again when the first one times out.
  await sleep(2000);
  const [first, next] = await Promise.allSettled([silent, post("next")]);
  expect(first).toMatchObject({ status: "rejected", reason: { reason: "timeout" } });
  expect(next).toMatchObject({ status: "fulfilled", value: { status: 200 } });
  await pool.close();
});
