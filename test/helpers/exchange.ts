/** Requests through the transport of the test project: bytes on a socket, or `fetch` of the server without a socket. */
import { expect, inject } from "vitest";
import type { StatusMode } from "../../src/core/errors.ts";
import { startServer, type TestServer, testToken } from "./plant-server.ts";
import { checkResponse, exchangeRaw } from "./raw-http.ts";
import type { Response } from "../conformance/response.ts";

/** Headers of a request: undefined leaves out a default, several values repeat the header. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A create by default. */
export interface ExchangeRequest {
  readonly body?: string | Uint8Array;
  readonly headers?: RequestHeaders;
  /** Method and target, such as `POST /plants`. */
  readonly line?: string;
}

const defaults: RequestHeaders = {
  Host: "localhost",
  Authorization: `Bearer ${testToken}`,
  "Content-Type": "application/json",
};

/** Returns the bytes of a request. */
export function toRequestBytes(request: ExchangeRequest, httpVersion = "1.1"): Uint8Array {
  const { body = "", headers = {}, line = "POST /plants" } = request;
  const content = Buffer.from(body as string);
  const pairs = toPairs({ "Content-Length": String(content.length), ...headers });
  const lines = [`${line} HTTP/${httpVersion}`, ...pairs.map((pair) => pair.join(": ")), "", ""];
  return Buffer.concat([Buffer.from(lines.join("\r\n")), content]);
}

/** Two servers that differ only in their status mode. */
export interface ServersOfBothModes {
  /** The server in the mode `contract`. */
  readonly server: TestServer;
  /**
   * Sends a request to both servers, and expects responses that differ only in the status.
   *
   * @returns the response in the mode `contract`
   */
  exchange(request: ExchangeRequest): Promise<Response>;
  /** Sends bytes, like {@link exchange}. */
  exchangeBytes(bytes: string | Uint8Array): Promise<Response>;
  close(): Promise<void>;
}

/** Starts two servers with the same options. */
export async function startBothModes(
  options: Parameters<typeof startServer>[0] = {},
): Promise<ServersOfBothModes> {
  const server = await startServer(options);
  const httpServer = await startServer({ ...options, statusMode: "http" });
  const sendToBoth = async (
    send: (server: TestServer, mode: StatusMode) => Promise<Response>,
  ): Promise<Response> => {
    const response = await send(server, "contract");
    const { error = 20_000 } = JSON.parse(response.body) as { readonly error?: number };
    expect(toComparable(await send(httpServer, "http"))).toEqual({
      ...toComparable(response),
      status: Math.trunc(error / 100),
    });
    return response;
  };
  const exchangeBytes = (bytes: string | Uint8Array): Promise<Response> =>
    sendToBoth(({ port }) => exchangeRaw(port, bytes));
  const isFetch = inject("transport").fetch;
  return {
    server,
    exchangeBytes,
    exchange: (request) =>
      isFetch
        ? sendToBoth((each, mode) => fetchRequest(each, request, mode))
        : exchangeBytes(toRequestBytes(request)),
    async close() {
      await server.close();
      await httpServer.close();
    },
  };
}

/** Returns a response without the headers that differ from one to the next. */
function toComparable({ headers, ...response }: Response) {
  const { date: _date, "x-request-id": _requestId, ...others } = headers;
  return { ...response, headers: others };
}

async function fetchRequest(
  server: TestServer,
  { body, headers = {}, line = "POST /plants" }: ExchangeRequest,
  mode: StatusMode,
): Promise<Response> {
  const [method = "", target = ""] = line.split(" ");
  const fetched = await server.fetch(new URL(target, "http://localhost"), {
    method,
    headers: toPairs(headers),
    ...(method === "GET" ? {} : { body: body as string }),
  });
  const bodyBytes = new Uint8Array(await fetched.arrayBuffer());
  const response = {
    status: fetched.status,
    headers: Object.fromEntries(fetched.headers),
    body: Buffer.from(bodyBytes).toString(),
    bodyBytes,
  };
  checkResponse(response, mode);
  return response;
}

function toPairs(headers: RequestHeaders): [name: string, value: string][] {
  return Object.entries({ ...defaults, ...headers }).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((each): [string, string] => [name, each]),
  );
}

/** Returns the Error in a response. */
export function errorOf(response: Response): { error: number; message: string } {
  return JSON.parse(response.body) as { error: number; message: string };
}

/** Expects a response with an Error as the contract describes it. */
export function expectError(response: Response, status: number, error: number): void {
  const body = errorOf(response);
  expect({ status: response.status, error: body.error }).toEqual({ status, error });
  expect(Object.keys(body)).toEqual(["error", "message"]);
  expect(body.message).toMatch(/^[^\n\r]{10,}$/);
  expect(Buffer.byteLength(body.message)).toBeLessThanOrEqual(1000);
  expect(response.headers).toMatchObject({
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
}
