/** A request on a connection of its own. */
import Client from "undici/lib/dispatcher/client.js";
import { connectUntil } from "./connector.ts";
import { Exchange, withoutTimeouts } from "./exchange.ts";
import type { HttpAnswer, HttpRequest } from "./message.ts";

/** Any answer may have as much. */
export const minAnswerLimitBytes = 16 * 1024 * 1024;
/** An answer repeats what was sent, and JSON may escape each byte of it as six. */
const answerBytesPerBodyByte = 6;

/** Sends a POST on a connection of its own and reads the answer, as every Post. */
export async function post(request: HttpRequest): Promise<HttpAnswer> {
  const { url, body, signal } = request;
  const { origin, pathname } = new URL(url);
  const maxAnswerBytes = Math.max(minAnswerLimitBytes, answerBytesPerBodyByte * body.length);
  const closing = new AbortController();
  const client = new Client(origin, {
    connect: connectUntil(closing.signal),
    maxResponseSize: maxAnswerBytes,
    ...withoutTimeouts,
  });
  const exchange = new Exchange(request, maxAnswerBytes);
  const cancel = (): void => exchange.cancel(new Error("stopped"));
  // The signal may live on for millions of requests, and must not hold on to any of them.
  signal?.addEventListener("abort", cancel);
  try {
    signal?.throwIfAborted();
    return await exchange.send(client, pathname);
  } finally {
    signal?.removeEventListener("abort", cancel);
    await client.destroy();
    closing.abort();
  }
}
