/** Serves a store through a program's own server of node:http, and through frameworks on top of it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { RequestError, type StatusMode } from "../core/errors.ts";
import type { ServerFetch } from "../server/http/fetch-transport.ts";
import { toErrorResponse } from "../server/response.ts";

/** Responds to a request of node:http. */
export type PlantListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Creates a listener, which responds as `fetch` does. @param onError receives the error of a request that cannot be served */
export function createListener(
  fetch: ServerFetch,
  statusMode: StatusMode,
  onError: (error: unknown) => void,
): PlantListener {
  const fail = (response: ServerResponse, error: RequestError): void => {
    const { status, headers, body } = toErrorResponse(error, statusMode);
    response.writeHead(status, [...headers, ["Content-Type", "application/json"]].flat());
    response.end(body);
  };

  return (message, response) => {
    if (hasBody(message) && message.readableDidRead) {
      onError(new Error(bodyWasRead.message));
      fail(response, bodyWasRead);
      return;
    }
    const request = toRequest(message, response);
    if (request === undefined) fail(response, malformed);
    else void sendFetched(fetch(request), response);
  };
}

const bodyWasRead = new RequestError(
  "unexpected",
  "the body of the request was read before: use store.listener before express.json() and other parsers of bodies",
);

const malformed = new RequestError("malformedHttp", "the method or the Host header is invalid");

/** RFC 9112 section 6. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** @returns undefined for a request that `fetch` cannot send, such as TRACE */
function toRequest(message: IncomingMessage, response: ServerResponse): Request | undefined {
  const { method = "", url = "/", headers, rawHeaders } = message;
  const leaving = new AbortController();
  response.once("close", () => leaving.abort());
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""] as [string, string]] : [],
  );
  const sendsBody = hasBody(message) && method !== "GET" && method !== "HEAD";
  try {
    const host = headers.host ?? "localhost";
    return new Request(url.startsWith("/") ? `http://${host}${url}` : url, {
      method,
      headers: pairs,
      signal: leaving.signal,
      ...(sendsBody && {
        body: Readable.toWeb(message) as ReadableStream<Uint8Array>,
        duplex: "half",
      }),
    });
  } catch {
    return undefined;
  }
}

/** Sends a response. It closes the connection if a fault dropped or cut the response. */
async function sendFetched(fetched: Promise<Response>, response: ServerResponse): Promise<void> {
  try {
    const { status, headers, body } = await fetched;
    response.writeHead(status, [...headers].flat());
    for await (const chunk of body ?? []) response.write(chunk);
    response.end();
  } catch {
    // After what has been written.
    response.socket?.destroySoon();
  }
}
