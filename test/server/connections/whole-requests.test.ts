/** Requests that come whole are answered past node:http: nobody can tell, and it knows of them once it has to. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ExchangeRecord } from "../../../src/server/observing/exchange-record.ts";
import { countAnnouncedRequests } from "../../helpers/announced-requests.ts";
import { createHeldStore } from "../../helpers/held-store.ts";
import { startServer, testToken } from "../../helpers/plant-server.ts";
import { openRawConnection } from "../../helpers/raw-http.ts";

const authorization = `Authorization: Bearer ${testToken}\r\n`;
const json = "Content-Type: application/json\r\n";

function post(body: string, fields = authorization + json): string {
  return `POST /plants HTTP/1.1\r\nHost: a\r\nX-Request-Id: given\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
const get = (target: string, method = "GET"): string =>
  `${method} ${target} HTTP/1.1\r\nHost: a\r\nX-Request-Id: given\r\n\r\n`;
const fern = post('{"id":1,"name":"fern"}');

const statuses = (text: string): number[] =>
  Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status));

describe("byte by byte the same answer as from node:http has", () => {
  it.each<[what: string, request: string]>([
    ["a create", fern],
    ["one with the spaces and the line breaks of others", post('{\n "id": 1,\n "name": "fern"\n}')],
    ["one beyond ASCII", post('{"id":2,"name":"Bärlauch 🌿","tag":"\\u00e9"}')],
    ["one of a different plant", post('{"id":3,"name":"moss"}')],
    ["a broken body", post('{"id":1')],
    ["an empty body", post("")],
    ["a wrong token", post("{}", `Authorization: Bearer wrong\r\n${json}`)],
    ["no token", post("{}", json)],
    ["a wrong content type", post("{}", `${authorization}Content-Type: text/plain\r\n`)],
    ["a content coding", post("{}", `${authorization}${json}Content-Encoding: gzip\r\n`)],
    ["GET /healthz", get("/healthz")],
    ["HEAD /healthz", get("/healthz", "HEAD")],
    ["GET /readyz", get("/readyz")],
    ["GET /openapi.json", get("/openapi.json")],
    ["GET /docs", get("/docs").replace("Host: a", "Host: localhost")],
    ["GET /plants", get("/plants")],
    ["another path", get("/nowhere")],
    ["OPTIONS", get("/plants", "OPTIONS")],
  ])("%s", async (_what, request) => {
    const count = countAnnouncedRequests();
    await using server = await startServer({ corsOrigins: ["*"] });
    await server.store.create({ id: 3n, name: "rose" }, "reject");
    const receive = async (pieces: readonly string[]): Promise<string> => {
      const connection = await openRawConnection(server.port);
      for (const piece of pieces) {
        connection.socket.write(piece);
        await sleep(20);
      }
      while (!connection.received().includes("\r\n\r\n")) await sleep(5);
      await sleep(20);
      connection.socket.destroy();
      return connection.received().replace(/Date: .*/, "Date");
    };
    // Of this one node:http has to know, because another one is behind it.
    const both = await receive([request + get("/behind")]);
    const known = both.slice(0, both.lastIndexOf("HTTP/1.1 404"));
    expect(count()).toBe(2);
    const whole = await receive([request]);
    expect(count()).toBe(2);
    expect(whole.replace("Result: unchanged", "Result: created")).toBe(known);
  });
});

describe("node:http is left", () => {
  it.each<[what: string, pieces: readonly string[]]>([
    ["a body that comes later than its head", [fern.slice(0, -22), fern.slice(-22)]],
    ["a body that comes in pieces", [fern.slice(0, -3), fern.slice(-3)]],
    ["a body of 16 KiB and more", [post(`{"id":1,"name":"${"f".repeat(2 ** 14)}"}`)]],
    [
      "a body in chunks",
      [
        fern.replace(
          /Content-Length: \d+\r\n\r\n(.*)/,
          "Transfer-Encoding: chunked\r\n\r\n16\r\n$1\r\n0\r\n\r\n",
        ),
      ],
    ],
    ["the last request of a connection", [fern.replace("Host", "Connection: close\r\nHost")]],
    ["a request of HTTP/1.0", [fern.replace("HTTP/1.1", "HTTP/1.0")]],
  ])("%s", async (_what, pieces) => {
    const count = countAnnouncedRequests();
    await using server = await startServer();
    const connection = await openRawConnection(server.port);
    for (const piece of pieces) {
      connection.socket.write(piece);
      await sleep(20);
    }
    expect(await connection.answers(1)).toMatchObject([{ status: 200 }]);
    expect(count()).toBe(1);
    connection.socket.destroy();
  });
});

describe("while a whole request waits for the store,", () => {
  it.each<[what: string, pieces: readonly string[]]>([
    ["in the same piece", [fern + get("/healthz") + get("/nowhere")]],
    ["in others", [fern, get("/healthz"), get("/nowhere")]],
    [
      "broken in the middle",
      [fern, get("/healthz").slice(0, 9), get("/healthz").slice(9) + get("/nowhere")],
    ],
  ])("what comes behind it %s is answered behind it", async (_what, pieces) => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store });
    const connection = await openRawConnection(server.port);
    for (const piece of pieces) {
      connection.socket.write(piece);
      await sleep(20);
    }
    expect(connection.received()).toBe("");
    held.release("created");
    await connection.answers(3);
    expect(statuses(connection.received())).toEqual([200, 200, 404]);
    // And so is the next one, past node:http again.
    const count = countAnnouncedRequests();
    connection.socket.write(fern);
    await held.isWaiting(1);
    held.release("unchanged");
    await connection.answers(4);
    expect(count()).toBe(0);
    expect(server.errors).toEqual([]);
    connection.socket.destroy();
  });

  it("malformed HTTP behind it is refused behind its answer", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store });
    const connection = await openRawConnection(server.port);
    connection.socket.write(fern);
    await held.isWaiting(1);
    connection.socket.write("no request\r\n\r\n");
    await sleep(20);
    held.release("created");
    await connection.ended();
    expect(statuses(connection.received())).toEqual([200, 400]);
    expect(connection.received()).toMatch(/"error":40000/);
  });

  it("the end of the client's side takes no answer from it", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store });
    const connection = await openRawConnection(server.port);
    connection.socket.end(fern);
    await held.isWaiting(1);
    await sleep(20);
    held.release("created");
    await connection.ended();
    expect(statuses(connection.received())).toEqual([200]);
    expect(server.errors).toEqual([]);
  });

  it("a client that goes away is noted as such, and its connection is forgotten", async () => {
    const held = createHeldStore();
    const records: ExchangeRecord[] = [];
    await using server = await startServer({
      store: held.store,
      onExchange: (record) => records.push(record),
    });
    const connection = await openRawConnection(server.port);
    connection.socket.write(fern);
    await held.isWaiting(1);
    connection.socket.resetAndDestroy();
    await expect.poll(() => server.server.readLoad().connections).toBe(0);
    held.release("created");
    await expect.poll(() => records).toMatchObject([{ status: 200, isAborted: true }]);
    expect(server.server.readLoad()).toEqual({ creates: 0, bodyBytes: 0, connections: 0 });
    expect(server.errors).toEqual([]);
  });

  it("a server that stops answers it, and ends the connection", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store });
    const connection = await openRawConnection(server.port);
    connection.socket.write(fern);
    await held.isWaiting(1);
    const closed = server.server.close(5000);
    await sleep(120);
    expect(connection.isOpen()).toBe(true);
    held.release("created");
    const [answer] = await connection.answers(1);
    expect(answer).toMatchObject({ status: 200, headers: { connection: "close" } });
    await closed;
  });

  it("its body counts, and no longer", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store });
    const connection = await openRawConnection(server.port);
    connection.socket.write(fern);
    await held.isWaiting(1);
    expect(server.server.readLoad()).toEqual({ creates: 1, bodyBytes: 22, connections: 1 });
    held.release("created");
    await connection.answers(1);
    expect(server.server.readLoad()).toEqual({ creates: 0, bodyBytes: 0, connections: 1 });
    connection.socket.destroy();
  });
});

describe("behind an answer past node:http a connection", () => {
  it("is ended once nothing has come for the idle time and a second, and no sooner", async () => {
    const held = createHeldStore();
    await using server = await startServer({ store: held.store, idleTimeoutMs: 300 });
    const connection = await openRawConnection(server.port);
    connection.socket.write(fern);
    await held.isWaiting(1);
    await sleep(2500);
    held.release("created");
    await connection.answers(1);
    const answeredAtMs = performance.now();
    await connection.ended();
    expect(performance.now() - answeredAtMs).toBeGreaterThan(1290);
    expect(connection.failure()).toBeUndefined();
  });

  it("is kept while the head of the next request is on its way", async () => {
    await using server = await startServer({ idleTimeoutMs: 300 });
    const connection = await openRawConnection(server.port);
    connection.socket.write(fern);
    await connection.answers(1);
    connection.socket.write(fern.slice(0, 30));
    await sleep(2500);
    connection.socket.write(fern.slice(30));
    await connection.answers(2);
    expect(statuses(connection.received())).toEqual([200, 200]);
    connection.socket.destroy();
  });

  it("is ended when nothing but line breaks come", async () => {
    await using server = await startServer({ idleTimeoutMs: 300, requestTimeoutMs: 600 });
    const connection = await openRawConnection(server.port);
    connection.socket.write(fern);
    await connection.answers(1);
    while (connection.isOpen()) {
      connection.socket.write("\r\n");
      await sleep(100);
    }
    expect(statuses(connection.received())).toEqual([200]);
  });

  it("keeps nothing of its request", async () => {
    let parser: { incoming?: unknown } | undefined;
    const onSocket = (message: unknown): void => {
      ({ parser } = (message as { socket: { parser?: { incoming?: unknown } } }).socket);
    };
    subscribe("net.server.socket", onSocket);
    onTestFinished(() => void unsubscribe("net.server.socket", onSocket));
    await using server = await startServer();
    const connection = await openRawConnection(server.port);
    connection.socket.write(fern);
    await connection.answers(1);
    expect(parser).toBeDefined();
    expect(parser?.incoming).toBeNull();
    connection.socket.destroy();
  });

  it("that reads no answers is not read any further, and has all of them once it reads on", async () => {
    let count = 0;
    await using server = await startServer({ idleTimeoutMs: 300, onExchange: () => count++ });
    const connection = await openRawConnection(server.port);
    connection.socket.pause();
    let sent = 0;
    do {
      connection.socket.write(get("/openapi.json"));
      sent++;
      for (let wait = 0; wait < 100 && count < sent; wait++) await sleep(2);
    } while (count === sent);
    // Longer than an idle connection is kept.
    await sleep(2500);
    expect(count).toBe(sent - 1);
    connection.socket.resume();
    const countBodies = () => Array.from(connection.received().matchAll(/^\}$/gm)).length;
    await expect.poll(countBodies, { timeout: 5000 }).toBe(sent);
    connection.socket.destroy();
  });
});

describe("in a piece of its own, behind the last request of a connection,", () => {
  const last = (fields: string, version = "1.1"): string =>
    `GET /healthz HTTP/${version}\r\nHost: a\r\n${fields}\r\n`;

  it.each<[what: string, request: string, answers: number]>([
    ["which has two Host headers", last("Host: b\r\n"), 1],
    ["which asks for another protocol", last("Upgrade: x\r\n"), 1],
    ["which names no coding", last("Transfer-Encoding: ,chunked\r\n") + "0\r\n\r\n", 1],
    ["which is one too many", get("/healthz").repeat(33), 33],
  ])("%s a request is not performed", async (_what, request, answers) => {
    const records: ExchangeRecord[] = [];
    await using server = await startServer({ onExchange: (record) => records.push(record) });
    const connection = await openRawConnection(server.port);
    connection.socket.write(request);
    await expect.poll(() => statuses(connection.received()).length).toBe(answers);
    connection.socket.write(fern);
    connection.socket.write(fern);
    await connection.ended();
    expect(await server.store.get(1n)).toBeUndefined();
    expect(records).toHaveLength(answers);
    expect(statuses(connection.received())).toHaveLength(answers);
  });
});

it("an answer that can't be given costs its own connection, and no other answer", async () => {
  const failure = new Error("staged");
  let isFirst = true;
  await using server = await startServer({
    onExchange() {
      const fails = isFirst;
      isFirst = false;
      if (fails) throw failure;
    },
  });
  const connections = await Promise.all([1, 2, 3].map(() => openRawConnection(server.port)));
  for (const { socket } of connections) socket.write(fern);
  const outcomes = await Promise.allSettled(connections.map(({ answers }) => answers(1)));
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
  ]);
  expect(server.errors).toEqual([failure]);
  for (const { socket } of connections) socket.destroy();
});
