/** CONTRACT.md as a table: the bytes of a request on the left, status and error number on the right. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer, testToken } from "../helpers/plant-server.ts";
import { exchangeRaw, openRawConnection, type RawAnswer } from "../helpers/raw-http.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ maxBodyBytes: 64 * 1024 });
});
afterAll(() => server.close());

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const defaults: Headers = {
  Host: "localhost",
  Authorization: `Bearer ${testToken}`,
  "Content-Type": "application/json",
};

/** The bytes of a request; a header of undefined is left out, one of several values is sent as often. */
function toRequest(
  body: string | Uint8Array,
  headers: Headers = {},
  requestLine = "POST /plants HTTP/1.1",
): Uint8Array {
  const content = Buffer.from(body as string);
  const merged: Headers = { ...defaults, "Content-Length": String(content.length), ...headers };
  const lines = Object.entries(merged).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((each) => `${name}: ${each}`),
  );
  return Buffer.concat([Buffer.from([requestLine, ...lines, "", ""].join("\r\n")), content]);
}

function send(...request: Parameters<typeof toRequest>): Promise<RawAnswer> {
  return exchangeRaw(server.port, toRequest(...request));
}

function errorOf(answer: RawAnswer): { error: number; message: string } {
  return JSON.parse(answer.body) as { error: number; message: string };
}

function expectError(answer: RawAnswer, status: number, error: number): void {
  const body = errorOf(answer);
  expect({ status: answer.status, error: body.error }).toEqual({ status, error });
  expect(Object.keys(body)).toEqual(["error", "message"]);
  expect(body.message).toMatch(/^[^\n\r]{10,}$/);
  expect(Buffer.byteLength(body.message)).toBeLessThanOrEqual(1000);
  expect(answer.headers).toMatchObject({
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
}

let lastId = 0;
/** An id that no other row of the tables uses. */
const freshId = (): number => ++lastId;

describe("a valid NewPlant is answered with 200 and a Plant", () => {
  it.each<[rule: string, body: string, plant: string]>([
    ["name alone", '{"id":-1,"name":"fern"}', '{"name":"fern"}'],
    ["name and tag", '{"id":-2,"name":"fern","tag":"pot"}', '{"name":"fern","tag":"pot"}'],
    ["an empty name and an empty tag", '{"id":-3,"name":"","tag":""}', '{"name":"","tag":""}'],
    ["NUL and controls", '{"id":-4,"name":"a\\u0000\\u001f"}', '{"name":"a\\u0000\\u001f"}'],
    ["any script", '{"id":-5,"name":"mönstera 🌿"}', '{"name":"mönstera 🌿"}'],
    ["escaped pairs", '{"id":-6,"name":"\\ud83c\\udf3f"}', '{"name":"🌿"}'],
    ["unknown members dropped", '{"id":-7,"name":"a","x":{"id":"b"}}', '{"name":"a"}'],
    ["a member called __proto__", '{"__proto__":{"tag":"x"},"id":-8,"name":"a"}', '{"name":"a"}'],
    ["the largest id", '{"id":9223372036854775807,"name":"max"}', '{"name":"max"}'],
    ["the smallest id", '{"id":-9223372036854775808,"name":"min"}', '{"name":"min"}'],
    ["an id with a fraction of zero", '{"id":-9.0,"name":"a"}', '{"name":"a"}'],
    ["an id with an exponent", '{"id":-1e1,"name":"a"}', '{"name":"a"}'],
    ["an id with a negative exponent", '{"id":-110e-1,"name":"a"}', '{"name":"a"}'],
    ["an id of minus zero", '{"id":-0,"name":"zero"}', '{"name":"zero"}'],
    ["a byte order mark", '\uFEFF{"id":-12,"name":"a"}', '{"name":"a"}'],
    ["white space around", ' \t\r\n{"id" : -13 , "name":"a"}\n', '{"name":"a"}'],
  ])("%s", async (_rule, body, plant) => {
    const answer = await send(body);
    expect(answer.body).toBe(plant);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(plant)),
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-plantstore-result": "created",
    });
    expect(answer.headers).not.toHaveProperty("server");
    expect(answer.headers).not.toHaveProperty("x-powered-by");
  });

  it("stores ids that differ by one above 2^53 as two plants", async () => {
    await send('{"id":9007199254740992,"name":"even"}');
    await send('{"id":9007199254740993,"name":"odd"}');
    expect(await server.store.get(9007199254740992n)).toMatchObject({ name: "even" });
    expect(await server.store.get(9007199254740993n)).toMatchObject({ name: "odd" });
  });
});

describe("a body that is no NewPlant is refused", () => {
  it.each<[rule: string, body: string | Uint8Array, error: number, where: RegExp]>([
    ["not JSON, with the byte", '{"id":1,"name":"ö",}', 40001, /at byte 20\b/],
    ["text after the JSON", '{"id":1,"name":"a"} x', 40001, /at byte 20\b/],
    ["JSON that ends early", '{"id":1,"name":"a"', 40001, /the end/],
    ["a number that is not JSON", '{"id":01,"name":"a"}', 40001, /at byte 7\b/],
    ["a control character in a string", '{"id":1,"name":"a\nb"}', 40001, /at byte 17\b/],
    ["not UTF-8", Buffer.from('{"id":1,"name":"\xff"}', "latin1"), 40002, /byte 16\b/],
    ["empty", "", 40003, /empty/],
    ["nested 65 deep", `${"[".repeat(65)}${"]".repeat(65)}`, 40004, /64/],
    ["nested 60,000 deep", "[".repeat(60_000), 40004, /64/],
    ["a member twice, alike", '{"id":1,"name":"a","name":"a"}', 40005, /\/name/],
    ["a member twice, one escaped", '{"id":1,"name":"a","n\\u0061me":"b"}', 40005, /\/name/],
    ["an unknown member twice", '{"id":1,"name":"a","x":{"y":1,"y":2}}', 40005, /\/x\/y/],
    ["a lone surrogate in a name", '{"id":1,"name":"\\ud800"}', 40006, /\/name/],
    ["a lone surrogate elsewhere", '{"id":1,"name":"a","x":["\\udc00"]}', 40006, /\/x\/0/],
    ["an array", "[]", 42200, /array/],
    ["null", "null", 42200, /null/],
    ["a string", '"fern"', 42200, /string/],
    ["no id", '{"name":"a"}', 42201, /\/id/],
    ["an id that is a string", '{"id":"1","name":"a"}', 42202, /\/id is a string/],
    ["an id with a fraction", '{"id":1.5,"name":"a"}', 42202, /\/id is 1\.5/],
    ["an id just beside an integer", '{"id":123456789012345.9999999,"name":"a"}', 42202, /\/id/],
    ["a tiny id", '{"id":1e-999999999,"name":"a"}', 42202, /\/id/],
    ["an id of null", '{"id":null,"name":"a"}', 42202, /\/id is null/],
    ["an id of true", '{"id":true,"name":"a"}', 42202, /\/id is true/],
    ["an id of 2^63", '{"id":9223372036854775808,"name":"a"}', 42203, /9223372036854775807/],
    ["an id below −2^63", '{"id":-9223372036854775809,"name":"a"}', 42203, /\/id/],
    ["an enormous id", '{"id":1e999999999,"name":"a"}', 42203, /\/id is 1e999999999/],
    ["no name", '{"id":1}', 42204, /\/name/],
    ["a name of null", '{"id":1,"name":null}', 42205, /\/name is null/],
    ["a name that is a number", '{"id":1,"name":7}', 42205, /\/name is 7/],
    ["a tag of null", '{"id":1,"name":"a","tag":null}', 42206, /\/tag is null/],
    ["a tag that is an object", '{"id":1,"name":"a","tag":{}}', 42206, /\/tag is an object/],
    ["all at once, first one's number", '{"tag":1}', 42201, /\/id.*\/name.*\/tag/],
    ["over the limit", `{"id":1,"name":"${"a".repeat(64 * 1024)}"}`, 41300, /65536 bytes/],
  ])("%s", async (_rule, body, error, where) => {
    const answer = await send(body);
    expectError(answer, 400, error);
    expect(errorOf(answer).message).toMatch(where);
  });

  it("stores nothing of it", async () => {
    const id = freshId();
    await send(`{"id":${id},"name":"a","tag":null}`);
    expect(await server.store.get(BigInt(id))).toBeUndefined();
  });

  it("quotes no token out of it", async () => {
    const secret = `pst_${"A".repeat(49)}`;
    const answer = await send(`{"${secret}":1,"${secret}":2,"id":1,"name":"a"}`);
    expectError(answer, 400, 40005);
    expect(answer.body).not.toContain("AAAA");
  });
});

describe("the headers of a body are checked", () => {
  const body = '{"id":100000,"name":"a"}';
  it.each<[rule: string, headers: Headers, error: number | undefined]>([
    ["a type in capitals", { "Content-Type": "Application/JSON" }, undefined],
    ["utf-8", { "Content-Type": "application/json; charset=utf-8" }, undefined],
    ["utf-8, quoted", { "Content-Type": 'application/json;charset="UTF-8"' }, undefined],
    ["other parameters", { "Content-Type": "application/json; profile=x; a" }, undefined],
    ["no type", { "Content-Type": undefined }, 41500],
    ["the type of curl -d", { "Content-Type": "application/x-www-form-urlencoded" }, 41500],
    ["a type that ends in +json", { "Content-Type": "application/ld+json" }, 41500],
    ["two types", { "Content-Type": ["application/json", "application/json"] }, 41500],
    ["latin1", { "Content-Type": "application/json; charset=iso-8859-1" }, 41501],
    ["latin1 second", { "Content-Type": "application/json; a=b; Charset=latin1" }, 41501],
    ["gzip", { "Content-Encoding": "gzip" }, 41502],
    [
      "gzip on the way",
      { "Transfer-Encoding": "gzip, chunked", "Content-Length": undefined },
      41502,
    ],
    ["no coding, by name", { "Content-Encoding": "identity" }, undefined],
    ["any Accept", { Accept: "text/html" }, undefined],
    [
      "two of them, first one's number",
      { "Content-Type": "text/plain", "Content-Encoding": "br" },
      41500,
    ],
  ])("%s", async (_rule, headers, error) => {
    const answer = await send(body, headers);
    if (error === undefined) expect(answer.status).toBe(200);
    else expectError(answer, 400, error);
  });

  it("a body that is announced over the limit is refused before it comes", async () => {
    const answer = await send("", { "Content-Length": "10000000000" });
    expectError(answer, 400, 41300);
    expect(answer.headers["connection"]).toBe("close");
  });

  it("a chunked body over the limit is refused", async () => {
    const chunk = `8000\r\n${"a".repeat(0x8000)}\r\n`;
    const head = toRequest("", { "Content-Length": undefined, "Transfer-Encoding": "chunked" });
    const answer = await exchangeRaw(
      server.port,
      Buffer.concat([head, Buffer.from(chunk.repeat(3) + "0\r\n\r\n")]),
    );
    expectError(answer, 400, 41300);
  });

  it("a chunked body within the limit is taken", async () => {
    const head = toRequest("", { "Content-Length": undefined, "Transfer-Encoding": "chunked" });
    const chunks = `5\r\n{"id"\r\n10\r\n:100002,"name":"\r\n3\r\na"}\r\n0\r\n\r\n`;
    const answer = await exchangeRaw(server.port, Buffer.concat([head, Buffer.from(chunks)]));
    expect(answer.body).toBe('{"name":"a"}');
  });
});

describe("a request needs one valid credential", () => {
  const plain = 'Bearer realm="plantstore"';
  const invalid = `${plain}, error="invalid_token"`;
  it.each<
    [rule: string, value: string | readonly string[] | undefined, error: number, challenge: string]
  >([
    ["none", undefined, 40100, plain],
    ["another scheme", "Basic dXNlcjpwYXNz", 40101, plain],
    ["the scheme alone", "Bearer", 40101, plain],
    ["an empty header", "", 40101, plain],
    ["two headers", [`Bearer ${testToken}`, `Bearer ${testToken}`], 40101, invalid],
    ["characters that no token has", "Bearer a,b", 40101, invalid],
    ["two tokens in one", "Bearer a b", 40101, invalid],
    ["an unknown token", "Bearer unknown", 40102, invalid],
    ["a token with its case changed", `Bearer ${testToken.toUpperCase()}`, 40102, invalid],
  ])("%s", async (_rule, value, error, challenge) => {
    const answer = await send('{"id":200000,"name":"a"}', { Authorization: value });
    expectError(answer, 400, error);
    expect(answer.headers["www-authenticate"]).toBe(challenge);
    expect(await server.store.get(200000n)).toBeUndefined();
  });

  it.each([`bearer ${testToken}`, `BEARER  ${testToken}`])("takes %j", async (value) => {
    const answer = await send('{"id":200001,"name":"a"}', { Authorization: value });
    expect(answer.status).toBe(200);
  });

  it("comes before every check of the body", async () => {
    const headers = { Authorization: undefined, "Content-Type": "text/plain" };
    expectError(await send("{", headers), 400, 40100);
  });

  it("is not looked for in the query or the body", async () => {
    const body = `{"id":1,"name":"a","access_token":"${testToken}"}`;
    const line = `POST /plants?access_token=${testToken} HTTP/1.1`;
    expectError(await send(body, { Authorization: undefined }, line), 400, 40100);
  });
});

describe("only POST /plants is the create operation", () => {
  it.each<[requestLine: string, status: number, error: number]>([
    ["POST / HTTP/1.1", 404, 40400],
    ["POST /plants/ HTTP/1.1", 404, 40400],
    ["POST /Plants HTTP/1.1", 404, 40400],
    ["POST //plants HTTP/1.1", 404, 40400],
    ["GET /other HTTP/1.1", 404, 40400],
    ["OPTIONS * HTTP/1.1", 404, 40400],
    ["GET /plants HTTP/1.1", 405, 40500],
    ["PUT /plants HTTP/1.1", 405, 40500],
    ["OPTIONS /plants HTTP/1.1", 405, 40500],
    ["CONNECT localhost:80 HTTP/1.1", 405, 40500],
  ])("%s is %i", async (requestLine, status, error) => {
    const answer = await send("{}", { Authorization: undefined }, requestLine);
    expectError(answer, status, error);
    expect(answer.headers["allow"]).toBe(status === 405 ? "POST" : undefined);
  });

  it("HEAD is answered without a body", async () => {
    const connection = await openRawConnection(server.port);
    const headers = { "Content-Length": undefined, Connection: "close" };
    connection.socket.write(toRequest("", headers, "HEAD /plants HTTP/1.1"));
    await connection.ended();
    expect(connection.received()).toMatch(/^HTTP\/1\.1 405 [^]*\r\n\r\n$/);
  });

  it.each(["/plants", "/healthz", "/readyz", "/openapi.json", "/docs", "/nowhere"])(
    "HEAD of %s is answered as GET, without the body",
    async (path) => {
      const [head, get] = await Promise.all(
        ["HEAD", "GET"].map((method) => fetch(new URL(path, server.url), { method })),
      );
      const told = ["allow", "cache-control", "content-type"];
      expect(head?.status).toBe(get?.status);
      for (const name of told) expect(head?.headers.get(name)).toBe(get?.headers.get(name));
      expect(await head?.text()).toBe("");
      expect(await get?.text()).not.toBe("");
    },
  );

  it.each([
    "POST /plants?x=1 HTTP/1.1",
    "POST http://elsewhere.example/plants HTTP/1.1",
    "POST HTTP://localhost:1/plants?x HTTP/1.1",
  ])("%s is", async (requestLine) => {
    expect((await send('{"id":300000,"name":"a"}', {}, requestLine)).status).toBe(200);
  });

  it("says nothing of the query, where a secret may stand", async () => {
    const answer = await send("", {}, "POST /nowhere?token=hunter2 HTTP/1.1");
    expectError(answer, 404, 40400);
    expect(answer.body).not.toContain("hunter2");
  });
});

describe("what is not well-formed HTTP is answered with an Error too", () => {
  const head = `POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${testToken}\r\nContent-Type: application/json\r\n`;
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
    ["a chunk size that is none", `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 40000],
    ["an expectation we don't have", `${head}Expect: cake\r\nContent-Length: 2\r\n\r\n{}`, 41700],
    ["a long target", `POST /plants?${"a".repeat(9000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 41400],
    ["a very long target", `POST /plants?${"a".repeat(90_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 41400],
    ["large headers", `${head}X: ${"a".repeat(17_000)}\r\n\r\n`, 43100],
    ["very large headers", `${head}X: ${"a".repeat(90_000)}\r\n\r\n`, 43100],
    ["very many headers", `${head}${"X: y\r\n".repeat(10_000)}\r\n`, 43100],
  ])("%s", async (_rule, bytes, error) => {
    expectError(await exchangeRaw(server.port, bytes), 400, error);
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
  ])("and the message says what is wrong with %s", async (_what, bytes, reason) => {
    const { body } = await exchangeRaw(server.port, bytes);
    expect(JSON.parse(body)).toEqual({
      error: 40000,
      message: `the request is not well-formed HTTP/1.1 (${reason})`,
    });
  });

  it("a body that ends early, of a client that still listens", async () => {
    const connection = await openRawConnection(server.port);
    connection.socket.end(`${head}Content-Length: 50\r\n\r\n{"id":1,`);
    const [answer] = await connection.answers(1);
    expectError(answer as RawAnswer, 400, 40000);
    await connection.ended();
  });

  it("HTTP/1.0 without a Host is served", async () => {
    const answer = await send(
      '{"id":400000,"name":"a"}',
      { Host: undefined },
      "POST /plants HTTP/1.0",
    );
    expect(answer.status).toBe(200);
  });
});
