/** The table of error numbers, and the error that becomes a response (contract.md "Status and error numbers"). */

interface ErrorRow {
  /** `error` of an Error body: the usual HTTP status times 100, plus a detail number. Never reused. */
  readonly error: number;
  /** The condition that produces this error. */
  readonly when: string;
}

/** Every error number of the service, in the contract's order. */
export const errorTable = {
  malformedHttp: { error: 40000, when: "malformed HTTP" },
  notJson: { error: 40001, when: "body is not JSON (says at which byte)" },
  notUtf8: { error: 40002, when: "body is not UTF-8" },
  emptyBody: { error: 40003, when: "body is empty" },
  tooDeep: { error: 40004, when: "JSON nested too deeply" },
  duplicateMember: { error: 40005, when: "duplicate member name" },
  loneSurrogate: { error: 40006, when: "unpaired surrogate in a string" },
  noCredential: { error: 40100, when: "no credential" },
  malformedCredential: {
    error: 40101,
    when: "malformed credential (scheme, two headers, characters)",
  },
  unknownToken: { error: 40102, when: "unknown or revoked token" },
  expiredToken: { error: 40103, when: "expired token" },
  noSuchPath: { error: 40400, when: "unknown path" },
  noSuchMethod: { error: 40500, when: "method not allowed on this path" },
  requestTimeout: { error: 40800, when: "request took too long to arrive" },
  idTaken: { error: 40900, when: "id belongs to a different plant" },
  bodyTooLarge: { error: 41300, when: "body over the limit" },
  targetTooLong: { error: 41400, when: "request target too long" },
  notJsonType: { error: 41500, when: "content type is not application/json" },
  notUtf8Charset: { error: 41501, when: "charset is not UTF-8" },
  contentCoding: { error: 41502, when: "body has a content coding" },
  expectation: { error: 41700, when: "unsupported expectation" },
  notObject: { error: 42200, when: "body is not an object" },
  idMissing: { error: 42201, when: "id missing" },
  idNotInteger: { error: 42202, when: "id is not an integer" },
  idOutOfRange: { error: 42203, when: "id outside int64" },
  nameMissing: { error: 42204, when: "name missing" },
  nameNotString: { error: 42205, when: "name is not a string" },
  tagNotString: { error: 42206, when: "tag is not a string" },
  headersTooLarge: { error: 43100, when: "headers too large" },
  unexpected: { error: 50000, when: "unexpected error" },
  shuttingDown: { error: 50300, when: "shutting down" },
  overloaded: { error: 50301, when: "overloaded or unavailable" },
  storageFull: { error: 50700, when: "storage full or read-only" },
} as const satisfies Record<string, ErrorRow>;

/** Modes for the status of a failed create: always 400 (contract.md "Given"), or the status that its number begins with. */
export const statusModes = ["contract", "http"] as const;

/** One of {@link statusModes}. */
export type StatusMode = (typeof statusModes)[number];

/** Returns the HTTP status that an error number begins with. */
export function toUsualStatus(error: number): number {
  return Math.trunc(error / 100);
}

/** The name of a row of {@link errorTable}. */
export type ErrorKind = keyof typeof errorTable;

/** The names of all rows, in the order of the table. */
export const errorKinds = Object.keys(errorTable) as readonly ErrorKind[];

/** Returns the HTTP status of a failure. */
export function toStatus(kind: ErrorKind, mode: StatusMode): number {
  // Other paths and methods are not the create operation.
  const isOther = kind === "noSuchPath" || kind === "noSuchMethod";
  return mode === "http" || isOther ? toUsualStatus(errorTable[kind].error) : 400;
}

/** One broken rule. */
export interface Problem {
  readonly kind: ErrorKind;
  /** States the problem, its place and how to fix it. Quotes input only with `quoteInput`. */
  readonly message: string;
}

/** Maximum length of the `message` of an Error, in bytes of UTF-8. */
export const maxMessageBytes = 1000;

/**
 * An error that the server sends as a response. It does not extend Error, because capturing unused stack traces
 * would slow down floods of invalid requests.
 */
export class RequestError {
  readonly name = "RequestError";
  readonly message: string;
  /** The row of the table. */
  readonly kind: ErrorKind;
  /** `error` of the Error body. */
  readonly error: number;

  /** @param message as {@link Problem.message}; truncated to {@link maxMessageBytes} */
  constructor(kind: ErrorKind, message: string) {
    this.message = truncate(message);
    this.kind = kind;
    this.error = errorTable[kind].error;
  }

  /** Creates an error that names all problems (at least one), in the order of the table. The first determines the number. */
  static naming(problems: readonly Problem[]): RequestError {
    const ordered = problems.toSorted(
      (a, b) => errorTable[a.kind].error - errorTable[b.kind].error,
    );
    // A set, because a name that occurs three times is reported twice.
    const messages = new Set(ordered.map((problem) => problem.message));
    return new RequestError(ordered[0]?.kind ?? "unexpected", [...messages].join("; "));
  }
}

/** The error of a create whose id belongs to a different plant. */
export function toIdTakenError(id: bigint): RequestError {
  return new RequestError(
    "idTaken",
    `id ${id} belongs to a different plant, which was not changed: choose another id`,
  );
}

/** Maximum UTF-8 bytes per UTF-16 code unit. */
const maxUnitBytes = 3;

function truncate(message: string): string {
  if (message.length * maxUnitBytes <= maxMessageBytes) return message;
  const encoder = new TextEncoder();
  if (encoder.encode(message).length <= maxMessageBytes) return message;
  const ellipsis = "…";
  const buffer = new Uint8Array(maxMessageBytes - encoder.encode(ellipsis).length);
  // encodeInto stops before a character that does not fit completely.
  const { read } = encoder.encodeInto(message, buffer);
  return message.slice(0, read) + ellipsis;
}
