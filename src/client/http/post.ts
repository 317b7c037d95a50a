/** A request on a connection of its own, with Node's own client: it is there already, where undici takes 20 ms to load. */
// Not with import(): that would be built into a copy of all that node:http has, for which Node 22 loads its parts of the web.
import { type IncomingMessage, request as requestInClear } from "node:http";
import { UnavailableError } from "../client-error.ts";
import { createTooLongError, toClientError } from "./failure.ts";
import type { HttpAnswer, HttpRequest } from "./message.ts";

/** Any answer may have as much. */
export const minAnswerLimitBytes = 16 * 1024 * 1024;
/** An answer repeats what was sent, and JSON may escape each byte of it as six. */
const answerBytesPerBodyByte = 6;

/** Sends a POST on a connection of its own and reads the answer, as every Post. */
export function post(message: HttpRequest): Promise<HttpAnswer> {
  return send("POST", message);
}

/** Sends a GET on a connection of its own and reads the answer; it fails as every Post. */
export function get(question: Omit<HttpRequest, "headers" | "body">): Promise<HttpAnswer> {
  return send("GET", { ...question, headers: { accept: "application/json" }, body: "" });
}

async function send(method: string, message: HttpRequest): Promise<HttpAnswer> {
  const { url, headers, body, timeoutMs, signal } = message;
  const request = url.startsWith("https:") ? (await import("node:https")).request : requestInClear;
  signal?.throwIfAborted();
  const maxAnswerBytes = Math.max(minAnswerLimitBytes, answerBytesPerBodyByte * body.length);

  const sent = request(url, {
    method,
    headers: { ...headers, "content-length": Buffer.byteLength(body) },
    // Nothing is kept open for another request, and no proxy that the environment names is sent the token.
    agent: false,
    // Whatever Node was told for the whole process.
    insecureHTTPParser: false,
  });
  // The signal's reason is thrown in place of it.
  const cancel = (): void => void sent.destroy(new Error("stopped"));
  const timer = setTimeout(() => {
    sent.destroy(new UnavailableError("timeout", url, `waited ${timeoutMs / 1000} s`));
  }, timeoutMs);
  // The signal may live on for millions of requests, and must not hold on to any of them.
  signal?.addEventListener("abort", cancel);
  try {
    return await new Promise((resolve, reject) => {
      let isComplete = (): boolean => false;
      // What comes behind an answer that is complete takes nothing away from it.
      sent.on("error", (error) => isComplete() || reject(error));
      sent.on("response", (response) => {
        isComplete = () => response.complete;
        readAnswer(response, url, maxAnswerBytes).then(resolve, reject);
      });
      // Nobody asked for one. Without this Node would close the connection, and say nothing.
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve(toAnswer(response, []));
      });
      sent.end(body);
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw toClientError(error, url);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
    sent.destroy();
  }
}

async function readAnswer(
  response: IncomingMessage,
  url: string,
  maxBytes: number,
): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw createTooLongError(url, maxBytes);
    chunks.push(chunk);
  }
  return toAnswer(response, chunks);
}

/** Headers that came twice are both there, where Node's `headers` would have the first alone. */
function toAnswer(
  { statusCode = 0, headersDistinct }: IncomingMessage,
  chunks: readonly Buffer[],
): HttpAnswer {
  return { status: statusCode, headers: headersDistinct, body: Buffer.concat(chunks) };
}
