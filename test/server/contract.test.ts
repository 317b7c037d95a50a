/** The contract above the syntax of HTTP, as tables: a request on the left, its status and error number on the right. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  errorOf,
  expectError,
  type RequestHeaders,
  type ServersOfBothModes,
  startBothModes,
} from "../helpers/exchange.ts";
import { type TestServer, testToken } from "../helpers/plant-server.ts";
import type { Response } from "../conformance/response.ts";

let servers: ServersOfBothModes;
let server: TestServer;
beforeAll(async () => {
  servers = await startBothModes({ maxBodyBytes: 64 * 1024 });
  ({ server } = servers);
});
afterAll(() => servers.close());

function send(
  body: string | Uint8Array,
  headers?: RequestHeaders,
  line?: string,
): Promise<Response> {
  return servers.exchange({ body, ...(headers && { headers }), ...(line && { line }) });
}

let lastId = 0;
/** Returns an id that no other row uses. */
const freshId = (): number => ++lastId;

describe("responds to a valid NewPlant with 200 and a Plant", () => {
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
    const response = await send(body);
    expect(response.body).toBe(plant);
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(plant)),
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-plantstore-result": "created",
    });
    expect(response.headers).not.toHaveProperty("server");
    expect(response.headers).not.toHaveProperty("x-powered-by");
  });

  it("stores ids that differ by one above 2^53 as two plants", async () => {
    await send('{"id":9007199254740992,"name":"even"}');
    await send('{"id":9007199254740993,"name":"odd"}');
    expect(await server.store.get(9007199254740992n)).toMatchObject({ name: "even" });
    expect(await server.store.get(9007199254740993n)).toMatchObject({ name: "odd" });
  });
});

describe("rejects a body that is not a NewPlant", () => {
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
    ["a member twice with the same value", '{"id":1,"name":"a","name":"a"}', 40005, /^name /],
    ["a member twice, one escaped", '{"id":1,"name":"a","n\\u0061me":"b"}', 40005, /^name /],
    ["an unknown member twice", '{"id":1,"name":"a","x":{"y":1,"y":2}}', 40005, /^x\/y /],
    ["a lone surrogate in a name", '{"id":1,"name":"\\ud800"}', 40006, /^name /],
    ["a lone surrogate elsewhere", '{"id":1,"name":"a","x":["\\udc00"]}', 40006, /^x\/0/],
    ["an array", "[]", 42200, /array/],
    ["null", "null", 42200, /null/],
    ["a string", '"fern"', 42200, /string/],
    ["no id", '{"name":"a"}', 42201, /^id /],
    ["an id that is a string", '{"id":"1","name":"a"}', 42202, /id must be .*a string/],
    ["an id with a fraction", '{"id":1.5,"name":"a"}', 42202, /id must be .*1\.5/],
    ["an id very close to an integer", '{"id":123456789012345.9999999,"name":"a"}', 42202, /^id /],
    ["a tiny id", '{"id":1e-999999999,"name":"a"}', 42202, /^id /],
    ["an id of null", '{"id":null,"name":"a"}', 42202, /id must be .*null/],
    ["an id of true", '{"id":true,"name":"a"}', 42202, /id must be .*true/],
    ["an id of 2^63", '{"id":9223372036854775808,"name":"a"}', 42203, /9223372036854775807/],
    ["an id below −2^63", '{"id":-9223372036854775809,"name":"a"}', 42203, /^id /],
    ["an enormous id", '{"id":1e999999999,"name":"a"}', 42203, /id must be .*1e999999999/],
    ["no name", '{"id":1}', 42204, /^name /],
    ["a name of null", '{"id":1,"name":null}', 42205, /name must be .*null/],
    ["a name that is a number", '{"id":1,"name":7}', 42205, /name must be .*7/],
    ["a tag of null", '{"id":1,"name":"a","tag":null}', 42206, /tag must be .*null/],
    ["a tag that is an object", '{"id":1,"name":"a","tag":{}}', 42206, /tag must be .*an object/],
    ["several at once, with the number of the first", '{"tag":1}', 42201, /^id.*; name.*; tag/],
    [
      "over the limit",
      `{"id":1,"name":"${"a".repeat(64 * 1024)}"}`,
      41300,
      /limit of 65536 bytes: send a smaller body/,
    ],
    [
      "several at once, in the order of the table instead of the body",
      '{"id":"1","name":"\\ud800","tag":"a","tag":"b"}',
      40005,
      /^tag occurs twice.*; name contains an unpaired surrogate.*; id must be/,
    ],
  ])("%s", async (_rule, body, error, where) => {
    const response = await send(body);
    expectError(response, 400, error);
    expect(errorOf(response).message).toMatch(where);
  });

  it("stores nothing of a rejected body", async () => {
    const id = freshId();
    await send(`{"id":${id},"name":"a","tag":null}`);
    expect(await server.store.get(BigInt(id))).toBeUndefined();
  });

  it("does not quote a token of the body", async () => {
    const secret = `pst_${"A".repeat(49)}`;
    const response = await send(`{"${secret}":1,"${secret}":2,"id":1,"name":"a"}`);
    expectError(response, 400, 40005);
    expect(response.body).not.toContain("AAAA");
  });
});

describe("checks the headers about the body", () => {
  const body = '{"id":100000,"name":"a"}';
  it.each<[rule: string, headers: RequestHeaders, error: number | undefined]>([
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
      "gzip as a transfer coding",
      { "Transfer-Encoding": "gzip, chunked", "Content-Length": undefined },
      41502,
    ],
    ["the coding identity", { "Content-Encoding": "identity" }, undefined],
    ["any Accept", { Accept: "text/html" }, undefined],
  ])("%s", async (_rule, headers, error) => {
    const response = await send(body, headers);
    if (error === undefined) expect(response.status).toBe(200);
    else expectError(response, 400, error);
  });

  it("names all problems, with the number of the first", async () => {
    const response = await send("", {
      Expect: "cake",
      "Content-Encoding": "br",
      "Content-Type": "text/plain",
      "Content-Length": "10000000000",
    });
    expectError(response, 400, 41300);
    expect(errorOf(response).message).toMatch(
      /^the body is over.*; the content type is not JSON.*; the body has a content coding.*; the expectation is not supported/,
    );
  });

  it("rejects a body that is announced over the limit before it arrives", async () => {
    const response = await send("", { "Content-Length": "10000000000" });
    expectError(response, 400, 41300);
  });
});

describe("authentication", () => {
  const plain = 'Bearer realm="plantstore"';
  const invalid = `${plain}, error="invalid_token"`;
  it.each<
    [rule: string, value: string | readonly string[] | undefined, error: number, challenge: string]
  >([
    ["a missing header", undefined, 40100, plain],
    ["another scheme", "Basic dXNlcjpwYXNz", 40101, plain],
    ["the scheme alone", "Bearer", 40101, plain],
    ["an empty header", "", 40101, plain],
    ["two headers", [`Bearer ${testToken}`, `Bearer ${testToken}`], 40101, invalid],
    ["invalid characters", "Bearer a,b", 40101, invalid],
    ["two tokens in one", "Bearer a b", 40101, invalid],
    ["an unknown token", "Bearer unknown", 40102, invalid],
    ["a token with its case changed", `Bearer ${testToken.toUpperCase()}`, 40102, invalid],
  ])("rejects %s", async (_rule, value, error, challenge) => {
    const response = await send('{"id":200000,"name":"a"}', { Authorization: value });
    expectError(response, 400, error);
    expect(response.headers["www-authenticate"]).toBe(challenge);
    expect(await server.store.get(200000n)).toBeUndefined();
  });

  it.each([`bearer ${testToken}`, `BEARER  ${testToken}`])("accepts %j", async (value) => {
    const response = await send('{"id":200001,"name":"a"}', { Authorization: value });
    expect(response.status).toBe(200);
  });

  it("checks the credential before the body", async () => {
    const headers = { Authorization: undefined, "Content-Type": "text/plain" };
    expectError(await send("{", headers), 400, 40100);
  });

  it("ignores a token in the query or the body", async () => {
    const body = `{"id":1,"name":"a","access_token":"${testToken}"}`;
    const line = `POST /plants?access_token=${testToken}`;
    expectError(await send(body, { Authorization: undefined }, line), 400, 40100);
  });
});

describe("creates plants only with POST /plants", () => {
  it.each<[line: string, status: number, error: number]>([
    ["POST /", 404, 40400],
    ["POST /plants/", 404, 40400],
    ["POST /Plants", 404, 40400],
    ["POST //plants", 404, 40400],
    ["GET /other", 404, 40400],
    ["OPTIONS *", 404, 40400],
    ["GET /plants", 405, 40500],
    ["PUT /plants", 405, 40500],
    ["OPTIONS /plants", 405, 40500],
  ])("responds to %s with %i", async (line, status, error) => {
    const response = await send("{}", { Authorization: undefined }, line);
    expectError(response, status, error);
    expect(response.headers["allow"]).toBe(status === 405 ? "POST" : undefined);
  });

  it.each(["/plants", "/healthz", "/readyz", "/openapi.json", "/docs", "/nowhere"])(
    "responds to HEAD of %s like to GET, without the body",
    async (path) => {
      const [head, get] = await Promise.all(
        ["HEAD", "GET"].map((method) => server.fetch(new URL(path, server.url), { method })),
      );
      const names = ["allow", "cache-control", "content-type"];
      expect(head?.status).toBe(get?.status);
      for (const name of names) expect(head?.headers.get(name)).toBe(get?.headers.get(name));
      expect(await head?.text()).toBe("");
      expect(await get?.text()).not.toBe("");
    },
  );

  it.each([
    "POST /plants?x=1",
    "POST http://elsewhere.example/plants",
    "POST HTTP://localhost:1/plants?x",
  ])("accepts %s", async (line) => {
    expect((await send('{"id":300000,"name":"a"}', {}, line)).status).toBe(200);
  });

  it("does not repeat the query, which may contain a secret", async () => {
    const response = await send("", {}, "POST /nowhere?token=hunter2");
    expectError(response, 404, 40400);
    expect(response.body).not.toContain("hunter2");
  });
});
