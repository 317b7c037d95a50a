/**
 * The same bytes get the same responses: whole, split at any position, byte by byte or pipelined, with the client's side
 * open or closed, through the fast lane and node:http. The project decides whether TLS is used.
 */
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer, testToken } from "../../helpers/plant-server.ts";
import type { Connection } from "../../conformance/connection.ts";
import { openRawConnection } from "../../helpers/raw-http.ts";
import { toRawHead } from "../../helpers/raw-request.ts";
import { createRandom } from "../../helpers/random.ts";

const token = `Authorization: Bearer ${testToken}\r\n`;
const json = "Content-Type: application/json\r\n";
const stored = { id: 3n, name: "rose" };

function post(body: string, headers = token + json, line = "POST /plants HTTP/1.1"): string {
  return `${line}\r\nHost: localhost\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
const chunked = `${toRawHead()}Transfer-Encoding: chunked\r\n\r\n7\r\n{"id":3\r\nf\r\n,"name":"rose"}\r\n0\r\n\r\n`;

/** Requests after which the connection stays open. None of them changes the store. */
const requests: readonly (readonly [rule: string, bytes: string])[] = [
  ["a create", post('{"id":3,"name":"rose"}')],
  ["a create with spaces and escapes", post('{\n "id": 3.0,\n "name": "\\u0072ose"\n}')],
  ["a conflict", post('{"id":3,"name":"moss"}')],
  ["names beyond ASCII", post('{"id":3,"name":"Bärlauch 🌿"}')],
  ["a broken body", post('{"id":3')],
  ["a body that is not UTF-8", Buffer.from(post("\u00ff"), "latin1").toString("latin1")],
  ["an empty body", post("")],
  ["several broken rules", post('{"id":1.5,"tag":7}')],
  ["a chunked body", chunked],
  ["a wrong token", post("{}", `Authorization: Bearer wrong\r\n${json}`)],
  ["no token", post("{}", json)],
  ["two tokens", post("{}", token + token + json)],
  ["a wrong content type", post("{}", `${token}Content-Type: text/plain\r\n`)],
  ["a content coding", post("{}", `${token}${json}Content-Encoding: gzip\r\n`)],
  ["a query", post('{"id":3,"name":"rose"}', token + json, "POST /plants?x=1 HTTP/1.1")],
  ["an absolute target", post("{}", token + json, "POST http://a/plants HTTP/1.1")],
  ["a long name", post(`{"id":3,"name":"${"Bärlauch 🌿".repeat(200)}"}`)],
  ["many headers", post("{}", `${token}${json}Accept: */*\r\nUser-Agent: curl/8\r\nX-A: b\r\n`)],
  ["GET /healthz", "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["HEAD /healthz", "HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["another method", "PUT /plants HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["another path", "GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n"],
];
/** Requests after which the connection ends. */
const finalRequests: readonly (readonly [rule: string, bytes: string])[] = [
  ["Connection: close", post('{"id":3,"name":"rose"}', `${token}${json}Connection: close\r\n`)],
  ["HTTP/1.0", post('{"id":3,"name":"rose"}', token + json, "POST /plants HTTP/1.0")],
  ["two Hosts", post("{}", `Host: b\r\n${token}${json}`)],
  ["an upgrade", post('{"id":3,"name":"rose"}', `${token}${json}Upgrade: h2c\r\n`)],
  ["malformed HTTP", "hello\r\n\r\n"],
  ["a bare LF", "GET /healthz HTTP/1.1\nHost: a\r\n\r\n"],
  ["a broken chunk", chunked.replace("\r\n7\r\n", "\r\nzz\r\n")],
  ["a length and chunks", chunked.replace("Transfer", "Content-Length: 5\r\nTransfer")],
];

let fast: TestServer;
let complete: TestServer;
beforeAll(async () => {
  fast = await startServer();
  complete = await startServer({ fastLane: false });
  for (const { store } of [fast, complete]) await store.create(stored, "reject");
});
afterAll(async () => {
  await fast.close();
  await complete.close();
});

/** Removes the headers that differ from one response to the next. */
function toComparable(received: string): string {
  return received.replace(/^(?:Date|X-Request-Id): .*\r\n/gm, "");
}

const countResponses = (received: string): number => received.split(/HTTP\/1\.1 \d/).length - 1;

/** Sends the pieces one after the other and returns the responses. */
async function send(
  { port }: TestServer,
  pieces: readonly string[],
  { count = 1, isHalfClosed = false, isFinal = false } = {},
): Promise<string> {
  const connection = await openRawConnection(port);
  for (const [index, piece] of pieces.entries()) {
    connection.socket.write(piece, "latin1");
    if (index < pieces.length - 1) for (let turns = 0; turns < 4; turns++) await turn();
  }
  if (isHalfClosed) connection.socket.end();
  if (isHalfClosed || isFinal) await connection.ended();
  else await waitForResponses(connection, count);
  connection.socket.destroy();
  return toComparable(connection.received());
}

async function waitForResponses({ received, isOpen }: Connection, count: number): Promise<void> {
  const isComplete = (): boolean =>
    countResponses(received()) >= count && /\}$|\r\n\r\n$/.test(received());
  while (!isComplete() && isOpen()) await turn();
}

/** Returns every position of a short request, and some positions of a long one. */
function choosePositions(length: number, random: () => number): number[] {
  const positions = Array.from({ length: length - 1 }, (_, index) => index + 1);
  return length < 1000 ? positions : positions.filter(() => random() < 50 / length);
}

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

it("reports no error of the server for any request", async () => {
  for (const [, text] of [...requests, ...finalRequests]) {
    for (const server of [fast, complete]) await send(server, [latin1(text)]);
  }
  expect([...fast.errors, ...complete.errors]).toEqual([]);
});

describe.each([...requests, ...finalRequests])("%s", (_rule, text) => {
  const bytes = latin1(text);
  const isFinal = finalRequests.some(([, each]) => each === text);

  it("gets the same response whole and split at each position, through both transports", async () => {
    const expected = await send(complete, [bytes], { isFinal });
    expect(countResponses(expected)).toBe(1);
    expect(await send(fast, [bytes], { isFinal })).toBe(expected);
    const positions = choosePositions(bytes.length, createRandom(7));
    for (const server of [fast, complete]) {
      const split = await Promise.all(
        positions.map((at) => send(server, [bytes.slice(0, at), bytes.slice(at)], { isFinal })),
      );
      expect(new Set(split)).toEqual(new Set([expected]));
      expect(await send(server, [...bytes], { isFinal })).toBe(expected);
    }
  });

  it.each([
    ["alone", 0],
    ["after others", 2],
  ])("gets the same response %s if the client closes its side", async (_what, others) => {
    const pieces = [post('{"id":3,"name":"rose"}').repeat(others) + bytes];
    // The server may see the end before or after it sends the responses.
    const sendAll = async (server: TestServer): Promise<string> =>
      (await send(server, pieces, { isHalfClosed: true })).replace(
        /^(?:Connection|Keep-Alive): .*\r\n/gm,
        "",
      );
    const expected = await sendAll(complete);
    expect(countResponses(expected)).toBe(others + 1);
    expect(await sendAll(fast)).toBe(expected);
  });

  it("gets the same response pipelined between others", async () => {
    const pieces = [
      post('{"id":3,"name":"rose"}').repeat(2) + bytes + (isFinal ? "" : requests[0]![1]),
    ];
    const options = { count: isFinal ? 3 : 4, isFinal };
    const expected = await send(complete, pieces, options);
    expect(countResponses(expected)).toBe(options.count);
    expect(await send(fast, pieces, options)).toBe(expected);
  });
});
