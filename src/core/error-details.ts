/** Explains each error number, with a request that causes it: for `plantstore explain`, the manual and the description. */
import type { ErrorKind } from "./errors.ts";
import { int64Max } from "./int64.ts";
import { create, type RequestTemplate } from "./request-template.ts";

/** The explanation of an error number. */
export interface ErrorDetails {
  /** One or two sentences. */
  readonly meaning: string;
  /** A request or a state of the server that causes the error. */
  readonly example: string;
  /** How to fix it, in sentences. */
  readonly remedy: string;
  /** A request that causes it. `untestable`: the reason why no client can cause it on demand. */
  readonly request: RequestExample | { readonly untestable: string };
}

/** A request that is rejected, and a similar one that is accepted. */
export interface RequestExample {
  /** A request to send first. It is accepted. */
  readonly before?: RequestTemplate;
  readonly accepted: RequestTemplate;
  /** JSON of the Plant in the response to the accepted request. */
  readonly plant: string;
  readonly rejected: RequestTemplate;
  /** Status of the response to the rejected request; default: 400. */
  readonly status?: 404 | 405;
  /** Headers of the response besides those of every response. */
  readonly headers?: RequestTemplate["headers"];
  /** Message in the response to the rejected request. Absent if the message is about the body. */
  readonly message?: string;
}

const fern = '{"id":$ID,"name":"fern"}';
const toSend = 'send the header "Authorization: Bearer <ACCESS_TOKEN>"';
const challenge = 'Bearer realm="plantstore"';
const withoutBody = { "Content-Type": undefined, "Content-Length": undefined } as const;

/** A request that is rejected instead of a usual create. */
function instead(rejected: RequestTemplate, more: Partial<RequestExample> = {}): RequestExample {
  return { accepted: create(fern), plant: '{"name":"fern"}', rejected, ...more };
}

/** The explanation of every row of the error table. */
export const errorDetails: Readonly<Record<ErrorKind, ErrorDetails>> = {
  malformedHttp: {
    meaning: "The request is not valid HTTP/1.1 or 1.0, or the connection ended early.",
    example: "a request without a Host header, or TLS sent to a server without TLS",
    remedy:
      "Use an HTTP client, and check that the URL starts with the right scheme, http or https.",
    request: instead(create(fern, { Host: undefined }), {
      message: "the Host header is missing: HTTP/1.1 needs exactly one",
    }),
  },
  notJson: {
    meaning: "The body is not valid JSON. The message names the byte of the first error.",
    example: '{"id":1,"name":\'fern\'}',
    remedy:
      "Fix the JSON at that byte. Strings need double quotes; trailing commas are not allowed.",
    request: instead(create(`{"id":$ID,"name":'fern'}`)),
  },
  notUtf8: {
    meaning: "The body contains bytes that are not valid UTF-8.",
    example: "a body in Latin-1 or UTF-16 with a letter such as ö",
    remedy: "Encode the body in UTF-8.",
    request: {
      accepted: create('{"id":$ID,"name":"b\u00f6rn"}'),
      plant: '{"name":"b\u00f6rn"}',
      rejected: { ...create('{"id":$ID,"name":"b\u00f6rn"}'), isLatin1: true },
    },
  },
  emptyBody: {
    meaning: "The request has no body.",
    example: "a POST with Content-Length: 0",
    remedy: 'Send a plant such as {"id":1,"name":"fern"}.',
    request: instead(create("")),
  },
  tooDeep: {
    meaning: "The JSON has more levels of nested arrays and objects than the server reads.",
    example: "[[[[… 65 levels …]]]]",
    remedy: "Send only the plant. It needs one level.",
    request: instead(create(`{"id":$ID,"name":"fern","x":${"[".repeat(64)}${"]".repeat(64)}}`), {
      accepted: create(`{"id":$ID,"name":"fern","x":${"[".repeat(63)}${"]".repeat(63)}}`),
    }),
  },
  duplicateMember: {
    meaning: "An object has two members with the same name.",
    example: '{"id":1,"name":"fern","name":"moss"}',
    remedy: "Remove one of them.",
    request: instead(create('{"id":$ID,"name":"fern","name":"fern"}')),
  },
  loneSurrogate: {
    meaning: "A string contains an unpaired surrogate.",
    example: String.raw`{"id":1,"name":"\ud83c"}`,
    remedy: String.raw`Write the pair, such as \ud83c\udf3f, or the character itself.`,
    request: {
      accepted: create(String.raw`{"id":$ID,"name":"\ud83c\udf3f"}`),
      plant: '{"name":"\u{1f33f}"}',
      rejected: create(String.raw`{"id":$ID,"name":"\ud83c"}`),
    },
  },
  noCredential: {
    meaning: "The request has no Authorization header.",
    example: "a POST without a token",
    remedy: 'Send the header "Authorization: Bearer <ACCESS_TOKEN>".',
    request: instead(create(fern, { Authorization: undefined }), {
      headers: [["WWW-Authenticate", challenge]],
      message: `no credential: ${toSend}`,
    }),
  },
  malformedCredential: {
    meaning: "The Authorization header is not a single valid bearer token.",
    example: "Authorization: Basic dXNlcjpwYXNz, or the header twice",
    remedy: 'Send exactly one header "Authorization: Bearer <ACCESS_TOKEN>".',
    request: instead(create(fern, { Authorization: "Basic cGxhbnQ6c3RvcmU=" }), {
      headers: [["WWW-Authenticate", challenge]],
      message: `not a bearer credential: ${toSend}`,
    }),
  },
  unknownToken: {
    meaning:
      "The server did not issue this token, or it was revoked, or it was removed 90 days after it expired.",
    example: "the token of another store",
    remedy: "Use a token that was issued for this store.",
    request: instead(create(fern, { Authorization: "Bearer unknown" }), {
      headers: [["WWW-Authenticate", `${challenge}, error="invalid_token"`]],
      message: "the token is unknown or was revoked: use one that this server issued",
    }),
  },
  expiredToken: {
    meaning: "The token has expired.",
    example: "a token that was issued for a day, a day later",
    remedy: "Ask the server's operator for a new token.",
    request: { untestable: "only the owner of the store can issue a token that expires" },
  },
  noSuchPath: {
    meaning: "The server has no such path. The response has status 404.",
    example: "POST /plant, or POST /plants if the server has a base path",
    remedy: "Send POST /plants, after the base path if the server has one.",
    request: instead(
      { ...create(fern), target: "$BASE/plant" },
      {
        status: 404,
        message: 'unknown path "$BASE/plant": create plants with POST $BASE/plants',
      },
    ),
  },
  noSuchMethod: {
    meaning: "The path does not support this method. The response has status 405.",
    example: "GET /plants",
    remedy: 'Create plants with POST. To read them, run "plantstore list" on the server.',
    request: instead(
      { ...create("", withoutBody), method: "GET" },
      {
        status: 405,
        headers: [["Allow", "POST"]],
        message: "method GET is not allowed on $BASE/plants: send POST",
      },
    ),
  },
  requestTimeout: {
    meaning: "The request did not arrive within the server's time limit.",
    example: "a connection that breaks in the middle of the body",
    remedy: "Send it again. Repeating a create is safe.",
    request: { untestable: "each server has its own limit, which may be hours" },
  },
  idTaken: {
    meaning: "A different plant with this id is already stored. It was not changed.",
    example: '{"id":1,"name":"moss"} after {"id":1,"name":"fern"} was created',
    remedy: "Choose another id, or start the server with --on-conflict replace.",
    request: instead(create('{"id":$ID,"name":"moss"}'), {
      before: create(fern),
      message: "id $ID belongs to a different plant, which was not changed: choose another id",
    }),
  },
  bodyTooLarge: {
    meaning: "The body is larger than the server accepts.",
    example: "a name of two million letters",
    remedy: "Send a smaller body, or start the server with a larger --max-body.",
    // A client that announces its body waits for 100 Continue, so the body is never sent.
    request: instead(create("", { "Content-Length": "1048577", Expect: "100-continue" }), {
      message: "the body is over the limit of 1048576 bytes: send a smaller body",
    }),
  },
  targetTooLong: {
    meaning: "The path and query are longer than 8 KiB.",
    example: "POST /plants?… with a very long query",
    remedy: "Remove the query. The server ignores it.",
    request: instead(
      { ...create(fern), target: `$BASE/plants?note=${"long".repeat(2050)}` },
      {
        accepted: { ...create(fern), target: "$BASE/plants?note=short" },
        message: "the request target is over 8192 bytes: shorten it",
      },
    ),
  },
  notJsonType: {
    meaning: "The Content-Type header is missing or is not application/json.",
    example: 'curl -d \'{"id":1,"name":"fern"}\' without -H',
    remedy: 'Send the header "Content-Type: application/json" once.',
    request: instead(create(fern, { "Content-Type": "text/plain" }), {
      message: 'the content type is not JSON: send the header "Content-Type: application/json"',
    }),
  },
  notUtf8Charset: {
    meaning: "The Content-Type header names a charset other than UTF-8.",
    example: "Content-Type: application/json; charset=iso-8859-1",
    remedy: "Encode the body in UTF-8, and remove the charset.",
    request: instead(create(fern, { "Content-Type": "application/json; charset=iso-8859-1" }), {
      accepted: create(fern, { "Content-Type": "application/json; charset=utf-8" }),
      message: "the charset is not UTF-8: leave it out",
    }),
  },
  contentCoding: {
    meaning: "The body is compressed (Content-Encoding).",
    example: "Content-Encoding: gzip",
    remedy: "Send the body uncompressed.",
    request: instead(create(fern, { "Content-Encoding": "gzip" }), {
      accepted: create(fern, { "Content-Encoding": "identity" }),
      message: "the body has a content coding: send it without one",
    }),
  },
  expectation: {
    meaning: "The server does not support the value of the Expect header.",
    example: "Expect: cake",
    remedy: "Remove the header, or send Expect: 100-continue.",
    request: instead(create(fern, { Expect: "cake" }), {
      message: 'the expectation is not supported: only "100-continue" is',
    }),
  },
  notObject: {
    meaning: "The body is valid JSON, but not an object.",
    example: '["fern"]',
    remedy: 'Send one object such as {"id":1,"name":"fern"}.',
    request: instead(create(`[${fern}]`)),
  },
  idMissing: {
    meaning: "The plant has no id.",
    example: '{"name":"fern"}',
    remedy: "Add an id. The server does not assign one.",
    request: instead(create('{"name":"fern"}')),
  },
  idNotInteger: {
    meaning: "The id is not an integer.",
    example: '{"id":"1","name":"fern"} or {"id":1.5,"name":"fern"}',
    remedy: "Write it as a number without quotes and without a fraction.",
    request: instead(create('{"id":"$ID","name":"fern"}')),
  },
  idOutOfRange: {
    meaning: "The id does not fit in 64 bits.",
    example: '{"id":9223372036854775808,"name":"fern"}',
    remedy: "Choose an id from -9223372036854775808 to 9223372036854775807.",
    request: instead(create(`{"id":${int64Max + 1n},"name":"fern"}`), {
      accepted: create('{"id":$BIG,"name":"fern"}'),
    }),
  },
  nameMissing: {
    meaning: "The plant has no name.",
    example: '{"id":1}',
    remedy: "Add a name. It can be empty.",
    request: instead(create('{"id":$ID}')),
  },
  nameNotString: {
    meaning: "The name is not a string.",
    example: '{"id":1,"name":null}',
    remedy: "Write the name in double quotes.",
    request: instead(create('{"id":$ID,"name":7}')),
  },
  tagNotString: {
    meaning: "The tag is not a string.",
    example: '{"id":1,"name":"fern","tag":null}',
    remedy: "Write the tag in double quotes, or leave it out.",
    request: {
      accepted: create('{"id":$ID,"name":"fern","tag":"pot"}'),
      plant: '{"name":"fern","tag":"pot"}',
      rejected: create('{"id":$ID,"name":"fern","tag":null}'),
    },
  },
  headersTooLarge: {
    meaning: "The headers are larger than 16 KiB.",
    example: "a request with the cookies of other services",
    remedy: "Send fewer headers.",
    request: instead(create(fern, { "X-Note": "long".repeat(4300) }), {
      accepted: create(fern, { "X-Note": "short" }),
      message: "the headers are over 16384 bytes: send fewer",
    }),
  },
  unexpected: {
    meaning: "The server hit an unexpected error. Its log has the details.",
    example: "a bug, or a damaged store",
    remedy: "Send it again. If it fails again, report it to the server's operator.",
    request: { untestable: "a request that causes one would be a bug" },
  },
  shuttingDown: {
    meaning: "The server is stopping and accepts no new requests.",
    example: "a create during a restart of the server",
    remedy: "Wait for the seconds in Retry-After, then send it again.",
    request: { untestable: "only the owner of the server can stop it" },
  },
  overloaded: {
    meaning: "The server's queue is full, or its database is unreachable.",
    example: "more concurrent creates than serve --max-inflight allows",
    remedy: "Wait for the seconds in Retry-After, then send it again.",
    request: { untestable: "the load would harm other clients, and its limits are unknown" },
  },
  storageFull: {
    meaning:
      "The store is full, read-only, or lost one of its files. The plant may or may not be stored.",
    example: "a full disk",
    remedy: "Free space on the server's disk, or do what its log says. Then send it again.",
    request: { untestable: "only the server's machine can fill its storage" },
  },
};
