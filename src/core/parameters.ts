/** The parameters of paths and queries: their grammar, their rules and their errors (contract.md "The whole example"). */
import { attempt } from "./attempt.ts";
import {
  type OperationId,
  type OperationRow,
  operations,
  type ParameterNames,
} from "./contract.ts";
import { type ErrorKind, type Problem, RequestError } from "./errors.ts";
import { quoteInput } from "./messages.ts";
import { int64Max, int64Min, toInteger } from "./plant.ts";

/** The value of each parameter. One of a query that a client can leave out is undefined, or has a default. */
export interface ParameterValues {
  readonly id: bigint;
  readonly limit: number;
  readonly after: bigint | undefined;
}

/** The values of the parameters of an operation. */
export type ParametersOf<Id extends OperationId> = {
  readonly [Name in ParameterNames<(typeof operations)[Id]>]: ParameterValues[Name];
};

/** The name of a parameter. */
export type ParameterName = keyof ParameterValues;

/** Rules of an integer in a path or a query. */
interface ParameterRule<Value> {
  readonly description: string;
  readonly min: bigint;
  readonly max: bigint;
  /** The error of a text that is not an integer. */
  readonly notInteger: ErrorKind;
  /** The error of an integer outside the range. */
  readonly outOfRange: ErrorKind;
  /** Converts an integer in the range, or the absence of the parameter. A parameter of a path is never absent. */
  readonly toValue: (integer: bigint | undefined) => Value;
  /** For examples and clients: a value that is often used. */
  readonly example: number;
}

/** The rules of every parameter. */
export const parameterRules: {
  readonly [Name in ParameterName]: ParameterRule<ParameterValues[Name]>;
} = {
  id: {
    description: "Identification number of the plant",
    min: int64Min,
    max: int64Max,
    notInteger: "idNotInteger",
    outOfRange: "idOutOfRange",
    toValue: (integer = 0n) => integer,
    example: 1,
  },
  limit: {
    description: "Maximum number of plants in the page",
    min: 1n,
    max: 1000n,
    notInteger: "limitInvalid",
    outOfRange: "limitInvalid",
    toValue: (integer = 100n) => Number(integer),
    example: 100,
  },
  after: {
    description: "Selects only plants with a greater id: the last one of the page before",
    min: int64Min,
    max: int64Max,
    notInteger: "afterInvalid",
    outOfRange: "afterInvalid",
    toValue: (integer) => integer,
    example: 0,
  },
};

/** Returns the names of the parameters of an operation, and where each of them is. */
export function listParameters(
  row: OperationRow,
): readonly { readonly name: ParameterName; readonly in: "path" | "query" }[] {
  const inPath = Array.from(row.path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
  const inQuery = (row.needsToken ? row.query : undefined) ?? [];
  return [
    ...inPath.map((name) => ({ name: name as ParameterName, in: "path" }) as const),
    ...inQuery.map((name) => ({ name: name as ParameterName, in: "query" }) as const),
  ];
}

/** Reads the parameters of a request. Other parameters of the query are ignored. */
export type ParameterReader<Id extends OperationId> = (
  /** Segments of the path, by name, as the client wrote them. */
  segments: Readonly<Record<string, string>>,
  /** As the client wrote it, without the question mark. */
  query: string,
) => ParametersOf<Id> | RequestError;

/** Creates the reader of an operation's parameters. Its RequestError names every broken rule. */
export function createParameterReader<Id extends OperationId>(id: Id): ParameterReader<Id> {
  const parameters = listParameters(operations[id]);
  if (parameters.length === 0) return () => ({}) as ParametersOf<Id>;
  const hasQuery = parameters.some((each) => each.in === "query");
  return (segments, query) => {
    const sent = splitQuery(hasQuery ? query : "");
    const values: Partial<Record<ParameterName, unknown>> = {};
    const problems: Problem[] = [];
    for (const { name, in: location } of parameters) {
      const texts = location === "path" ? [segments[name] ?? ""] : (sent.get(name) ?? []);
      const integer = readInteger(name, texts);
      if (typeof integer === "object") problems.push(integer);
      else values[name] = parameterRules[name].toValue(integer);
    }
    return problems.length > 0 ? RequestError.naming(problems) : (values as ParametersOf<Id>);
  };
}

/** Returns the values of each parameter of a query, as the client wrote them. */
function splitQuery(query: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query === "" ? [] : query.split("&")) {
    const [written = "", ...rest] = pair.split("=");
    const name = decode(written) ?? written;
    const known = values.get(name) ?? [];
    values.set(name, known);
    known.push(rest.join("="));
  }
  return values;
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
