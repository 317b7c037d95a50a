/** The parameters of paths and queries: their grammar, their rules and their errors (contract.md "All operations"). */
import { attempt } from "./attempt.ts";
import { type ErrorKind, type Problem, RequestError } from "./errors.ts";
import { quoteInput } from "./messages.ts";
import { int64Max, int64Min, toInteger } from "./plant.ts";

/** Rules of an integer in a path or a query. */
interface ParameterRule {
  readonly in: "path" | "query";
  readonly description: string;
  readonly min: bigint;
  readonly max: bigint;
  readonly notInteger: ErrorKind;
  readonly outOfRange: ErrorKind;
  readonly default?: bigint;
  /** For the interface description: a value that is often used. */
  readonly example: number;
}

export const parameterRules = {
  id: {
    in: "path",
    description: "Identification number of the plant",
    min: int64Min,
    max: int64Max,
    notInteger: "idNotInteger",
    outOfRange: "idOutOfRange",
    example: 1,
  },
  limit: {
    in: "query",
    description: "Maximum number of plants in the page",
    min: 1n,
    max: 1000n,
    notInteger: "limitInvalid",
    outOfRange: "limitInvalid",
    default: 100n,
    example: 100,
  },
  after: {
    in: "query",
    description: "Selects only plants with a greater id: the last one of the page before",
    min: int64Min,
    max: int64Max,
    notInteger: "afterInvalid",
    outOfRange: "afterInvalid",
    example: 0,
  },
} as const satisfies Record<string, ParameterRule>;

export type ParameterName = keyof typeof parameterRules;

/** Reads the id in a path, as the client wrote it. @returns a RequestError for an invalid one */
export function readId(segment: string): bigint | RequestError {
  const id = readInteger("id", [segment]);
  return typeof id === "bigint" ? id : RequestError.naming(id === undefined ? [] : [id]);
}

/**
 * Reads the parameters of a list. Others are ignored.
 *
 * @param query as the client wrote it, without the question mark
 * @returns a RequestError that names every broken rule
 */
export function readPageQuery(
  query: string,
): { readonly limit: number; readonly after: bigint | undefined } | RequestError {
  const sent: Record<"limit" | "after", string[]> = { limit: [], after: [] };
  for (const pair of query.split("&")) {
    const [written = "", ...rest] = pair.split("=");
    const name = decode(written);
    if (name === "limit" || name === "after") sent[name].push(rest.join("="));
  }
  const limit = readInteger("limit", sent.limit) ?? parameterRules.limit.default;
  const after = readInteger("after", sent.after);
  if (typeof limit !== "object" && typeof after !== "object") {
    return { limit: Number(limit), after };
  }
  return RequestError.naming([limit, after].filter((each) => typeof each === "object"));
}

/** `-0` is 0. */
const decimal = /^-?(?:0|[1-9]\d*)$/;

/** Reads an integer that is sent at most once. @returns the broken rule, or undefined for an absent one */
function readInteger(
  name: ParameterName,
  [written, ...others]: readonly string[],
): bigint | undefined | Problem {
  if (written === undefined) return undefined;
  const { min, max, notInteger, outOfRange } = parameterRules[name];
  if (others.length > 0) {
    return { kind: notInteger, message: `${name} occurs ${others.length + 1} times: send it once` };
  }
  const text = decode(written);
  const integer = text !== undefined && decimal.test(text) ? toInteger(text) : undefined;
  if (integer !== undefined && integer >= min && integer <= max) return integer;
  const message = `${name} must be an integer from ${min} to ${max} in digits (got "${quoteInput(text ?? written)}")`;
  return { kind: integer === undefined ? notInteger : outOfRange, message };
}

/** Decodes a text once (RFC 3986 section 2.1); undefined if its encoding is malformed. */
function decode(text: string): string | undefined {
  return attempt(() => decodeURIComponent(text));
}
