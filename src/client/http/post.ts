/** Requests with node:http, each on a separate connection. It loads 20 ms faster than undici. */
import type { IncomingMessage } from "node:http";
import { toEndpoint } from "../../core/base-url.ts";
import { UnavailableError } from "../client-error.ts";
import { createTooLongError, toClientError } from "./network-error.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";

/** Number of bytes that any response may have. */
export const minResponseLimitBytes = 16 * 1024 * 1024;
/** A response repeats the request body, and JSON escapes one byte with up to six. */
const responseBytesPerBodyByte = 6;

/** Sends a POST request, as a Post. */
export function post(message: HttpRequest): Promise<HttpResponse> {
  return send("POST", message);
}

/** Sends a GET request. It fails as a Post. */
export function get(message: Omit<HttpRequest, "headers" | "body">): Promise<HttpResponse> {
  return send("GET", { ...message, headers: { accept: "application/json" }, body: "" });
}

/** Returns the reason phrase of a status; empty for an unknown one. */
export function toReasonPhrase(status: number): string {
  return process.getBuiltinModule("node:http").STATUS_CODES[status] ?? "";
}

async function send(method: string, message: HttpRequest): Promise<HttpResponse> {
  const { url, ca, headers, body, timeoutMs, signal } = message;
  const { httpUrl, socketPath } = toEndpoint(url);
  // Node 22 and later: import would load its fetch, HTTP/2 and web streams, which takes 20 ms.
  const { request } = url.startsWith("https:")
    ? process.getBuiltinModule("node:https")
    : process.getBuiltinModule("node:http");
  signal?.throwIfAborted();
  const maxBytes = Math.max(minResponseLimitBytes, responseBytesPerBodyByte * body.length);

  const sent = request(httpUrl, {
    method,
    ...(socketPath !== undefined && { socketPath }),
    ...(ca !== undefined && { ca }),
    headers: { ...headers, "content-length": Buffer.byteLength(body) },
    // Keeps no connection open, and sends the token to no proxy from the environment.
    agent: false,
    // Overrides Node's --insecure-http-parser.
    insecureHTTPParser: false,
  });
  const cancel = (): void => void sent.destroy(new Error("stopped"));
  const timer = setTimeout(() => {
    sent.destroy(new UnavailableError("timeout", url, `waited ${timeoutMs / 1000} s`));
  }, timeoutMs);
  // The signal may outlive millions of requests and must not keep any of them in memory.
  signal?.addEventListener("abort", cancel);
  try {
    return await new Promise((resolve, reject) => {
      let isComplete = (): boolean => false;
      // An error after the complete response does not matter.
      sent.on("error", (error) => isComplete() || reject(error));
      sent.on("response", (response) => {
        isComplete = () => response.complete;
        readResponse(response, url, maxBytes).then(resolve, reject);
      });
      // Without this listener Node closes the connection silently.
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve(toResponse(response, []));
      });
      sent.end(body);
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw toClientError(error, message);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
    sent.destroy();
  }
}

async function readResponse(
  response: IncomingMessage,
  url: string,
  maxBytes: number,
): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw createTooLongError(url, maxBytes);
    chunks.push(chunk);
  }
  return toResponse(response, chunks);
}

/** Uses `headersDistinct`, which keeps repeated headers; `headers` has only the first. */
function toResponse(
  { statusCode = 0, headersDistinct }: IncomingMessage,
  chunks: readonly Buffer[],
): HttpResponse {
  return { status: statusCode, headers: headersDistinct, body: Buffer.concat(chunks) };
}
