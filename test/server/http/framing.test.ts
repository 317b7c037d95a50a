/** The end of one request and the beginning of the next: rejects ambiguous bytes, and reads nothing after them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer, testToken } from "../../helpers/plant-server.ts";
import { openRawConnection } from "../../helpers/raw-http.ts";
import { toRawHead } from "../../helpers/raw-request.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const head = toRawHead();
const chunked = `${head}Transfer-Encoding: chunked\r\n`;
const chunks = '5\r\n{"id"\r\n11\r\n:1,"name":"fern"}\r\n0\r\n\r\n';

function create(id: number): string {
  const body = `{"id":${id},"name":"fern"}`;
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** Gets a response only if the request before it was parsed to a wrong end. */
const smuggled = create(666);
const length = (value: string): string => `${head}Content-Length: ${value}\r\n\r\n{}`;
const coding = (value: string): string => `${head}Transfer-Encoding:${value}\r\n\r\n${chunks}`;

describe("rejects, and closes the connection after the response:", () => {
  it.each<[rule: string, bytes: string]>([
    [
      "a length and chunks",
      `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["chunks and a length", `${chunked}Content-Length: 5\r\n\r\n0\r\n\r\n`],
    ["two equal lengths", length("2\r\nContent-Length: 2")],
    ["a list of equal lengths", length("2, 2")],
    ["a length with a sign", length("+2")],
    ["a negative length", length("-2")],
    ["a hexadecimal length", length("0x2")],
    ["a length with an exponent", length("2e0")],
    ["an empty length", length("")],
    ["a length of 23 digits", length("9".repeat(23))],
    ["a space before the colon", length("2").replace("Length:", "Length :")],
    ["an empty coding", coding("")],
    ["an empty coding, and a length", coding("\r\nContent-Length: 38")],
    ["a list of codings with a gap", coding(" ,chunked")],
    ["chunked twice", coding(" chunked\r\nTransfer-Encoding: chunked")],
    ["chunked that is not last", coding(" chunked, identity")],
    ["chunked after a vertical tab", coding("\vchunked")],
    ["a coding on the next line", coding("\r\n chunked")],
    ["chunked in HTTP/1.0", coding(" chunked").replace("1.1", "1.0")],
    ["an obsolete folded line", create(1).replace("Host: localhost", "Host: localhost\r\n x")],
    ["a folded first line", create(1).replace("Host", " Host")],
    ["a bare LF after the request line", create(1).replace("1.1\r", "1.1")],
    ["a bare LF after a header", create(1).replace("localhost\r", "localhost")],
    ["a bare LF before the body", create(1).replace("\r\n\r\n", "\n\n")],
    ["a bare CR in a header", create(1).replace("Host: localhost", "Host: local\rhost")],
    ["a NUL in a header", create(1).replace("Host: localhost", "Host: local\0host")],
    ["a NUL in a name", create(1).replace("Host", "Ho\0st")],
    ["a header without a name", create(1).replace("Host", "")],
    ["a space in a name", create(1).replace("Host:", "Ho st:")],
    ["two Hosts", create(1).replace("Host: localhost", "Host: a\r\nHost: b")],
    ["a space in the target", create(1).replace("/plants", "/plants x")],
    ["a method in lower case", create(1).replace("POST", "post")],
    ["HTTP/1.2", create(1).replace("1.1", "1.2")],
    ["HTTP/0.9", "GET /plants\r\n\r\n"],
    ["a chunk size with a prefix", `${chunked}\r\n0x5\r\n{"id"\r\n0\r\n\r\n`],
    ["a negative chunk size", `${chunked}\r\n-5\r\n{"id"\r\n0\r\n\r\n`],
    ["a space before a chunk size", `${chunked}\r\n 5\r\n{"id"\r\n0\r\n\r\n`],
    ["a space after a chunk size", `${chunked}\r\n5 \r\n{"id"\r\n0\r\n\r\n`],
    ["a chunk size of 17 digits", `${chunked}\r\n${"f".repeat(17)}\r\n{"id"`],
    ["a bare LF after a chunk size", `${chunked}\r\n5\n{"id"\r\n0\r\n\r\n`],
    ["a bare LF after a chunk", `${chunked}\r\n5\r\n{"id"\n0\r\n\r\n`],
    ["a chunk that is longer than its size", `${chunked}\r\n5\r\n{"id":0\r\n\r\n`],
    ["a bare CR in a chunk extension", `${chunked}\r\n5;a\rb\r\n{"id"\r\n0\r\n\r\n`],
    ["a bare LF in a chunk extension", `${chunked}\r\n5;a\n{"id"\r\n0\r\n\r\n`],
    ["an oversized chunk extension", `${chunked}\r\n5;a=${"b".repeat(20_000)}\r\n{"id"`],
    ["a trailer without a colon", `${chunked}\r\n${chunks.slice(0, -2)}nonsense\r\n\r\n`],
  ])("%s", async (_rule, bytes) => {
    const connection = await openRawConnection(server.port);
    connection.socket.write(Buffer.from(bytes + smuggled, "latin1"));
    await connection.ended();
    expect(connection.received().match(/HTTP\/1\.1 \d+|"error":\d+/g)).toEqual([
      "HTTP/1.1 400",
      '"error":40000',
    ]);
    expect(connection.received()).toContain("Connection: close\r\n");
    expect(await server.store.get(666n)).toBeUndefined();
    expect(server.errors).toEqual([]);
  });
});

describe("reads to its end, and the next request after it:", () => {
  it.each<[rule: string, bytes: string, status: number]>([
    ["empty lines before the request", `\r\n\r\n${create(1)}`, 200],
    ["a length with a leading zero", create(1).replace("Length: ", "Length: 0"), 200],
    ["chunked, in capitals and with spaces around", coding("\t CHUNKED "), 200],
    ["a small chunk extension", `${chunked}\r\n${chunks.replace("5", "5;a=b")}`, 200],
    ["a trailer", `${chunked}\r\n${chunks.slice(0, -2)}X-Sum: 1\r\n\r\n`, 200],
    ["an absolute target", create(1).replace("/plants", "http://a/plants"), 200],
    ["a POST without a body", `${head}\r\n`, 400],
    ["a GET with a body", "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 200],
    ["a rejected credential", create(1).replace(testToken, "wrong"), 400],
    ["a target in another form", create(1).replace("/plants", "*"), 404],
    ["an unknown expectation", create(1).replace("Host", "Expect: cake\r\nHost"), 400],
  ])("%s", async (_rule, bytes, status) => {
    const connection = await openRawConnection(server.port);
    connection.socket.write(bytes + create(1));
    const responses = await connection.responses(2);
    expect(responses.map((response) => response.status)).toEqual([status, 200]);
    connection.socket.destroy();
  });
});

it("responds in HTTP/1.1 to a request for another protocol, and closes the connection", async () => {
  const connection = await openRawConnection(server.port);
  const upgrade = "Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c";
  connection.socket.write(create(1).replace("Host: localhost", upgrade) + smuggled);
  await connection.ended();
  expect(connection.received().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
  expect(connection.received()).toContain("Connection: close\r\n");
  expect(await server.store.get(666n)).toBeUndefined();
});
