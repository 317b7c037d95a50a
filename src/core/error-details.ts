/** Explains each error number: for `plantstore explain`, the manual and the page. */
import type { ErrorKind } from "./errors.ts";

/** The explanation of an error number. */
export interface ErrorDetails {
  /** One or two sentences. */
  readonly meaning: string;
  /** A request or a state of the server that causes the error. */
  readonly example: string;
  /** How to fix it, in sentences. */
  readonly remedy: string;
}

/** The explanation of every row of the error table. */
export const errorDetails: Readonly<Record<ErrorKind, ErrorDetails>> = {
  malformedHttp: {
    meaning: "The request is not valid HTTP/1.1 or 1.0, or the connection ended early.",
    example: "a request without a Host header, or TLS sent to a server without TLS",
    remedy:
      "Use an HTTP client, and check that the URL starts with the right scheme, http or https.",
  },
  notJson: {
    meaning: "The body is not valid JSON. The message names the byte of the first error.",
    example: '{"id":1,"name":\'fern\'}',
    remedy:
      "Fix the JSON at that byte. Strings need double quotes; trailing commas are not allowed.",
  },
  notUtf8: {
    meaning: "The body contains bytes that are not valid UTF-8.",
    example: "a body in Latin-1 or UTF-16 with a letter such as ö",
    remedy: "Encode the body in UTF-8.",
  },
  emptyBody: {
    meaning: "The request has no body.",
    example: "a POST with Content-Length: 0",
    remedy: 'Send a plant such as {"id":1,"name":"fern"}.',
  },
  tooDeep: {
    meaning: "The JSON has more levels of nested arrays and objects than the server reads.",
    example: "[[[[… 65 levels …]]]]",
    remedy: "Send only the plant. It needs one level.",
  },
  duplicateMember: {
    meaning: "An object has two members with the same name.",
    example: '{"id":1,"name":"fern","name":"moss"}',
    remedy: "Remove one of them.",
  },
  loneSurrogate: {
    meaning: "A string contains an unpaired surrogate.",
    example: String.raw`{"id":1,"name":"\ud83c"}`,
    remedy: String.raw`Write the pair, such as \ud83c\udf3f, or the character itself.`,
  },
  noCredential: {
    meaning: "The request has no Authorization header.",
    example: "a POST without a token",
    remedy: 'Send the header "Authorization: Bearer <ACCESS_TOKEN>".',
  },
  malformedCredential: {
    meaning: "The Authorization header is not a single valid bearer token.",
    example: "Authorization: Basic dXNlcjpwYXNz, or the header twice",
    remedy: 'Send exactly one header "Authorization: Bearer <ACCESS_TOKEN>".',
  },
  unknownToken: {
    meaning:
      "The server did not issue this token, or it was revoked, or it was removed 90 days after it expired.",
    example: "the token of another store",
    remedy: "Use a token that was issued for this store.",
  },
  expiredToken: {
    meaning: "The token has expired.",
    example: "a token that was issued for a day, a day later",
    remedy: "Ask the server's operator for a new token.",
  },
  noSuchPath: {
    meaning: "The server has no such path. The response has status 404.",
    example: "POST /plant, or POST /plants if the server has a base path",
    remedy: "Send POST /plants, after the base path if the server has one.",
  },
  noSuchMethod: {
    meaning: "The path does not support this method. The response has status 405.",
    example: "GET /plants",
    remedy: 'Create plants with POST. To read them, run "plantstore list" on the server.',
  },
  requestTimeout: {
    meaning: "The request did not arrive within the server's time limit.",
    example: "a connection that breaks in the middle of the body",
    remedy: "Send it again. Repeating a create is safe.",
  },
  idTaken: {
    meaning: "A different plant with this id is already stored. It was not changed.",
    example: '{"id":1,"name":"moss"} after {"id":1,"name":"fern"} was created',
    remedy: "Choose another id, or start the server with --on-conflict replace.",
  },
  bodyTooLarge: {
    meaning: "The body is larger than the server accepts.",
    example: "a name of two million letters",
    remedy: "Send a smaller body, or start the server with a larger --max-body.",
  },
  targetTooLong: {
    meaning: "The path and query are longer than 8 KiB.",
    example: "POST /plants?… with a very long query",
    remedy: "Remove the query. The server ignores it.",
  },
  notJsonType: {
    meaning: "The Content-Type header is missing or is not application/json.",
    example: 'curl -d \'{"id":1,"name":"fern"}\' without -H',
    remedy: 'Send the header "Content-Type: application/json" once.',
  },
  notUtf8Charset: {
    meaning: "The Content-Type header names a charset other than UTF-8.",
    example: "Content-Type: application/json; charset=iso-8859-1",
    remedy: "Encode the body in UTF-8, and remove the charset.",
  },
  contentCoding: {
    meaning: "The body is compressed (Content-Encoding).",
    example: "Content-Encoding: gzip",
    remedy: "Send the body uncompressed.",
  },
  expectation: {
    meaning: "The server does not support the value of the Expect header.",
    example: "Expect: cake",
    remedy: "Remove the header, or send Expect: 100-continue.",
  },
  notObject: {
    meaning: "The body is valid JSON, but not an object.",
    example: '["fern"]',
    remedy: 'Send one object such as {"id":1,"name":"fern"}.',
  },
  idMissing: {
    meaning: "The plant has no id.",
    example: '{"name":"fern"}',
    remedy: "Add an id. The server does not assign one.",
  },
  idNotInteger: {
    meaning: "The id is not an integer.",
    example: '{"id":"1","name":"fern"} or {"id":1.5,"name":"fern"}',
    remedy: "Write it as a number without quotes and without a fraction.",
  },
  idOutOfRange: {
    meaning: "The id does not fit in 64 bits.",
    example: '{"id":9223372036854775808,"name":"fern"}',
    remedy: "Choose an id from -9223372036854775808 to 9223372036854775807.",
  },
  nameMissing: {
    meaning: "The plant has no name.",
    example: '{"id":1}',
    remedy: "Add a name. It can be empty.",
  },
  nameNotString: {
    meaning: "The name is not a string.",
    example: '{"id":1,"name":null}',
    remedy: "Write the name in double quotes.",
  },
  tagNotString: {
    meaning: "The tag is not a string.",
    example: '{"id":1,"name":"fern","tag":null}',
    remedy: "Write the tag in double quotes, or leave it out.",
  },
  headersTooLarge: {
    meaning: "The headers are larger than 16 KiB.",
    example: "a request with the cookies of other services",
    remedy: "Send fewer headers.",
  },
  unexpected: {
    meaning: "The server hit an unexpected error. Its log has the details.",
    example: "a bug, or a damaged store",
    remedy: "Send it again. If it fails again, report it to the server's operator.",
  },
  shuttingDown: {
    meaning: "The server is stopping and accepts no new requests.",
    example: "a create during a restart of the server",
    remedy: "Wait for the seconds in Retry-After, then send it again.",
  },
  overloaded: {
    meaning: "The server's queue is full, or its database is unreachable.",
    example: "more concurrent creates than serve --max-inflight allows",
    remedy: "Wait for the seconds in Retry-After, then send it again.",
  },
  storageFull: {
    meaning:
      "The store is full, read-only, or lost one of its files. The plant may or may not be stored.",
    example: "a full disk",
    remedy: "Free space on the server's disk, or do what its log says. Then send it again.",
  },
};
