/** A request that causes each error. */
import type { ErrorKind } from "../../src/core/errors.ts";
import { int64Max } from "../../src/core/plant.ts";
import { create, type RequestTemplate } from "./request-template.ts";

/** A request that is rejected, and a similar one that is accepted. */
export interface RequestExample {
  /** A request to send first. It is accepted. */
  readonly before?: RequestTemplate;
  readonly accepted: RequestTemplate;
  /** JSON of the Plant in the response to the accepted request. */
  readonly plant: string;
  readonly rejected: RequestTemplate;
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

/** An error of the operations that a server serves only on request: `rules/all-operations.ts` has its rules. */
const ofWholeExample = { isOfWholeExample: true } as const;

/** For each error a request that causes it. `untestable`: the reason why no client can cause it on demand. */
export const errorRequests: Readonly<
  Record<ErrorKind, RequestExample | { readonly untestable: string } | typeof ofWholeExample>
> = {
  malformedHttp: instead(create(fern, { Host: undefined }), {
    message: "the Host header is missing: HTTP/1.1 needs exactly one",
  }),
  notJson: instead(create(`{"id":$ID,"name":'fern'}`)),
  notUtf8: {
    accepted: create('{"id":$ID,"name":"b\u00f6rn"}'),
    plant: '{"name":"b\u00f6rn"}',
    rejected: { ...create('{"id":$ID,"name":"b\u00f6rn"}'), isLatin1: true },
  },
  emptyBody: instead(create("")),
  tooDeep: instead(create(`{"id":$ID,"name":"fern","x":${"[".repeat(64)}${"]".repeat(64)}}`), {
    accepted: create(`{"id":$ID,"name":"fern","x":${"[".repeat(63)}${"]".repeat(63)}}`),
  }),
  duplicateMember: instead(create('{"id":$ID,"name":"fern","name":"fern"}')),
  loneSurrogate: {
    accepted: create(String.raw`{"id":$ID,"name":"\ud83c\udf3f"}`),
    plant: '{"name":"\u{1f33f}"}',
    rejected: create(String.raw`{"id":$ID,"name":"\ud83c"}`),
  },
  noCredential: instead(create(fern, { Authorization: undefined }), {
    headers: [["WWW-Authenticate", challenge]],
    message: `no credential: ${toSend}`,
  }),
  malformedCredential: instead(create(fern, { Authorization: "Basic cGxhbnQ6c3RvcmU=" }), {
    headers: [["WWW-Authenticate", challenge]],
    message: `not a bearer credential: ${toSend}`,
  }),
  unknownToken: instead(create(fern, { Authorization: "Bearer unknown" }), {
    headers: [["WWW-Authenticate", `${challenge}, error="invalid_token"`]],
    message: "the token is unknown or was revoked: use one that this server issued",
  }),
  expiredToken: { untestable: "only the owner of the store can issue a token that expires" },
  forbidden: { untestable: "only the owner of the store can issue a token that may do less" },
  noSuchPath: instead(
    { ...create(fern), target: "$BASE/plant" },
    {
      message: 'unknown path "$BASE/plant": create plants with POST $BASE/plants',
    },
  ),
  noSuchPlant: ofWholeExample,
  noSuchMethod: instead(
    { ...create("", withoutBody), method: "GET" },
    {
      headers: [["Allow", "POST"]],
      message: "method GET is not allowed on $BASE/plants: send POST",
    },
  ),
  requestTimeout: { untestable: "each server has its own limit, which may be hours" },
  idTaken: instead(create('{"id":$ID,"name":"moss"}'), {
    before: create(fern),
    message: "id $ID belongs to a different plant, which was not changed: choose another id",
  }),
  // A client that announces its body waits for 100 Continue, so the body is never sent.
  bodyTooLarge: instead(create("", { "Content-Length": "1048577", Expect: "100-continue" }), {
    message: "the body is over the limit of 1048576 bytes: send a smaller body",
  }),
  targetTooLong: instead(
    { ...create(fern), target: `$BASE/plants?note=${"long".repeat(2050)}` },
    {
      accepted: { ...create(fern), target: "$BASE/plants?note=short" },
      message: "the request target is over 8192 bytes: shorten it",
    },
  ),
  notJsonType: instead(create(fern, { "Content-Type": "text/plain" }), {
    message: 'the content type is not JSON: send the header "Content-Type: application/json"',
  }),
  notUtf8Charset: instead(
    create(fern, { "Content-Type": "application/json; charset=iso-8859-1" }),
    {
      accepted: create(fern, { "Content-Type": "application/json; charset=utf-8" }),
      message: "the charset is not UTF-8: leave it out",
    },
  ),
  contentCoding: instead(create(fern, { "Content-Encoding": "gzip" }), {
    accepted: create(fern, { "Content-Encoding": "identity" }),
    message: "the body has a content coding: send it without one",
  }),
  expectation: instead(create(fern, { Expect: "cake" }), {
    message: 'the expectation is not supported: only "100-continue" is',
  }),
  notObject: instead(create(`[${fern}]`)),
  idMissing: instead(create('{"name":"fern"}')),
  idNotInteger: instead(create('{"id":"$ID","name":"fern"}')),
  idOutOfRange: instead(create(`{"id":${int64Max + 1n},"name":"fern"}`), {
    accepted: create('{"id":$BIG,"name":"fern"}'),
  }),
  nameMissing: instead(create('{"id":$ID}')),
  nameNotString: instead(create('{"id":$ID,"name":7}')),
  tagNotString: {
    accepted: create('{"id":$ID,"name":"fern","tag":"pot"}'),
    plant: '{"name":"fern","tag":"pot"}',
    rejected: create('{"id":$ID,"name":"fern","tag":null}'),
  },
  limitInvalid: ofWholeExample,
  afterInvalid: ofWholeExample,
  headersTooLarge: instead(create(fern, { "X-Note": "long".repeat(4300) }), {
    accepted: create(fern, { "X-Note": "short" }),
    message: "the headers are over 16384 bytes: send fewer",
  }),
  unexpected: { untestable: "a request that causes one would be a bug" },
  shuttingDown: { untestable: "only the owner of the server can stop it" },
  overloaded: { untestable: "the load would harm other clients, and its limits are unknown" },
  outcomeUnknown: { untestable: "only a failure of the server's storage, or its stop, causes it" },
  storageFull: { untestable: "only the server's machine can fill its storage" },
};
