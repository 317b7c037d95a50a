/** The one table of error numbers, and what is thrown with one of them (CONTRACT "Status and error numbers"). */

interface ErrorRow {
  /** The number in an Error body: the HTTP status the failure would have elsewhere × 100 + a detail. Never reused. */
  readonly error: number;
  /** When it is given. */
  readonly when: string;
}

/** Every error number of the service, in the contract's order. */
export const errorTable = {
  malformedHttp: { error: 40000, when: "not well-formed HTTP" },
  notJson: { error: 40001, when: "body is not JSON (says at which byte)" },
  notUtf8: { error: 40002, when: "body is not UTF-8" },
  emptyBody: { error: 40003, when: "body is empty" },
  tooDeep: { error: 40004, when: "JSON nested too deep" },
  duplicateMember: { error: 40005, when: "a member name occurs twice" },
  loneSurrogate: { error: 40006, when: "a string holds a lone surrogate" },
  noCredential: { error: 40100, when: "no credential" },
  malformedCredential: {
    error: 40101,
    when: "malformed credential (scheme, two headers, characters)",
  },
  unknownToken: { error: 40102, when: "unknown or revoked token" },
  expiredToken: { error: 40103, when: "expired token" },
  noSuchPath: { error: 40400, when: "no such path" },
  noSuchMethod: { error: 40500, when: "no such method on this path" },
  requestTimeout: { error: 40800, when: "request took too long to arrive" },
  idTaken: { error: 40900, when: "id belongs to a different plant" },
  bodyTooLarge: { error: 41300, when: "body over the limit" },
  targetTooLong: { error: 41400, when: "request target too long" },
  notJsonType: { error: 41500, when: "content type is not application/json" },
  notUtf8Charset: { error: 41501, when: "charset is not UTF-8" },
  contentCoding: { error: 41502, when: "body has a content coding" },
  expectation: { error: 41700, when: "expectation not supported" },
  notObject: { error: 42200, when: "body is not an object" },
  idMissing: { error: 42201, when: "id missing" },
  idNotInteger: { error: 42202, when: "id is not an integer" },
  idOutOfRange: { error: 42203, when: "id outside int64" },
  nameMissing: { error: 42204, when: "name missing" },
  nameNotString: { error: 42205, when: "name is not a string" },
  tagNotString: { error: 42206, when: "tag is not a string" },
  headersTooLarge: { error: 43100, when: "headers too large" },
  unexpected: { error: 50000, when: "unexpected" },
  shuttingDown: { error: 50300, when: "shutting down" },
  overloaded: { error: 50301, when: "overloaded" },
  storageFull: { error: 50700, when: "storage full or read-only" },
} as const satisfies Record<string, ErrorRow>;

/** The name of a row of {@link errorTable}. */
export type ErrorKind = keyof typeof errorTable;

/** One rule that was broken. */
export interface Problem {
  readonly kind: ErrorKind;
  /** What is wrong, where, and what would be right; input in it only through `quoteInput`. */
  readonly message: string;
}

/** The `message` of an Error is at most this long, in bytes of UTF-8. */
export const maxMessageBytes = 1000;

/**
 * A request, or an input, that breaks at least one rule. It is a client's mistake or a state, never a bug, and therefore
 * no Error: nobody would read its stack, which a flood of refused requests would pay for.
 */
export class RequestError {
  readonly name = "RequestError";
  readonly message: string;
  /** The row of the table. */
  readonly kind: ErrorKind;
  /** The number for an Error body. */
  readonly error: number;

  /** @param message as {@link Problem.message}; longer than {@link maxMessageBytes} it is cut */
  constructor(kind: ErrorKind, message: string) {
    this.message = cutMessage(message);
    this.kind = kind;
    this.error = errorTable[kind].error;
  }

  /** A refusal that names all of at least one problem; the first one gives the number. */
  static naming(problems: readonly Problem[]): RequestError {
    // A set, because a name that occurs three times is the same problem twice.
    const messages = new Set(problems.map((problem) => problem.message));
    return new RequestError(problems[0]?.kind ?? "unexpected", [...messages].join("; "));
  }
}

/** A UTF-16 code unit has at most so many bytes in UTF-8. */
const maxUnitBytes = 3;

function cutMessage(message: string): string {
  if (message.length * maxUnitBytes <= maxMessageBytes) return message;
  const encoder = new TextEncoder();
  if (encoder.encode(message).length <= maxMessageBytes) return message;
  const ellipsis = "…";
  const room = new Uint8Array(maxMessageBytes - encoder.encode(ellipsis).length);
  // encodeInto stops before a character that does not fit as a whole.
  const { read } = encoder.encodeInto(message, room);
  return message.slice(0, read) + ellipsis;
}
