/** Clients that send many requests without waiting for responses: the server handles a limited number. */
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { countAnnouncedRequests } from "../../helpers/announced-requests.ts";
import { createHeldAuthenticator } from "../../helpers/held-authenticator.ts";
import { startHeldServer } from "../../helpers/held-store.ts";
import { startServer } from "../../helpers/plant-server.ts";
import { openRawConnection, sendRaw, untilRead } from "../../helpers/raw-http.ts";
import { toRawCreate, toRawGet, toRawHead } from "../../helpers/raw-request.ts";

const create = toRawCreate;
const ids = (count: number): string[] => Array.from({ length: count }, (_, id) => `${id}`);
const creates = (count: number): string =>
  Array.from({ length: count }, (_, id) => create(id, `fern${id}`)).join("");
/** A create for node:http. */
const notSimple = create(0, "fern0", { headers: "X-Other: yes\r\n" });

it("responds to each of many requests in one piece, 32 at a time", async () => {
  await using server = await startHeldServer();
  using connection = await sendRaw(server.port, creates(1000));
  await server.held.isWaiting(32);
  while (connection.read().responses.length < 1000) {
    expect(server.server.readLoad().changes).toBeLessThanOrEqual(32);
    server.held.release("created");
    await turn();
  }
  await connection.responses(1000);
  expect(connection.received().match(/(?<="fern)\d+/g)).toEqual(ids(1000));
  expect(server.errors).toEqual([]);
});

it("responds to each request of a client that closes its side after many", async () => {
  await using server = await startServer();
  using connection = await openRawConnection(server.port);
  connection.socket.end(creates(1000));
  await connection.ended();
  expect(connection.received().match(/(?<="fern)\d+/g)).toEqual(ids(1000));
  expect(server.errors).toEqual([]);
});

it("responds to the queued requests when it stops", async () => {
  await using server = await startHeldServer();
  using connection = await sendRaw(server.port, creates(1000));
  await server.held.isWaiting(32);
  await untilRead(server.port);
  const closing = server.server.close(60_000);
  server.held.release("created");
  await server.held.isWaiting(1);
  while (connection.isOpen()) {
    server.held.release("created");
    await turn();
  }
  await closing;
  const received = await connection.resultsAtEnd();
  expect(received.length).toBeGreaterThanOrEqual(33);
  expect(new Set(received)).toEqual(new Set(["200"]));
  expect(server.errors).toEqual([]);
});

it("does not count the time that a request waits for earlier ones", async () => {
  await using server = await startHeldServer({ requestTimeoutMs: 3000 });
  using connection = await openRawConnection(server.port);
  // node:http reads only the start of the long head before 33 requests are there.
  const long = create(33, "fern33", { headers: `X-Long: ${"a".repeat(12_000)}\r\n` });
  connection.socket.write(notSimple + creates(32) + long);
  await server.held.isWaiting(32);
  // Headers have a third of the time, which is checked each second.
  await sleep(2200);
  server.held.release("created");
  await server.held.isWaiting(2);
  server.held.release("created");
  expect(await connection.results(34)).toEqual(Array(34).fill("200"));
});

it("handles one request at a time before it has accepted a token", async () => {
  const { authenticator, release, waiting } = createHeldAuthenticator();
  await using server = await startServer({ authenticator });
  using connection = await sendRaw(server.port, creates(300));
  await expect.poll(waiting).toBe(1);
  await untilRead(server.port);
  expect(waiting()).toBe(1);
  release();
  await connection.responses(300);
  expect(connection.received().match(/(?<="fern)\d+/g)).toEqual(ids(300));
});

it.each([
  ["without a token", "", "400 40100"],
  ["with a wrong token", `Authorization: Bearer pst_${"x".repeat(43)}\r\n`, "400 40102"],
])("responds in order to each of 200 requests %s", async (_what, header, result) => {
  await using server = await startServer();
  using connection = await openRawConnection(server.port);
  const toRequest = (id: string): string =>
    `POST /plants HTTP/1.1\r\nHost: a\r\nX-Request-Id: r${id}\r\n${header}Content-Length: 2\r\n\r\n{}`;
  connection.socket.write(ids(200).map(toRequest).join(""));
  expect(await connection.results(200)).toEqual(Array(200).fill(result));
  expect(connection.received().match(/(?<=X-Request-Id: r)\d+/g)).toEqual(ids(200));
});

it.each([
  ["simple creates", `POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`],
  ["other requests", toRawGet("/healthz")],
])("closes a connection without a token with more than 32 KiB of %s", async (_what, request) => {
  await using server = await startServer();
  using connection = await openRawConnection(server.port);
  connection.socket.write(request.repeat(2000));
  await expect.poll(() => connection.isOpen()).toBe(false);
  expect(server.server.readLoad()).toMatchObject({ waitingBytes: 0, connections: 0 });
});

it("parses no request behind a body before it has accepted a token", async () => {
  const count = countAnnouncedRequests();
  const { authenticator, release, waiting } = createHeldAuthenticator();
  await using server = await startServer({ authenticator });
  using connection = await openRawConnection(server.port);
  const first = create(0, "a".repeat(3000), { headers: "X-Other: yes\r\n" });
  const next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  connection.socket.write(first.slice(0, -100));
  await expect.poll(waiting).toBe(1);
  connection.socket.write(first.slice(-100) + next.repeat(200));
  await untilRead(server.port);
  // The other request is that of untilRead.
  expect(count()).toBe(2);
  release();
  await connection.responses(201);
});

it("stops parsing after 33, although many requests follow", async () => {
  const count = countAnnouncedRequests();
  await using server = await startHeldServer();
  const { socket } = await sendRaw(server.port, notSimple + creates(5000));
  await server.held.isWaiting(32);
  await expect.poll(count).toBeGreaterThanOrEqual(33);
  await sleep(100);
  expect(count()).toBe(33);
  socket.destroy();
});

it.each([
  ["of many blank lines", `c350\r\n${"x\r\n\r\n".repeat(10_000)}\r\n`],
  ["in pieces of one byte", "1\r\nx\r\n".repeat(10_000)],
])("responds to others while it parses a chunked body %s", async (_what, chunks) => {
  await using server = await startServer();
  using other = await sendRaw(server.port, toRawGet("/healthz"));
  await other.responses(1);
  const head = toRawHead({ headers: "Transfer-Encoding: chunked\r\n" });
  using connection = await sendRaw(server.port, `${head}\r\n`);
  await untilRead(server.port);
  connection.socket.write(`${chunks}0\r\n\r\n`);
  other.socket.write(toRawGet("/healthz"));
  expect(await other.results(2)).toEqual(["200", "200"]);
  expect(connection.read().responses).toEqual([]);
  expect(await connection.results(1)).toEqual(["400 40001"]);
});

it("sends all responses to a client that continues to send after the last request", async () => {
  await using server = await startHeldServer();
  using connection = await openRawConnection(server.port);
  connection.socket.pause();
  // Together, the responses are larger than the buffers between the two.
  const name = "fern".repeat(60_000);
  for (let id = 0; id < 31; id++) connection.socket.write(create(id, name));
  connection.socket.write(create(31, name, { headers: "Connection: close\r\n" }));
  await server.held.isWaiting(32);
  server.held.release("created");
  const sending = setInterval(() => void connection.socket.write(creates(10)), 1);
  await sleep(50);
  connection.socket.resume();
  expect(await connection.resultsAtEnd()).toEqual(Array(32).fill("200"));
  clearInterval(sending);
  expect(connection.failure()).toBeUndefined();
});

it("responds to another client between the large responses to one", async () => {
  const paths: (string | undefined)[] = [];
  await using server = await startServer({ onResponse: ({ path }) => paths.push(path) });
  using many = await openRawConnection(server.port);
  using single = await openRawConnection(server.port);
  many.socket.write(toRawGet("/openapi.json").repeat(32));
  single.socket.write(toRawGet("/healthz"));
  await expect.poll(() => paths.length).toBe(33);
  expect(paths.indexOf("/healthz")).toBeLessThan(16);
});

it("sends a further large response once its client has read the one before", async () => {
  let sent = 0;
  const options = { maxBodyBytes: 8 * 1024 * 1024, onResponse: () => sent++ };
  await using server = await startHeldServer(options);
  using connection = await openRawConnection(server.port);
  connection.socket.pause();
  // Two are larger than the buffers between the two.
  const name = "a".repeat(6_000_000);
  for (let id = 0; id < 5; id++) connection.socket.write(create(id, name));
  await server.held.isWaiting(5);
  server.held.release("created");
  await expect.poll(() => sent).toBeGreaterThan(0);
  for (let count = 0; count < 100; count++) await turn();
  expect(sent).toBeLessThan(5);
  connection.socket.resume();
  expect(await connection.results(5)).toEqual(Array(5).fill("200"));
});

it.each([
  ["the last request of a connection", "GET /healthz HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n\r\n"],
  ["a malformed request", "GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n"],
])("stops parsing after %s", async (_what, first) => {
  const count = countAnnouncedRequests();
  await using server = await startServer();
  const next = toRawGet("/healthz");
  using connection = await sendRaw(server.port, first + next.repeat(1000));
  expect(await connection.resultsAtEnd()).toHaveLength(1);
  expect(count()).toBeLessThanOrEqual(1);
});

it("reads the rest of a body after the responses to 32 requests before it", async () => {
  await using server = await startHeldServer();
  using connection = await openRawConnection(server.port);
  const requests = notSimple + creates(32);
  connection.socket.write(requests.slice(0, -5));
  await server.held.isWaiting(32);
  connection.socket.write(requests.slice(-5));
  server.held.release("created");
  await server.held.isWaiting(1);
  server.held.release("created");
  expect(await connection.results(33)).toEqual(Array(33).fill("200"));
});

it("reads an incomplete request after the responses to 32 simple ones", async () => {
  await using server = await startHeldServer({ fastLane: true });
  using connection = await sendRaw(server.port, creates(33).slice(0, -5));
  await server.held.isWaiting(32);
  server.held.release("created");
  await connection.responses(32);
  connection.socket.write(creates(33).slice(-5));
  await server.held.isWaiting(1);
  server.held.release("created");
  expect(await connection.results(33)).toEqual(Array(33).fill("200"));
});

it("keeps no memory of the requests after a GET when the client leaves", async () => {
  await using server = await startHeldServer();
  using connection = await sendRaw(server.port, notSimple + toRawGet("/healthz") + creates(3));
  await server.held.isWaiting(1);
  connection.reset();
  await expect.poll(() => server.server.readLoad().connections).toBe(0);
  server.held.release("created");
  await expect.poll(() => server.server.readLoad()).toMatchObject({ changes: 0, waitingBytes: 0 });
});
