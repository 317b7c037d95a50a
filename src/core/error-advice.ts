/** What each error number means to whoever gets it, and what to do about it. */
import type { ErrorKind } from "./errors.ts";

/** The explanation of an error number. */
export interface ErrorAdvice {
  /** One or two sentences. */
  readonly meaning: string;
  /** A request, or a state of the server, that is answered with it. */
  readonly example: string;
  /** What to do. */
  readonly remedy: string;
}

/** The explanation of every row of the error table. */
export const errorAdvice: Readonly<Record<ErrorKind, ErrorAdvice>> = {
  malformedHttp: {
    meaning: "What arrived is not HTTP/1.1 or 1.0, or it ended early.",
    example: "a request without a Host header, or TLS sent to a server without TLS",
    remedy: "use an HTTP client; check that the URL's scheme, http or https, is the server's",
  },
  notJson: {
    meaning: "The body is not JSON. The message names the byte at which it goes wrong.",
    example: `{"id":1,"name":'fern'}`,
    remedy: "mend the body at that byte; strings stand in double quotes, and no comma is last",
  },
  notUtf8: {
    meaning: "The body holds bytes that are no characters in UTF-8.",
    example: "a body in Latin-1 or UTF-16 with a letter such as ö",
    remedy: "send it in UTF-8",
  },
  emptyBody: {
    meaning: "The request has no body.",
    example: "a POST with Content-Length: 0",
    remedy: 'send a plant such as {"id":1,"name":"fern"}',
  },
  tooDeep: {
    meaning: "The JSON has more arrays and objects within each other than are read.",
    example: "[[[[… 65 levels …]]]]",
    remedy: "send the plant alone; it needs one level",
  },
  duplicateMember: {
    meaning: "An object has two members of one name, and which of them counts is anyone's guess.",
    example: '{"id":1,"name":"fern","name":"moss"}',
    remedy: "leave one of them out",
  },
  loneSurrogate: {
    meaning: "A string holds half of a character that is written as two.",
    example: String.raw`{"id":1,"name":"\ud83c"}`,
    remedy: String.raw`write the pair, such as \ud83c\udf3f, or the character itself`,
  },
  noCredential: {
    meaning: "The request has no Authorization header.",
    example: "a POST without a token",
    remedy: 'send the header "Authorization: Bearer <ACCESS_TOKEN>"',
  },
  malformedCredential: {
    meaning: "The Authorization header is not one bearer token.",
    example: "Authorization: Basic dXNlcjpwYXNz, or the header twice",
    remedy: 'send exactly one header "Authorization: Bearer <ACCESS_TOKEN>"',
  },
  unknownToken: {
    meaning: "The token is not one that this server issued, or it was revoked.",
    example: "the token of another store",
    remedy: "use a token that was issued for this store",
  },
  expiredToken: {
    meaning: "The token was good, and its time is over.",
    example: "a token that was issued for a day, a day later",
    remedy: "ask whoever runs the server for a new one",
  },
  noSuchPath: {
    meaning: "Nothing is at this path. The answer has the status 404.",
    example: "POST /plant, or POST /plants where the server has a base path",
    remedy: "send POST /plants, with the server's base path in front of it",
  },
  noSuchMethod: {
    meaning: "The path is right, the method is not. The answer has the status 405.",
    example: "GET /plants",
    remedy: "create with POST; reading is for those who own the store (plantstore list)",
  },
  requestTimeout: {
    meaning: "The request did not arrive in the time that the server gives it.",
    example: "a connection that breaks off in the middle of the body",
    remedy: "send it again; a create can be repeated",
  },
  idTaken: {
    meaning: "Another plant has this id: its name or its tag differs. It stays as it is.",
    example: '{"id":1,"name":"moss"} where {"id":1,"name":"fern"} was created before',
    remedy: "choose another id; serve --on-conflict replace would store the new plant instead",
  },
  bodyTooLarge: {
    meaning: "The body has more bytes than the server takes.",
    example: "a name of two million letters",
    remedy: "send less; serve --max-body raises the limit",
  },
  targetTooLong: {
    meaning: "The path and the query have more than 8 KiB together.",
    example: "POST /plants?… with a very long query",
    remedy: "leave the query out; it has no meaning",
  },
  notJsonType: {
    meaning: "The Content-Type header does not say that the body is JSON.",
    example: 'curl -d \'{"id":1,"name":"fern"}\' without a -H',
    remedy: 'send the header "Content-Type: application/json" once',
  },
  notUtf8Charset: {
    meaning: "The Content-Type header names a charset other than UTF-8.",
    example: "Content-Type: application/json; charset=iso-8859-1",
    remedy: "send the body in UTF-8, and leave the charset out",
  },
  contentCoding: {
    meaning: "The body is compressed, or coded in another way.",
    example: "Content-Encoding: gzip",
    remedy: "send it as it is",
  },
  expectation: {
    meaning: "The Expect header asks for something that the server does not do.",
    example: "Expect: cake",
    remedy: "leave it out; 100-continue is the only one there is",
  },
  notObject: {
    meaning: "The body is JSON, but not an object.",
    example: '["fern"]',
    remedy: 'send one object such as {"id":1,"name":"fern"}',
  },
  idMissing: {
    meaning: "The plant has no id.",
    example: '{"name":"fern"}',
    remedy: "give it an id; the server does not choose one",
  },
  idNotInteger: {
    meaning: "The id is not an integer.",
    example: '{"id":"1","name":"fern"} or {"id":1.5,"name":"fern"}',
    remedy: "write it as a number without quotes and without a fraction",
  },
  idOutOfRange: {
    meaning: "The id has more than 64 bits.",
    example: '{"id":9223372036854775808,"name":"fern"}',
    remedy: "choose one from -9223372036854775808 to 9223372036854775807",
  },
  nameMissing: {
    meaning: "The plant has no name.",
    example: '{"id":1}',
    remedy: "give it one; the empty string is a name",
  },
  nameNotString: {
    meaning: "The name is not a string.",
    example: '{"id":1,"name":null}',
    remedy: "write it in double quotes",
  },
  tagNotString: {
    meaning: "The tag is not a string.",
    example: '{"id":1,"name":"fern","tag":null}',
    remedy: "write it in double quotes, or leave it out",
  },
  headersTooLarge: {
    meaning: "The headers have more than 16 KiB.",
    example: "a request with the cookies of other services",
    remedy: "send fewer headers",
  },
  unexpected: {
    meaning: "The server failed in a way that nobody foresaw. Its own log says more.",
    example: "a bug, or a store that is damaged",
    remedy: "try again, and tell whoever runs the server",
  },
  shuttingDown: {
    meaning: "The server is stopping, and takes no new work.",
    example: "a create that arrives while the server is being restarted",
    remedy: "try again after the seconds in Retry-After",
  },
  overloaded: {
    meaning: "More creates wait than the server takes, or its database can't be reached.",
    example: "more than serve --max-inflight creates at a time",
    remedy: "try again after the seconds in Retry-After",
  },
  storageFull: {
    meaning: "The store has no room, or can't be written to. Nothing was stored.",
    example: "a disk that is full",
    remedy: "make room on the server's disk; it stores again without a restart",
  },
};
