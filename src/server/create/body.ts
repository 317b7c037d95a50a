/** The body of a create: what its headers must say, and its bytes (CONTRACT "Body"). */
import type { IncomingHttpHeaders } from "node:http";
import { type Problem, Refusal } from "../../core/errors.ts";
import type { BodyMemory } from "./body-memory.ts";
import type { Exchange } from "../exchange/exchange.ts";

/**
 * Checks what a request says of its body, before any of it is read.
 *
 * @param contentTypes the values of all Content-Type headers
 * @throws Refusal that names all of `notJsonType`, `notUtf8Charset`, `contentCoding`, `bodyTooLarge` that apply
 */
export function checkBodyHeaders(
  headers: IncomingHttpHeaders,
  contentTypes: readonly string[],
  maxBytes: number,
): void {
  const problems = [
    ...findTypeProblems(contentTypes),
    ...findCodingProblems(headers),
    ...(Number(headers["content-length"] ?? 0) > maxBytes ? [tooLarge(maxBytes)] : []),
  ];
  if (problems.length > 0) throw Refusal.naming(problems);
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
  const { request, response } = exchange;
  if (exchange.isContinueAwaited) {
    response.writeContinue();
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

function findTypeProblems(contentTypes: readonly string[]): Problem[] {
  const [contentType, ...others] = contentTypes;
  // Nearly always.
  if (contentType === "application/json" && others.length === 0) return [];
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

function findCodingProblems(headers: IncomingHttpHeaders): Problem[] {
  const contentCodings = (headers["content-encoding"] ?? "").split(",");
  const transferCodings = (headers["transfer-encoding"] ?? "").split(",");
  const isCoded =
    contentCodings.some((coding) => !["", "identity"].includes(coding.trim().toLowerCase())) ||
    transferCodings.some((coding) => !["", "chunked"].includes(coding.trim().toLowerCase()));
  if (!isCoded) return [];
  return [{ kind: "contentCoding", message: "the body has a content coding: send it as it is" }];
}
