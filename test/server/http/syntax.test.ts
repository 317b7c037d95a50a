/** The syntax of HTTP: rejects malformed requests with an Error, and accepts unusual well-formed requests. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectError,
  type ServersOfBothModes,
  startBothModes,
  toRequestBytes,
} from "../../helpers/exchange.ts";
import type { TestServer } from "../../helpers/plant-server.ts";
import { openRawConnection } from "../../helpers/raw-http.ts";
import { toRawHead } from "../../helpers/raw-request.ts";
import type { Response } from "../../conformance/response.ts";

let servers: ServersOfBothModes;
let server: TestServer;
beforeAll(async () => {
  servers = await startBothModes({ maxBodyBytes: 64 * 1024 });
  ({ server } = servers);
});
afterAll(() => servers.close());

describe("responds to malformed HTTP with an Error", () => {
  const head = toRawHead();
  it.each<[rule: string, bytes: string, error: number]>([
    ["no HTTP at all", "hello\r\n\r\n", 40000],
    ["another protocol", "\u0016\u0003\u0001\u0002\u0000\r\n\r\n", 40000],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 40000],
    ["another version", "POST /plants HTTP/2.0\r\nHost: a\r\n\r\n", 40000],
    ["no Host", "POST /plants HTTP/1.1\r\n\r\n", 40000],
    ["two Hosts", "POST /plants HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 40000],
    ["a malformed Host", "POST /plants HTTP/1.1\r\nHost: a b\r\n\r\n", 40000],
    ["a Host with a user", "POST /plants HTTP/1.1\r\nHost: a@b\r\n\r\n", 40000],
    ["a header without a colon", "POST /plants HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n", 40000],
    ["two different lengths", `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 40000],
    [
      "a length and chunks",
      `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      40000,
    ],
    ["an invalid chunk size", `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 40000],
    ["an unknown expectation", `${head}Expect: cake\r\nContent-Length: 2\r\n\r\n{}`, 41700],
    ["a long target", `POST /plants?${"a".repeat(9000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 41400],
    ["a very long target", `POST /plants?${"a".repeat(90_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 41400],
    ["a target too long to be read", `GET /${"a".repeat(300_000)} HTTP/1.1\r\n\r\n`, 43100],
    ["large headers", `${head}X: ${"a".repeat(17_000)}\r\n\r\n`, 43100],
    ["very large headers", `${head}X: ${"a".repeat(90_000)}\r\n\r\n`, 43100],
    ["very many headers", `${head}${"X: y\r\n".repeat(10_000)}\r\n`, 43100],
  ])("%s", async (_rule, bytes, error) => {
    expectError(await servers.exchangeBytes(bytes), 400, error);
  });

  it.each([
    ["the method", "FOO /plants HTTP/1.1\r\nHost: a\r\n\r\n", "Invalid method encountered"],
    ["the version", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "it is HTTP/2"],
    ["a header", "GET / HTTP/1.1\r\nHo st: a\r\n\r\n", "Invalid header token"],
    [
      "the chunks",
      `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      "Invalid character in chunk size",
    ],
  ])("reports what is wrong with %s", async (_part, bytes, reason) => {
    const { body } = await servers.exchangeBytes(bytes);
    expect(JSON.parse(body)).toEqual({
      error: 40000,
      message: `the request is not well-formed HTTP/1.1 (${reason})`,
    });
  });

  it("responds to a body that ends early if the client still reads", async () => {
    const connection = await openRawConnection(server.port);
    connection.socket.end(`${head}Content-Length: 50\r\n\r\n{"id":1,`);
    const [response] = await connection.responses(1);
    expectError(response as Response, 400, 40000);
    await connection.ended();
  });
});

describe("reads chunked bodies", () => {
  const head = toRequestBytes({
    headers: { "Content-Length": undefined, "Transfer-Encoding": "chunked" },
  });

  it("rejects one over the limit", async () => {
    const chunk = `8000\r\n${"a".repeat(0x8000)}\r\n`;
    const body = Buffer.from(chunk.repeat(3) + "0\r\n\r\n");
    expectError(await servers.exchangeBytes(Buffer.concat([head, body])), 400, 41300);
  });

  it("accepts one within the limit", async () => {
    const chunks = `5\r\n{"id"\r\n10\r\n:100002,"name":"\r\n3\r\na"}\r\n0\r\n\r\n`;
    const response = await servers.exchangeBytes(Buffer.concat([head, Buffer.from(chunks)]));
    expect(response.body).toBe('{"name":"a"}');
  });
});

it("closes the connection after a body that is announced over the limit", async () => {
  const headers = { "Content-Length": "10000000000" };
  const response = await servers.exchangeBytes(toRequestBytes({ headers }));
  expectError(response, 400, 41300);
  expect(response.headers["connection"]).toBe("close");
});

it("rejects CONNECT", async () => {
  const request = toRequestBytes({ line: "CONNECT localhost:80" });
  const response = await servers.exchangeBytes(request);
  expectError(response, 405, 40500);
  expect(response.headers["allow"]).toBe("POST");
});

it("responds to HEAD without a body", async () => {
  const connection = await openRawConnection(server.port);
  const headers = { "Content-Length": undefined, Connection: "close" };
  connection.socket.write(toRequestBytes({ headers, line: "HEAD /plants" }));
  await connection.ended();
  expect(connection.received()).toMatch(/^HTTP\/1\.1 405 [^]*\r\n\r\n$/);
});

it("accepts HTTP/1.0 without a Host", async () => {
  const request = { body: '{"id":400000,"name":"a"}', headers: { Host: undefined } };
  const response = await servers.exchangeBytes(toRequestBytes(request, "1.0"));
  expect(response.status).toBe(200);
});
