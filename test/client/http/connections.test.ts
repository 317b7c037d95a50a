/** The first request goes alone, and the others share a pool; closing cuts off all of them, whenever it comes. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { openConnections } from "../../../src/client/http/connections.ts";
import { json, openRawServer, openScriptedServer } from "../scripted-server.ts";

const plant = '{"name":"fern"}';
const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${plant.length}\r\n\r\n${plant}`;

function open(url: string) {
  const connections = openConnections(new URL(url).origin, 16, 10_000);
  const message = { url: `${url}/plants`, headers: {}, timeoutMs: 10_000 };
  return { connections, post: (body = "{}") => connections.post({ ...message, body }) };
}

it("the first request has a connection of its own, and the others share theirs", async () => {
  const sockets: Socket[] = [];
  const url = await openRawServer((socket) => {
    sockets.push(socket);
    socket.on("data", (bytes: Buffer) => {
      socket.write(answer.repeat(bytes.toString().split("POST /").length - 1));
    });
  });
  const { connections, post } = open(url);
  await post();
  expect(sockets).toHaveLength(1);
  for (let count = 0; count < 3; count++) await Promise.all([post(), post()]);
  expect(sockets).toHaveLength(2);
  await connections.close();
});

it("a large body has a connection of its own: it holds up no other request", async () => {
  const bodies = new Map<Socket, string>();
  const url = await openRawServer((socket) => {
    bodies.set(socket, "");
    socket.on("data", (bytes: Buffer) => {
      const body = `${bodies.get(socket)}${bytes.toString("latin1")}`;
      bodies.set(socket, body);
      // The second request is left without an answer.
      if (!body.includes("small")) socket.write(answer);
    });
  });
  const { connections, post } = open(url);
  await post();
  const small = post("small");
  await post("l".repeat(65_537));
  expect([...bodies.values()].map((body) => body.includes("lll"))).toEqual([false, false, true]);
  await Promise.all([connections.close(), expect(small).rejects.toThrow("stopped")]);
});

describe("close", () => {
  it("cuts the first request off, and leaves no connection behind", async () => {
    let closed: Promise<unknown> | undefined;
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const url = await openRawServer((socket) => {
      closed = once(socket.resume(), "close");
      begin();
    });
    const { connections, post } = open(url);
    const request = post();
    await Promise.all([
      begun.then(() => connections.close()),
      expect(request).rejects.toThrow("the connections are closed"),
    ]);
    await closed;
  });

  it("comes before the pool is there: no request is sent", async () => {
    const { url, requests } = await openScriptedServer(json(200, plant));
    const { connections, post } = open(url);
    await post();
    const later = [post(), post()];
    await Promise.all([
      connections.close(),
      ...later.map((request) => expect(request).rejects.toThrow("the connections are closed")),
    ]);
    await expect(post()).rejects.toThrow("the connections are closed");
    expect(requests).toHaveLength(1);
  });
});
