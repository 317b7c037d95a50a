/** What differs in browsers of requests with `fetch`. */

/** Reads the body of a response. Its length has no limit: the browser protects its own memory. */
export async function readResponseBody(
  parts: ReadableStream<Uint8Array> | Uint8Array[],
): Promise<Uint8Array> {
  return Array.isArray(parts)
    ? (parts[0] ?? new Uint8Array())
    : new Uint8Array(await new Response(parts).arrayBuffer());
}

/** Browsers do not report why they cannot connect. */
export function classifyError(error: unknown): unknown {
  return error;
}

/** Resolves in the next turn of the event loop. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}
