/** Rules about HTTP: headers, connections, the order of responses, and requests that can be read in two ways. */
import { type ErrorKind, errorTable } from "../../../src/core/errors.ts";
import { create, type RequestTemplate } from "../request-template.ts";
import {
  createFern,
  createHead,
  rulesUnder,
  error,
  type ExpectedResponse,
  fern,
  fernBody,
  halfClose,
  pause,
  plant,
  proceed,
  type Rule,
} from "../rule.ts";

const rule = rulesUnder("HTTP");
const fixedHeaders = {
  "Content-Length": /^\d+$/,
  "Cache-Control": /^no-store$/,
  "X-Content-Type-Options": /^nosniff$/,
  "Transfer-Encoding": undefined,
};
const noVersion = { headers: { Server: undefined, "X-Powered-By": undefined } };
const empty = { "Content-Type": undefined, "Content-Length": undefined } as const;
const many = Array.from({ length: 32 }, (_, index) => index);

/** The fern has 36 bytes, because each id of a run has 15 digits. */
const fernRequest = `${createHead}Content-Length: 36\r\n\r\n${fernBody}`;
const chunkedHead = `${createHead}Transfer-Encoding: chunked\r\n`;
const chunks = '5\r\n{"id"\r\n1f\r\n:$ID,"name":"fern"}\r\n0\r\n\r\n';
const withCoding = (value: string): string =>
  `${createHead}Transfer-Encoding:${value}\r\n\r\n${chunks}`;
/** Gets a response only if a server reads past a malformed request. */
const smuggled = fernRequest.replace("$ID", "$ID_1");

/** Each response that must have the fixed headers. */
const responses: readonly (readonly [
  what: string,
  request: ReturnType<typeof create>,
  expected: ExpectedResponse,
])[] = [
  ["A 200", createFern(), fern],
  ["A rejected plant", create("{}"), error("idMissing")],
  ["A rejected credential", createFern({ Authorization: undefined }), error("noCredential")],
  ["An unknown path", { ...createFern(), target: "$BASE/plant" }, error("noSuchPath")],
  ["Another method", { ...create("", empty), method: "GET" }, error("noSuchMethod")],
  ["Malformed HTTP", createFern({ Host: undefined }), error("malformedHttp")],
];

/** Bytes that can be read in two ways, or in none. */
const malformed: readonly (readonly [what: string, bytes: string])[] = [
  ["both a length and chunks", `${chunkedHead}Content-Length: 51\r\n\r\n${chunks}`],
  [
    "both chunks and a length",
    `${createHead}Content-Length: 51\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
  ],
  ["two different lengths", fernRequest.replace("36", "36\r\nContent-Length: 37")],
  ["two equal lengths", fernRequest.replace("36", "36\r\nContent-Length: 36")],
  ["a list of lengths", fernRequest.replace("36", "36, 36")],
  ["a length with a sign", fernRequest.replace("36", "+36")],
  ["a negative length", fernRequest.replace("36", "-36")],
  ["a hexadecimal length", fernRequest.replace("36", "0x24")],
  ["a length with an exponent", fernRequest.replace("36", "36e0")],
  ["an empty length", fernRequest.replace("36", "")],
  ["a length of 23 digits", fernRequest.replace("36", "9".repeat(23))],
  ["a space before a colon", fernRequest.replace("Length:", "Length :")],
  ["a folded header line", fernRequest.replace("$HOST", "$HOST\r\n x")],
  ["a folded first header line", fernRequest.replace("Host", " Host")],
  ["a bare LF after the request line", fernRequest.replace("1.1\r", "1.1")],
  ["a bare LF after a header", fernRequest.replace("$HOST\r", "$HOST")],
  ["a bare LF before the body", fernRequest.replace("\r\n\r\n", "\n\n")],
  ["a bare CR in a header", fernRequest.replace("$HOST", "$HOST\rx")],
  ["a NUL in a header", fernRequest.replace("$HOST", "$HOST\0")],
  ["a NUL in the name of a header", fernRequest.replace("Host", "Ho\0st")],
  ["a space in the name of a header", fernRequest.replace("Host", "Ho st")],
  ["a header without a colon", fernRequest.replace("Content-Type:", "nonsense\r\nContent-Type:")],
  ["a header without a name", fernRequest.replace("Content-Type:", ":x\r\nContent-Type:")],
  ["two Host headers", fernRequest.replace("$HOST", "$HOST\r\nHost: $HOST")],
  ["two different Host headers", fernRequest.replace("$HOST", "$HOST\r\nHost: elsewhere")],
  ["a malformed Host", fernRequest.replace("$HOST", "a b")],
  ["a Host with a user", fernRequest.replace("$HOST", "a@b")],
  ["a space in the target", fernRequest.replace("/plants", "/plants x")],
  ["a method in small letters", fernRequest.replace("POST", "post")],
  ["HTTP/1.2", fernRequest.replace("1.1", "1.2")],
  ["HTTP/2.0", fernRequest.replace("1.1", "2.0")],
  ["HTTP/0.9", "GET /plants\r\n\r\n"],
  ["no HTTP at all", "hello\r\n\r\n"],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["a TLS record", "\u0016\u0003\u0001\u0002\u0000\r\n\r\n"],
  ["chunked twice", `${chunkedHead}Transfer-Encoding: chunked\r\n\r\n${chunks}`],
  ["an empty coding", withCoding("")],
  ["an empty coding, and a length", withCoding("\r\nContent-Length: 51")],
  ["a list of codings with a gap", withCoding(" ,chunked")],
  ["chunked after a vertical tab", withCoding("\vchunked")],
  ["a coding on the next line", withCoding("\r\n chunked")],
  ["a coding after chunked", `${chunkedHead.replace("chunked", "chunked, identity")}\r\n${chunks}`],
  ["chunks in HTTP/1.0", `${chunkedHead.replace("1.1", "1.0")}\r\n${chunks}`],
  ["a chunk size that is not hexadecimal", `${chunkedHead}\r\nzz\r\n`],
  ["a chunk size with a prefix", `${chunkedHead}\r\n0x${chunks}`],
  ["a negative chunk size", `${chunkedHead}\r\n-${chunks}`],
  ["a space before a chunk size", `${chunkedHead}\r\n ${chunks}`],
  ["a space after a chunk size", `${chunkedHead}\r\n${chunks.replace("5", "5 ")}`],
  ["a chunk size of 17 digits", `${chunkedHead}\r\n${"f".repeat(17)}\r\n{"id"`],
  ["a bare LF after a chunk size", `${chunkedHead}\r\n${chunks.replace("5\r", "5")}`],
  ["a bare LF after a chunk", `${chunkedHead}\r\n${chunks.replace('"id"\r', '"id"')}`],
  ["a chunk that is longer than its size", `${chunkedHead}\r\n${chunks.replace("5", "4")}`],
  ["a bare CR in a chunk extension", `${chunkedHead}\r\n${chunks.replace("5", "5;a\rb")}`],
  ["a bare LF in a chunk extension", `${chunkedHead}\r\n${chunks.replace("5\r", "5;a")}`],
  [
    "a large chunk extension",
    `${chunkedHead}\r\n${chunks.replace("5", `5;a=${"b".repeat(20_000)}`)}`,
  ],
  ["a trailer without a colon", `${chunkedHead}\r\n${chunks.slice(0, -2)}nonsense\r\n\r\n`],
];

/** Requests in an unusual form with one meaning. The next request on the connection is read too. */
const unusual: readonly (readonly [what: string, bytes: string])[] = [
  ["a chunked body", `${chunkedHead}\r\n${chunks}`],
  ["a chunk extension", `${chunkedHead}\r\n${chunks.replace("5", "5;a=b")}`],
  ["a trailer", `${chunkedHead}\r\n${chunks.slice(0, -2)}X-Sum: 1\r\n\r\n`],
  ["a coding in capitals", `${chunkedHead.replace("chunked", "\t CHUNKED ")}\r\n${chunks}`],
  ["an empty line before the request", `\r\n${fernRequest}`],
  ["several empty lines before it", `\r\n\r\n${fernRequest}`],
  ["a length with a leading zero", fernRequest.replace("36", "036")],
  ["a target in absolute form", fernRequest.replace("$BASE", "http://elsewhere.example$BASE")],
  [
    "a target in absolute form with capitals, a port and a query",
    fernRequest.replace("$BASE/plants", "HTTP://elsewhere.example:1$BASE/plants?x"),
  ],
  ["a query", fernRequest.replace("/plants", "/plants?x=1&x=2")],
  [
    "header names in capitals",
    fernRequest.replace("Host:", "HOST:").replace("Content-Type", "CONTENT-TYPE"),
  ],
  ["no spaces after colons", fernRequest.replace("Host: ", "Host:").replace("Length: ", "Length:")],
];

/** Requests that are rejected, or are not creates. The next request on the connection is read too. */
const rejectedButRead: readonly (readonly [
  what: string,
  request: string | RequestTemplate,
  expected: ExpectedResponse,
])[] = [
  ["A create without a body", `${createHead}\r\n`, error("emptyBody")],
  ["A create with an unknown expectation", createFern({ Expect: "cake" }), error("expectation")],
  ["A create with another target", fernRequest.replace("$BASE/plants", "*"), error("noSuchPath")],
  [
    "A GET with a body",
    "GET $BASE/plants HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 3\r\n\r\nabc",
    error("noSuchMethod"),
  ],
];

/** Heads over the limits. */
const tooLarge: readonly (readonly [what: string, request: RequestTemplate, kind: ErrorKind])[] = [
  [
    "A target of 90,000 bytes",
    { ...createFern(), target: `$BASE/plants?${"a".repeat(90_000)}` },
    "targetTooLong",
  ],
  ["A header of 90,000 bytes", createFern({ "X-Note": "a".repeat(90_000) }), "headersTooLarge"],
  [
    "A request with 10,000 headers",
    createFern({ "X-Note": Array<string>(10_000).fill("a") }),
    "headersTooLarge",
  ],
];

const rules: readonly Rule[] = [
  ...responses.map(([what, send, expected]) =>
    rule(`${what} has Content-Length, no-store and nosniff`, {
      send,
      receive: { ...expected, headers: fixedHeaders },
    }),
  ),
  rule(
    "No header names the version of the server",
    { send: createFern(), receive: { ...fern, ...noVersion } },
    { send: create("{}"), receive: error("idMissing", noVersion) },
  ),
  ...malformed.map(([what, bytes]) =>
    rule(`A request with ${what} is rejected, and its connection ends`, {
      send: [bytes, smuggled],
      receive: error("malformedHttp"),
      thenEnds: true,
    }),
  ),
  rule(
    "A request after a malformed one is not stored",
    { send: ["hello\r\n\r\n", smuggled], receive: error("malformedHttp"), thenEnds: true },
    { send: create('{"id":$ID_1,"name":"moss"}'), receive: plant('{"name":"moss"}') },
  ),
  ...unusual.map(([what, bytes]) =>
    rule(`A request with ${what} is read to its end`, {
      send: [bytes, create('{"id":$ID_1,"name":"moss"}')],
      receive: [fern, plant('{"name":"moss"}')],
    }),
  ),
  ...rejectedButRead.map(([what, send, expected]) =>
    rule(`${what} is read to its end`, { send: [send, createFern()], receive: [expected, fern] }),
  ),
  ...tooLarge.map(([what, send, kind]) =>
    rule(`${what} gets error ${errorTable[kind].error}`, { send, receive: error(kind) }),
  ),
  rule("HTTP/1.0 without a Host header is served", {
    send: fernRequest.replace("HTTP/1.1\r\nHost: $HOST", "HTTP/1.0"),
    receive: fern,
    thenEnds: true,
  }),
  rule("A connection is kept after a 200", {
    send: [createFern(), { responses: 1 }, create('{"id":$ID_1,"name":"moss"}')],
    receive: [fern, plant('{"name":"moss"}')],
  }),
  rule("A connection is kept after a rejected plant", {
    send: [create("{}"), { responses: 1 }, createFern()],
    receive: [error("idMissing"), fern],
  }),
  rule("A connection is kept after a rejected credential", {
    send: [createFern({ Authorization: "Bearer unknown" }), { responses: 1 }, createFern()],
    receive: [error("unknownToken"), fern],
  }),
  rule("A connection ends after Connection: close", {
    send: [createFern({ Connection: "close" }), smuggled],
    receive: { ...fern, headers: { Connection: /\bclose\b/i } },
    thenEnds: true,
  }),
  rule("Pipelined requests get one response each, in their order", {
    send: many.map((index) => create(`{"id":$ID_${index},"name":"plant ${index}"}`)),
    receive: many.map((index) => plant(`{"name":"plant ${index}"}`)),
  }),
  rule("Pipelined successes and failures get their responses in order", {
    send: [
      createFern(),
      create("{}"),
      createFern({ Authorization: undefined }),
      { ...create("", empty), method: "GET" },
      create('{"id":$ID,"name":"moss"}'),
      create('{"id":$ID_1,"name":"oak"}'),
    ],
    receive: [
      fern,
      error("idMissing"),
      error("noCredential"),
      error("noSuchMethod"),
      error("idTaken"),
      plant('{"name":"oak"}'),
    ],
  }),
  rule("No byte of a body is read as a request, even after a rejected credential", {
    send: [
      `${createHead.replace("$TOKEN", "unknown")}Content-Length: 42\r\n\r\n`,
      pause,
      "DELETE /plants HTTP/1.1\r\nHost: localhost\r\n\r",
      pause,
      createFern(),
    ],
    receive: [error("unknownToken"), fern],
  }),
  rule("A connection is kept after a rejected credential whose body arrives after the response", {
    send: [
      `${createHead.replace("$TOKEN", "unknown")}Content-Length: 20\r\n\r\n01234`,
      { responses: 1 },
      "567890123456789",
      createFern(),
    ],
    receive: [error("unknownToken"), fern],
  }),
  rule("Pieces that end in the middle of pipelined requests do not change their responses", {
    send: [
      fernRequest + fernRequest.slice(0, 40),
      pause,
      fernRequest.slice(40, -10),
      pause,
      `${fernRequest.slice(-10)}${smuggled}`,
    ],
    receive: [fern, fern, fern],
  }),
  rule("100 Continue is sent before the body of a request that expects it", {
    send: [
      `${createHead}Expect: 100-continue\r\nContent-Length: 36\r\n\r\n`,
      { responses: 1 },
      fernBody,
    ],
    receive: [proceed, fern],
  }),
  rule("A request that expects 100 Continue and is rejected for its head gets no 100", {
    send: `${createHead.replace("$TOKEN", "unknown")}Expect: 100-continue\r\nContent-Length: 36\r\n\r\n`,
    receive: error("unknownToken"),
  }),
  rule("A connection ends after a body that is announced over the limit", {
    send: [create("", { "Content-Length": "10000000000" })],
    receive: error("bodyTooLarge"),
    thenEnds: true,
  }),
  rule("An announced body over the limit gets no 100", {
    send: `${createHead}Expect: 100-continue\r\nContent-Length: 100000000000\r\n\r\n`,
    receive: error("bodyTooLarge"),
  }),
  rule("A client that closes its side after the request gets its response", {
    send: [createFern(), halfClose],
    receive: fern,
    thenEnds: true,
  }),
  rule("A client that closes its side in the middle of a body gets an Error", {
    send: [fernRequest.slice(0, -5), halfClose],
    receive: error("malformedHttp"),
    thenEnds: true,
  }),
  rule("HEAD on /plants has status 405 and no body, and the connection is kept", {
    send: [{ ...create("", empty), method: "HEAD" }, createFern()],
    receive: [{ status: 405, isBodiless: true, headers: { Allow: /\bPOST\b/ } }, fern],
  }),
];

/** Rules that expect GET to be no method of /plants, as it is not for a server that only creates. */
const ofCreateOnly = new Set([
  "Another method has Content-Length, no-store and nosniff",
  "A GET with a body is read to its end",
  "Pipelined successes and failures get their responses in order",
  "HEAD on /plants has status 405 and no body, and the connection is kept",
]);

/** Rules of the section. */
export const httpRules: readonly Rule[] = rules.map((each) =>
  ofCreateOnly.has(each.name) ? { ...each, set: "create" } : each,
);
