/** Compares what a server sent with what a rule expects. */
import { isDeepStrictEqual } from "node:util";
import { attempt } from "../../src/core/attempt.ts";
import { errorTable, type StatusMode, toDerivedStatus } from "../../src/core/errors.ts";
import { fill, type Placeholders } from "./request-template.ts";
import { parseErrorBody, parsePlant } from "../../src/core/read-plant.ts";
import type { Conversation } from "./conversation.ts";
import type { Response } from "./response.ts";
import type { Exchange, ExpectedResponse } from "./rule.ts";

/** Returns what is wrong with a conversation, or undefined. */
export function checkConversation(
  conversation: Conversation,
  { receive, thenEnds }: Exchange,
  values: Placeholders,
  statusMode: StatusMode,
): string | undefined {
  const { responses, problem, failure, hasRest, isEnded, hasTimedOut, isUnreachable } =
    conversation;
  const expected = [receive].flat();
  if (isUnreachable) return `no connection (${describeEnd(conversation)})`;
  for (const [index, each] of expected.entries()) {
    const response = responses[index];
    const place = expected.length > 1 ? `response ${index + 1}: ` : "";
    if (response === undefined) {
      const wanted = `${place}expected ${describeExpected(each)}, but `;
      return wanted + (problem ?? describeEnd(conversation));
    }
    const wrong = checkResponse(response, each, values, statusMode);
    if (wrong !== undefined) return place + wrong;
  }
  const last = responses[expected.length];
  if (last !== undefined) {
    return `expected ${toCount(expected.length)} but received another one: ${describeResponse(last)}`;
  }
  if (problem !== undefined) return problem;
  if (hasRest) return "the server sent bytes after the last response";
  if (thenEnds && !isEnded) {
    return hasTimedOut || failure === undefined
      ? "the server did not end the connection"
      : describeEnd(conversation);
  }
  return undefined;
}

function toCount(count: number): string {
  return count === 1 ? "one response" : `${count} responses`;
}

function describeEnd({ failure, hasTimedOut, isEnded }: Conversation): string {
  if (failure !== undefined) {
    return `the connection failed: ${"code" in failure ? String(failure.code) : failure.message}`;
  }
  if (hasTimedOut) return "the server did not respond in time";
  return isEnded ? "the server ended the connection" : "nothing arrived";
}

/** Returns what is wrong with a response, or undefined. */
function checkResponse(
  response: Response,
  expected: ExpectedResponse,
  values: Placeholders,
  statusMode: StatusMode,
): string | undefined {
  const wrong =
    checkContent(response, expected, values, statusMode) ?? checkDetails(response, expected);
  if (wrong === undefined || expected.or === undefined) return wrong;
  const other = checkResponse(response, expected.or, values, statusMode);
  return other === undefined ? undefined : wrong;
}

function checkContent(
  response: Response,
  expected: ExpectedResponse,
  values: Placeholders,
  statusMode: StatusMode,
): string | undefined {
  const { status, plant, page, error, isBodiless = false } = expected;
  const unlike = `expected ${describeExpected(expected)}, but received ${describeResponse(response)}`;
  const isAny = status === 200 && plant === undefined && page === undefined;
  if (status === 100 || status === 204 || isBodiless || isAny) {
    return response.status === status ? undefined : unlike;
  }
  if (!isJson(response)) return `${unlike}: the content type must be application/json`;
  if (plant !== undefined) {
    const isEqual = response.status === 200 && isSamePlant(response.bodyBytes, fill(plant, values));
    return isEqual ? undefined : unlike;
  }
  if (page !== undefined) {
    const isEqual = response.status === 200 && isSamePage(response.body, fill(page, values));
    return isEqual ? undefined : unlike;
  }
  const body = parseErrorBody(response.bodyBytes);
  if (body === undefined) return `${unlike}: the body must be an Error`;
  if (error !== undefined && body.error !== errorTable[error].error) return unlike;
  const failureStatus = statusMode === "http" ? toDerivedStatus(body.error) : 400;
  return response.status === (status === "failure" ? failureStatus : status) ? undefined : unlike;
}

function isJson({ headers }: Response): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headers["content-type"] ?? "");
}

/** Checks whether a body is a Plant with the same values and no other member. */
function isSamePlant(body: Uint8Array, json: string): boolean {
  const { id: _, ...expected } = parseExactly(json) as object & { id?: unknown };
  const received = parsePlant(body) && parseExactly(new TextDecoder().decode(body));
  return isDeepStrictEqual(received, expected);
}

/** Checks whether a body is a page of the same plants, with the same members in the same order. */
function isSamePage(body: string, json: string): boolean {
  const read = (text: string): string => JSON.stringify(parseExactly(text));
  return attempt(() => read(body) === read(json)) === true;
}

/** Parses JSON with each number as an array of its text, because JSON.parse would round it. */
function parseExactly(text: string): unknown {
  return JSON.parse(
    text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (part) =>
      part.startsWith('"') ? part : `["${part}"]`,
    ),
  );
}

function checkDetails(
  { headers, body }: Response,
  { headers: patterns = {}, contains, containsNot }: ExpectedResponse,
): string | undefined {
  for (const [name, pattern] of Object.entries(patterns)) {
    const value = headers[name.toLowerCase()];
    if (pattern === undefined && value !== undefined) return `the header ${name} must be absent`;
    if (pattern !== undefined && (value === undefined || !pattern.test(value))) {
      return `the header ${name} must match ${pattern.source} but is ${value ?? "missing"}`;
    }
  }
  if (contains !== undefined && !contains.test(body)) {
    return `the body must match ${contains.source}`;
  }
  if (containsNot?.test(body)) return `the body must not match ${containsNot.source}`;
  return undefined;
}

function describeExpected({ status, plant, page, error, or }: ExpectedResponse): string {
  const other = or === undefined ? "" : `, or ${describeExpected(or)}`;
  if (status === 100) return `100 Continue${other}`;
  if (plant !== undefined) return `200 with the plant${other}`;
  if (page !== undefined) return `200 with the page${other}`;
  if (error !== undefined) return `error ${errorTable[error].error}${other}`;
  return (status === "failure" ? "a failure with an Error" : `status ${status}`) + other;
}

function describeResponse({ status, headers, bodyBytes }: Response): string {
  const parsed = parseErrorBody(bodyBytes);
  if (parsed !== undefined) return `status ${status} with error ${parsed.error}`;
  const type = headers["content-type"];
  return `status ${status}${type === undefined ? "" : ` with ${bodyBytes.length} bytes of ${type}`}`;
}
