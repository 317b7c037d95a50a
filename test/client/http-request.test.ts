import { getEventListeners, once } from "node:events";
import type { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { openKeptConnection, post } from "../../src/client/http-request.ts";
import { type Responder, json, openRawServer, openScriptedServer } from "./scripted-server.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

it.each<[outcome: string, respond: Responder]>([
  ["gets a response", json(200, '{"name":"fern"}')],
  ["gets no response", (response) => void response.destroy()],
])(
  "a request that %s does not stay in memory while its signal lives",
  async (_outcome, respond) => {
    const { url } = await openScriptedServer(respond);
    const { signal } = new AbortController();
    const request = { url, headers: {}, body: "{}", timeoutMs: 3_600_000, signal };

    async function sendMany(): Promise<WeakRef<object>[]> {
      const outcomes: WeakRef<object>[] = [];
      for (let count = 0; count < 20; count++) {
        const outcome = await post(request).catch((error: unknown) => error as Error);
        outcomes.push(new WeakRef(outcome));
      }
      return outcomes;
    }

    const outcomes = await sendMany();
    expect(getEventListeners(signal, "abort")).toEqual([]);
    // The last ones may still be on a stack.
    await expect
      .poll(() => {
        collectGarbage();
        return outcomes.filter((outcome) => outcome.deref() !== undefined).length;
      })
      .toBeLessThanOrEqual(2);
  },
);

it("a request whose signal is already aborted is not sent", async () => {
  const { url, requests } = await openScriptedServer(json(200, '{"name":"fern"}'));
  const signal = AbortSignal.abort(new Error("before it began"));
  const request = post({ url, headers: {}, body: "{}", timeoutMs: 1000, signal });
  await expect(request).rejects.toThrow("before it began");
  expect(requests).toEqual([]);
});

const plant = '{"name":"fern"}';

const send = (url: string, body = "{}") => post({ url, headers: {}, body, timeoutMs: 10_000 });

/** Sends a request to a server that responds with any bytes. */
async function getResponse(bytes: string) {
  return send(await openRawServer((socket) => socket.once("data", () => socket.write(bytes))));
}

const head = `HTTP/1.1 200 OK\r\nContent-Length: ${plant.length}\r\n`;

it.each<[what: string, bytes: string]>([
  ["after an unexpected 100 Continue", `HTTP/1.1 100 Continue\r\n\r\n${head}\r\n${plant}`],
  ["after early hints", `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${head}\r\n${plant}`],
  ["with an offer to upgrade", `${head}Upgrade: h2c\r\n\r\n${plant}`],
  ["before more bytes", `${head}\r\n${plant}and more`],
  ["with Connection: close, before more bytes", `${head}Connection: close\r\n\r\n${plant}and more`],
  ["before another response", `${head}\r\n${plant}`.repeat(2)],
])("a response %s is read", async (_what, bytes) => {
  const { status, body } = await getResponse(bytes);
  expect({ status, body: body.toString() }).toEqual({ status: 200, body: plant });
});

it("a response without a length ends with its connection", async () => {
  const bytes = `HTTP/1.1 200 OK\r\n\r\n${plant}`;
  const url = await openRawServer((socket) => socket.once("data", () => socket.end(bytes)));
  const { body } = await send(url);
  expect(body.toString()).toBe(plant);
});

it("an unexpected upgrade is a response, and its connection is closed", async () => {
  const bytes = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n";
  let closed: Promise<unknown> | undefined;
  const url = await openRawServer((socket) => {
    closed = once(socket, "close");
    socket.once("data", () => socket.write(bytes));
  });
  expect(await send(url)).toMatchObject({ status: 101 });
  await closed;
});

it("a header that is repeated has two values", async () => {
  const bytes = `${head}Content-Type: text/html\r\nContent-Type: application/json\r\n\r\n${plant}`;
  const { headers } = await getResponse(bytes);
  expect(headers["content-type"]).toEqual(["text/html", "application/json"]);
});

it("a response that arrives before the end of a large request is read", async () => {
  const url = await openRawServer((socket) => {
    socket.resume().write(`${head}\r\n${plant}`);
  });
  const body = "x".repeat(8 * 1024 * 1024);
  const response = await send(url, body);
  expect(response.body.toString()).toBe(plant);
});

it("a body is sent byte for byte, with its length", async () => {
  const { url, requests } = await openScriptedServer(json(200, plant));
  const body = '{"name":"m\u00f6nstera \u{1f331}"}';
  await send(url, body);
  expect(requests).toMatchObject([
    { body, headers: { "content-length": String(Buffer.byteLength(body)) } },
  ]);
});

describe("openKeptConnection", () => {
  it("sends requests one after the other over one connection, until it is closed", async () => {
    const sockets = new Set<unknown>();
    const { url, requests } = await openScriptedServer((response) => {
      sockets.add(response.req.socket);
      response.end("a");
    });
    const { post: sendKept, close } = openKeptConnection(url);
    const request = { method: "GET", url, headers: {}, body: "", timeoutMs: 5000 } as const;
    await Promise.all([sendKept(request), sendKept(request)]);
    expect((await sendKept(request)).wasRepeated).toBeUndefined();
    expect(requests).toHaveLength(3);
    const [socket] = sockets;
    expect(sockets.size).toBe(1);
    const closed = once(socket as Socket, "close");
    await close();
    await closed;
  });

  it("repeats a request whose connection ended while it was idle, and says so", async () => {
    const { url, requests } = await openScriptedServer((response) => {
      if (requests.length === 2) response.destroy();
      else response.end("a");
    });
    const { post: sendKept, close } = openKeptConnection(url);
    const request = { method: "GET", url, headers: {}, body: "", timeoutMs: 5000 } as const;
    await sendKept(request);
    expect(await sendKept(request)).toMatchObject({ status: 200, wasRepeated: true });
    await close();
  });
});
