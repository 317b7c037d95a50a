/** One HTTP request with one bounded answer; the only file that knows undici. */
import { Socket } from "node:net";
import { buildConnector, Client, errors } from "undici";
import { NotAPlantStoreError, UnavailableError } from "./client-error.ts";

/** A request with a body. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For all of it, from the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Ends it early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A complete answer, as it came: not decompressed, and redirects not followed. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/** Any answer may have as much. */
const minAnswerLimitBytes = 16 * 1024 * 1024;
/** An answer repeats what was sent, and JSON may escape each byte of it as six. */
const answerBytesPerBodyByte = 6;

/**
 * Sends a POST on a connection of its own and reads the answer.
 *
 * @throws UnavailableError when no complete answer came
 * @throws NotAPlantStoreError when what came is not HTTP, or has no end
 */
export async function post(request: HttpRequest): Promise<HttpAnswer> {
  const { url, headers, body, timeoutMs, signal } = request;
  const { origin, pathname } = new URL(url);
  const timeout = AbortSignal.timeout(timeoutMs);
  const stop = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const maxAnswerBytes = Math.max(minAnswerLimitBytes, answerBytesPerBodyByte * body.length);
  const client = new Client(origin, {
    connect: connectUntil(stop),
    // One clock for the whole attempt instead of one for each part of it.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: maxAnswerBytes,
  });
  try {
    const answer = await client.request({
      method: "POST",
      path: pathname,
      headers,
      body,
      signal: stop,
    });
    const bytes = await answer.body.bytes();
    return { status: answer.statusCode, headers: answer.headers, body: bytes };
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) {
      throw new UnavailableError("timeout", url, `waited ${timeoutMs / 1000} s`, { cause: error });
    }
    throw explain(error, url, maxAnswerBytes);
  } finally {
    await client.destroy();
  }
}

/** undici leaves a connection that is coming about to itself; this one ends with the signal. */
function connectUntil(stop: AbortSignal): buildConnector.connector {
  // It returns the socket, though its type does not say so.
  const connect: (...args: Parameters<buildConnector.connector>) => unknown = buildConnector({
    timeout: 0,
  });
  return (options, callback) => {
    const socket = connect(options, callback);
    if (!(socket instanceof Socket)) return;
    const destroy = (): void => void socket.destroy(new Error("stopped"));
    if (stop.aborted) destroy();
    stop.addEventListener("abort", destroy, { once: true });
    socket.once("close", () => stop.removeEventListener("abort", destroy));
  };
}

const lookUpCodes = /^(?:ENOTFOUND|EAI_)/;
const tlsCodes = /CERT|SIGNATURE|ISSUER|^ERR_TLS|^ERR_SSL|^EPROTO$/;

/** What undici or Node threw, in our words. Errors that neither gave a code are bugs and stay as they are. */
function explain(error: unknown, url: string, maxAnswerBytes: number): unknown {
  const options = { cause: error };
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
    return new NotAPlantStoreError(url, `its answer is not HTTP (${error.message})`, options);
  }
  if (error instanceof errors.ResponseExceededMaxSizeError) {
    const message = `its answer has more than ${maxAnswerBytes} bytes`;
    return new NotAPlantStoreError(url, message, options);
  }
  if (error instanceof errors.InvalidArgumentError) return error;
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return error;

  const { code, message } = error;
  if (code === "ECONNREFUSED") return new UnavailableError("refused", url, code, options);
  if (lookUpCodes.test(code)) return new UnavailableError("unknownHost", url, code, options);
  if (tlsCodes.test(code)) return new UnavailableError("insecure", url, message, options);
  return new UnavailableError("lost", url, message, options);
}
