/** The table of examples: for each error that a client can cause, a request that is accepted and one that is rejected. */
import type { ErrorKind } from "./errors.ts";
import { int64Max } from "./int64.ts";
import { create, type RequestTemplate } from "./request-template.ts";

/** An example of one error. */
export interface Example {
  readonly error: ErrorKind;
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
const accepted = { accepted: create(fern), plant: '{"name":"fern"}' } as const;
const toSend = 'send the header "Authorization: Bearer <ACCESS_TOKEN>"';
const challenge = 'Bearer realm="plantstore"';
const withoutBody = { "Content-Type": undefined, "Content-Length": undefined } as const;

/** One example for each error that a client can cause, in the order of the error table. */
export const examples: readonly Example[] = [
  {
    error: "malformedHttp",
    ...accepted,
    rejected: create(fern, { Host: undefined }),
    message: "the Host header is missing: HTTP/1.1 needs exactly one",
  },
  {
    error: "notJson",
    ...accepted,
    rejected: create(`{"id":$ID,"name":'fern'}`),
  },
  {
    error: "notUtf8",
    accepted: create('{"id":$ID,"name":"b\u00f6rn"}'),
    plant: '{"name":"b\u00f6rn"}',
    rejected: { ...create('{"id":$ID,"name":"b\u00f6rn"}'), isLatin1: true },
  },
  { error: "emptyBody", ...accepted, rejected: create("") },
  {
    error: "tooDeep",
    accepted: create(`{"id":$ID,"name":"fern","x":${"[".repeat(63)}${"]".repeat(63)}}`),
    plant: '{"name":"fern"}',
    rejected: create(`{"id":$ID,"name":"fern","x":${"[".repeat(64)}${"]".repeat(64)}}`),
  },
  {
    error: "duplicateMember",
    ...accepted,
    rejected: create('{"id":$ID,"name":"fern","name":"fern"}'),
  },
  {
    error: "loneSurrogate",
    accepted: create(String.raw`{"id":$ID,"name":"\ud83c\udf3f"}`),
    plant: '{"name":"\u{1f33f}"}',
    rejected: create(String.raw`{"id":$ID,"name":"\ud83c"}`),
  },
  {
    error: "noCredential",
    ...accepted,
    rejected: create(fern, { Authorization: undefined }),
    headers: [["WWW-Authenticate", challenge]],
    message: `no credential: ${toSend}`,
  },
  {
    error: "malformedCredential",
    ...accepted,
    rejected: create(fern, { Authorization: "Basic cGxhbnQ6c3RvcmU=" }),
    headers: [["WWW-Authenticate", challenge]],
    message: `not a bearer credential: ${toSend}`,
  },
  {
    error: "unknownToken",
    ...accepted,
    rejected: create(fern, { Authorization: "Bearer unknown" }),
    headers: [["WWW-Authenticate", `${challenge}, error="invalid_token"`]],
    message: "the token is unknown or was revoked: use one that this server issued",
  },
  {
    error: "noSuchPath",
    ...accepted,
    rejected: { ...create(fern), target: "$BASE/plant" },
    status: 404,
    message: 'unknown path "$BASE/plant": create plants with POST $BASE/plants',
  },
  {
    error: "noSuchMethod",
    ...accepted,
    rejected: { ...create("", withoutBody), method: "GET" },
    status: 405,
    headers: [["Allow", "POST"]],
    message: "method GET is not allowed on $BASE/plants: send POST",
  },
  {
    error: "idTaken",
    before: create(fern),
    ...accepted,
    rejected: create('{"id":$ID,"name":"moss"}'),
    message: "id $ID belongs to a different plant, which was not changed: choose another id",
  },
  {
    error: "bodyTooLarge",
    ...accepted,
    // A client that announces its body waits for 100 Continue, so the body is never sent.
    rejected: create("", { "Content-Length": "1048577", Expect: "100-continue" }),
    message: "the body is over the limit of 1048576 bytes: send a smaller body",
  },
  {
    error: "targetTooLong",
    accepted: { ...create(fern), target: "$BASE/plants?note=short" },
    plant: '{"name":"fern"}',
    rejected: { ...create(fern), target: `$BASE/plants?note=${"long".repeat(2050)}` },
    message: "the request target is over 8192 bytes: shorten it",
  },
  {
    error: "notJsonType",
    ...accepted,
    rejected: create(fern, { "Content-Type": "text/plain" }),
    message: 'the content type is not JSON: send the header "Content-Type: application/json"',
  },
  {
    error: "notUtf8Charset",
    accepted: create(fern, { "Content-Type": "application/json; charset=utf-8" }),
    plant: '{"name":"fern"}',
    rejected: create(fern, { "Content-Type": "application/json; charset=iso-8859-1" }),
    message: "the charset is not UTF-8: leave it out",
  },
  {
    error: "contentCoding",
    accepted: create(fern, { "Content-Encoding": "identity" }),
    plant: '{"name":"fern"}',
    rejected: create(fern, { "Content-Encoding": "gzip" }),
    message: "the body has a content coding: send it without one",
  },
  {
    error: "expectation",
    ...accepted,
    rejected: create(fern, { Expect: "cake" }),
    message: 'the expectation is not supported: only "100-continue" is',
  },
  { error: "notObject", ...accepted, rejected: create(`[${fern}]`) },
  {
    error: "idMissing",
    ...accepted,
    rejected: create('{"name":"fern"}'),
  },
  {
    error: "idNotInteger",
    ...accepted,
    rejected: create('{"id":"$ID","name":"fern"}'),
  },
  {
    error: "idOutOfRange",
    accepted: create('{"id":$BIG,"name":"fern"}'),
    plant: '{"name":"fern"}',
    rejected: create(`{"id":${int64Max + 1n},"name":"fern"}`),
  },
  { error: "nameMissing", ...accepted, rejected: create('{"id":$ID}') },
  {
    error: "nameNotString",
    ...accepted,
    rejected: create('{"id":$ID,"name":7}'),
  },
  {
    error: "tagNotString",
    accepted: create('{"id":$ID,"name":"fern","tag":"pot"}'),
    plant: '{"name":"fern","tag":"pot"}',
    rejected: create('{"id":$ID,"name":"fern","tag":null}'),
  },
  {
    error: "headersTooLarge",
    accepted: create(fern, { "X-Note": "short" }),
    plant: '{"name":"fern"}',
    rejected: create(fern, { "X-Note": "long".repeat(4300) }),
    message: "the headers are over 16384 bytes: send fewer",
  },
];

/** Finds the example of an error. @throws RangeError for an error that no client can cause */
export function findExample(kind: ErrorKind): Example {
  const example = examples.find(({ error }) => error === kind);
  if (example === undefined) throw new RangeError(`no example of ${kind}`);
  return example;
}
