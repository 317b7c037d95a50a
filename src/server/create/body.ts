/** The body of a create: what its headers must say, and its bytes (CONTRACT "Body"). */
import { type Problem, Refusal } from "../../core/errors.ts";
import type { BodyMemory } from "./body-memory.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { RequestHead } from "../exchange/headers.ts";

/**
 * Checks what a request says of its body, before any of it is read.
 *
 * @throws Refusal that names all of `notJsonType`, `notUtf8Charset`, `contentCoding`, `bodyTooLarge` that apply
 */
export function checkBodyHeaders(head: RequestHead, maxBytes: number): void {
  const isTooLarge = (head.contentLength ?? 0) > maxBytes;
  if (isUsualType(head.contentTypes) && !isCoded(head) && !isTooLarge) return;
  const problems = [
    ...findTypeProblems(head.contentTypes),
    ...(isCoded(head) ? [coded] : []),
    ...(isTooLarge ? [tooLarge(maxBytes)] : []),
  ];
  if (problems.length > 0) throw Refusal.naming(problems);
}

/**
 * Takes the room for a body that came whole.
 *
 * @param memory whoever calls this frees it
 * @throws Refusal `overloaded` when there is none
 */
export function takeBody(exchange: Exchange, body: Uint8Array, memory: BodyMemory): void {
  if (!memory.take(exchange, body.length, false)) throw memory.refusal();
}

/**
 * Reads the body of a request; lets a client that waits for it know that it may send.
 *
 * @param memory of which it takes what it holds; whoever calls this frees it
 * @throws Refusal `bodyTooLarge`; `overloaded` when there is no room; `malformedHttp` or `requestTimeout` when the rest of
 * it will not come
 */
export function readBody(
  exchange: Exchange,
  maxBytes: number,
  memory: BodyMemory,
): Promise<Uint8Array> {
  const { request } = exchange;
  if (exchange.isContinueAwaited) {
    exchange.requireResponse().writeContinue();
    exchange.isContinueAwaited = false;
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let isRefused = false;
    const refuse = (refusal: Refusal): void => {
      isRefused = true;
      chunks.length = 0;
      memory.free(exchange);
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a Refusal needs no stack
      reject(refusal);
    };
    request.on("data", (chunk: Buffer) => {
      if (isRefused) return;
      length += chunk.length;
      if (length > maxBytes) refuse(Refusal.naming([tooLarge(maxBytes)]));
      else if (memory.take(exchange, chunk.length)) chunks.push(chunk);
      else refuse(memory.refusal());
    });
    request.once("end", () => {
      memory.arrived(exchange);
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
      // The listeners live as long as the answer is waited for; the bytes need not.
      chunks.length = 0;
    });
    request.once("close", () => {
      if (request.complete) return;
      refuse(new Refusal("malformedHttp", "the connection ended before the body did"));
    });
    exchange.onBroken(refuse);
  });
}

function tooLarge(maxBytes: number): Problem {
  return { kind: "bodyTooLarge", message: `the body is over the limit of ${maxBytes} bytes` };
}

const advice = 'send the header "Content-Type: application/json"';
/** One parameter of a media type (RFC 9110 section 5.6.6), its value bare or quoted. */
const parameter = /;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

function isUsualType(contentTypes: readonly string[]): boolean {
  return contentTypes.length === 1 && contentTypes[0] === "application/json";
}

function findTypeProblems(contentTypes: readonly string[]): Problem[] {
  const [contentType, ...others] = contentTypes;
  if (contentType === undefined) {
    return [{ kind: "notJsonType", message: `the content type is missing: ${advice}` }];
  }
  if (others.length > 0) {
    return [
      { kind: "notJsonType", message: `${contentTypes.length} content types: ${advice} once` },
    ];
  }
  const [mediaType = ""] = contentType.split(";", 1);
  if (mediaType.trim().toLowerCase() !== "application/json") {
    const hint = isForm(mediaType) ? ' (curl -d needs -H "Content-Type: application/json")' : "";
    return [{ kind: "notJsonType", message: `the content type is not JSON: ${advice}${hint}` }];
  }
  for (const [, name = "", quoted, bare = ""] of contentType.matchAll(parameter)) {
    const value = quoted?.replace(/\\(.)/g, "$1") ?? bare;
    if (name.toLowerCase() === "charset" && value.toLowerCase() !== "utf-8") {
      return [{ kind: "notUtf8Charset", message: "the charset is not UTF-8: leave it out" }];
    }
  }
  return [];
}

function isForm(mediaType: string): boolean {
  return mediaType.trim().toLowerCase() === "application/x-www-form-urlencoded";
}

const coded: Problem = {
  kind: "contentCoding",
  message: "the body has a content coding: send it as it is",
};

function isCoded({ contentEncodings, transferEncodings }: RequestHead): boolean {
  return (
    hasOther(contentEncodings, ["", "identity"]) || hasOther(transferEncodings, ["", "chunked"])
  );
}

/** Whether lists name anything else than these. */
function hasOther(lists: readonly string[], names: readonly string[]): boolean {
  if (lists.length === 0) return false;
  const codings = lists.flatMap((list) => list.split(","));
  return codings.some((coding) => !names.includes(coding.trim().toLowerCase()));
}
