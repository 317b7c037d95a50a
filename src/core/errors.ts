/** The table of error numbers, and the error that becomes a response (contract.md "Status and error numbers"). */
import {
  type ContractOperationId,
  contractOperations,
  operations,
  type OperationSet,
} from "./contract.ts";
import type { ConflictPolicy } from "./store.ts";

/**
 * The step that an error asks of the client:
 * - `fix`: the plant or its request breaks a rule
 * - `token`: the credential is missing or rejected, or does not allow the request
 * - `conflict`: the id belongs to a different plant
 * - `absent`: the id has no plant. A client that repeats a delete takes it as done
 * - `server`: the request does not fit the server, so every such request would get this error
 * - `later`: a retry may succeed, but not at once
 * - `resend`: the request did not arrive completely. Clients send it again
 * - `retry`: the server cannot store plants now. Clients retry
 */
export type NextStep =
  | "fix"
  | "token"
  | "conflict"
  | "absent"
  | "server"
  | "later"
  | "resend"
  | "retry";

/** A row of {@link errorTable}. Server, client, exit codes and the interface description derive from it. */
export interface ErrorRow {
  /** `error` of an Error body: the usual HTTP status times 100, plus a detail number. Never reused. */
  readonly error: number;
  /** The condition that causes it. */
  readonly when: string;
  /** The step that it asks of the client. */
  readonly next: NextStep;
  /** Value of the header Retry-After, in seconds. */
  readonly retryAfterS?: number;
  /** Status in every status mode, if it is not 400. */
  readonly status?: 404 | 405;
  /** The operations that can fail with it; any if absent. */
  readonly only?: readonly ContractOperationId[];
  /** How to fix it, in sentences. */
  readonly remedy: string;
}

/** Every error number of the service, in the contract's order. Each is an {@link ErrorRow}. */
export const errorTable = {
  malformedHttp: {
    error: 40000,
    when: "malformed HTTP",
    next: "server",
    remedy:
      "Use an HTTP client, and check that the URL starts with the right scheme, http or https.",
  },
  notJson: {
    error: 40001,
    when: "body is not JSON (says at which byte)",
    next: "fix",
    only: ["create"],
    remedy:
      "Fix the JSON at that byte. Strings need double quotes; trailing commas are not allowed.",
  },
  notUtf8: {
    error: 40002,
    when: "body is not UTF-8",
    next: "fix",
    only: ["create"],
    remedy: "Encode the body in UTF-8.",
  },
  emptyBody: {
    error: 40003,
    when: "body is empty",
    next: "fix",
    only: ["create"],
    remedy: 'Send a plant such as {"id":1,"name":"fern"}.',
  },
  tooDeep: {
    error: 40004,
    when: "JSON nested too deeply",
    next: "fix",
    only: ["create"],
    remedy: "Send only the plant. It needs one level.",
  },
  duplicateMember: {
    error: 40005,
    when: "duplicate member name",
    next: "fix",
    only: ["create"],
    remedy: "Remove one of them.",
  },
  loneSurrogate: {
    error: 40006,
    when: "unpaired surrogate in a string",
    next: "fix",
    only: ["create"],
    remedy: String.raw`Write the pair, such as \ud83c\udf3f, or the character itself.`,
  },
  noCredential: {
    error: 40100,
    when: "no credential",
    next: "token",
    remedy: 'Send the header "Authorization: Bearer <ACCESS_TOKEN>".',
  },
  malformedCredential: {
    error: 40101,
    when: "malformed credential (scheme, two headers, characters)",
    next: "token",
    remedy: 'Send exactly one header "Authorization: Bearer <ACCESS_TOKEN>".',
  },
  unknownToken: {
    error: 40102,
    when: "unknown or revoked token",
    next: "token",
    remedy: "Use a token that was issued for this store.",
  },
  expiredToken: {
    error: 40103,
    when: "expired token",
    next: "token",
    remedy: "Ask the server's operator for a new token.",
  },
  forbidden: {
    error: 40300,
    when: "the token may not do this",
    next: "token",
    remedy: "Use a token that allows the operation.",
  },
  noSuchPath: {
    error: 40400,
    when: "unknown path",
    next: "server",
    status: 404,
    remedy: `Check the URL. The path of plants is ${operations.create.path}, after the base path if the server has one.`,
  },
  noSuchPlant: {
    error: 40401,
    when: "no such plant",
    next: "absent",
    only: ["delete"],
    remedy: "Check the id. If this repeats a delete, the plant is deleted.",
  },
  noSuchMethod: {
    error: 40500,
    when: "method not allowed on this path",
    next: "server",
    status: 405,
    remedy: "Send a method that the header Allow names. Plants are created with POST.",
  },
  requestTimeout: {
    error: 40800,
    when: "request took too long to arrive",
    next: "resend",
    remedy: "Send it again, which is safe.",
  },
  idTaken: {
    error: 40900,
    when: "id belongs to a different plant",
    next: "conflict",
    only: ["create"],
    remedy: "Choose another id, or start the server with --on-conflict replace.",
  },
  bodyTooLarge: {
    error: 41300,
    when: "body over the limit",
    next: "fix",
    only: ["create"],
    remedy: "Send a smaller body, or start the server with a larger --max-body.",
  },
  targetTooLong: {
    error: 41400,
    when: "request target too long",
    next: "server",
    remedy: "Shorten the path and the query.",
  },
  notJsonType: {
    error: 41500,
    when: "content type is not application/json",
    next: "fix",
    only: ["create"],
    remedy: 'Send the header "Content-Type: application/json" once.',
  },
  notUtf8Charset: {
    error: 41501,
    when: "charset is not UTF-8",
    next: "fix",
    only: ["create"],
    remedy: "Encode the body in UTF-8, and remove the charset.",
  },
  contentCoding: {
    error: 41502,
    when: "body has a content coding",
    next: "fix",
    only: ["create"],
    remedy: "Send the body uncompressed.",
  },
  expectation: {
    error: 41700,
    when: "unsupported expectation",
    next: "server",
    only: ["create"],
    remedy: "Remove the header, or send Expect: 100-continue.",
  },
  notObject: {
    error: 42200,
    when: "body is not an object",
    next: "fix",
    only: ["create"],
    remedy: 'Send one object such as {"id":1,"name":"fern"}.',
  },
  idMissing: {
    error: 42201,
    when: "id missing",
    next: "fix",
    only: ["create"],
    remedy: "Add an id. The server does not assign one.",
  },
  idNotInteger: {
    error: 42202,
    when: "id is not an integer",
    next: "fix",
    only: ["create", "delete"],
    remedy: "Write it in digits, without quotes and without a fraction.",
  },
  idOutOfRange: {
    error: 42203,
    when: "id outside int64",
    next: "fix",
    only: ["create", "delete"],
    remedy: "Choose an id from -9223372036854775808 to 9223372036854775807.",
  },
  nameMissing: {
    error: 42204,
    when: "name missing",
    next: "fix",
    only: ["create"],
    remedy: "Add a name. It can be empty.",
  },
  nameNotString: {
    error: 42205,
    when: "name is not a string",
    next: "fix",
    only: ["create"],
    remedy: "Write the name in double quotes.",
  },
  tagNotString: {
    error: 42206,
    when: "tag is not a string",
    next: "fix",
    only: ["create"],
    remedy: "Write the tag in double quotes, or leave it out.",
  },
  limitInvalid: {
    error: 42207,
    when: "limit is not an integer from 1 to 1000",
    next: "fix",
    only: ["list"],
    remedy: "Write it once and in digits, or leave it out.",
  },
  afterInvalid: {
    error: 42208,
    when: "after is not an int64",
    next: "fix",
    only: ["list"],
    remedy: "Write the id of a plant once and in digits, or leave it out.",
  },
  headersTooLarge: {
    error: 43100,
    when: "headers too large",
    next: "server",
    remedy: "Send fewer headers.",
  },
  unexpected: {
    error: 50000,
    when: "unexpected error",
    next: "later",
    remedy: "Send it again. If it fails again, report it to the server's operator.",
  },
  shuttingDown: {
    error: 50300,
    when: "shutting down",
    next: "retry",
    retryAfterS: 1,
    remedy: "Wait for the seconds in Retry-After, then send it again.",
  },
  overloaded: {
    error: 50301,
    when: "overloaded or unavailable (nothing was done)",
    next: "retry",
    retryAfterS: 1,
    remedy: "Wait for the seconds in Retry-After, then send it again.",
  },
  outcomeUnknown: {
    error: 50302,
    when: "the outcome is unknown",
    next: "retry",
    retryAfterS: 1,
    only: ["create", "delete"],
    remedy: "Send it again, which is safe: the same plant is stored, or deleted, once.",
  },
  storageFull: {
    error: 50700,
    when: "storage full or read-only",
    next: "retry",
    remedy: "Free space on the server's disk, or do what its log says. Then send it again.",
  },
} as const satisfies Record<string, ErrorRow>;

/** Modes for the status of an error: always 400 (contract.md "Given"), or the status that its number begins with. */
export const statusModes = ["contract", "http"] as const;

/** One of {@link statusModes}. */
export type StatusMode = (typeof statusModes)[number];

/** Returns the HTTP status that an error number begins with. */
export function toDerivedStatus(error: number): number {
  return Math.trunc(error / 100);
}

/** The name of a row of {@link errorTable}. */
export type ErrorKind = keyof typeof errorTable;

export const errorKinds = Object.keys(errorTable) as readonly ErrorKind[];

export const errorRows: readonly ErrorRow[] = Object.values(errorTable);

/** Returns undefined for a number of another version or another service. */
export function findErrorRow(error: number): ErrorRow | undefined {
  return errorRows.find((row) => row.error === error);
}

/** Steps for numbers of a later version, by the status that they begin with. All others are `fix`. */
const stepByStatus: Readonly<Record<number, NextStep>> = {
  401: "token",
  403: "token",
  404: "server",
  405: "server",
  408: "resend",
  409: "conflict",
  414: "server",
  417: "server",
  429: "retry",
  431: "server",
};

/** Returns what a number asks of the client: the step of its row, or that of its status if it is of a later version. */
export function toNextStep(error: number): NextStep {
  const status = toDerivedStatus(error);
  const step = status >= 500 && status <= 599 ? "retry" : (stepByStatus[status] ?? "fix");
  return findErrorRow(error)?.next ?? step;
}

/** Returns the names of the errors that a server with these settings sends, in the order of the table. */
export function listErrorKinds({
  onConflict,
  operations: set = "create",
}: {
  readonly onConflict: ConflictPolicy;
  readonly operations?: OperationSet | undefined;
}): readonly ErrorKind[] {
  const served: readonly ContractOperationId[] = contractOperations[set];
  return errorKinds.filter((kind) => {
    const { only, next }: ErrorRow = errorTable[kind];
    const isServed = only === undefined || only.some((id) => served.includes(id));
    return isServed && (next !== "conflict" || onConflict === "reject");
  });
}

/** Returns the HTTP status of a failure. */
export function toStatus(kind: ErrorKind, mode: StatusMode): number {
  const { error, status }: ErrorRow = errorTable[kind];
  return mode === "http" ? toDerivedStatus(error) : (status ?? 400);
}

/** One broken rule. */
export interface Problem {
  readonly kind: ErrorKind;
  /** States the problem, its place and how to fix it. Quotes input only with `quoteInput`. */
  readonly message: string;
}

export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** Of the `message` of an Error, in UTF-8. */
export const maxMessageBytes = 1000;

/**
 * An error that the server sends as a response. It does not extend Error, because capturing unused stack traces
 * would slow down floods of invalid requests.
 */
export class RequestError {
  readonly message: string;
  readonly kind: ErrorKind;
  readonly error: number;
  readonly headers: HeaderPairs;

  /**
   * @param message as {@link Problem.message}; truncated to {@link maxMessageBytes}
   * @param options `headers` instead of those of its row
   */
  constructor(
    kind: ErrorKind,
    message: string,
    { headers }: { readonly headers?: HeaderPairs } = {},
  ) {
    const { error, retryAfterS }: ErrorRow = errorTable[kind];
    this.message = truncateMessage(message);
    this.kind = kind;
    this.error = error;
    this.headers =
      headers ?? (retryAfterS === undefined ? [] : [["Retry-After", `${retryAfterS}`]]);
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

export function toIdTakenError(id: bigint): RequestError {
  return new RequestError(
    "idTaken",
    `id ${id} belongs to a different plant, which was not changed: choose another id`,
  );
}

export function toNoSuchPlantError(id: bigint): RequestError {
  return new RequestError("noSuchPlant", `no plant has the id ${id}: check the id`);
}

/** Truncates text to {@link maxMessageBytes}, with an ellipsis at its end. */
export function truncateMessage(message: string): string {
  // A UTF-16 code unit has at most three bytes.
  if (message.length * 3 <= maxMessageBytes) return message;
  const encoder = new TextEncoder();
  if (encoder.encode(message).length <= maxMessageBytes) return message;
  const ellipsis = "…";
  const buffer = new Uint8Array(maxMessageBytes - encoder.encode(ellipsis).length);
  // encodeInto stops before a character that does not fit completely.
  const { read } = encoder.encodeInto(message, buffer);
  return message.slice(0, read) + ellipsis;
}
