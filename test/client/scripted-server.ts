/** Servers that respond as a test says: with HTTP responses, or with any bytes. */
import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type ServerResponse,
} from "node:http";
import {
  type AddressInfo,
  createServer,
  type Server,
  type ServerOpts,
  type Socket,
} from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { onTestFinished } from "vitest";
import { findFreePort } from "../helpers/postgres-server.ts";

interface ReceivedRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends the response to a request. */
export type Responder = (response: ServerResponse) => void;

/** A running server. */
export type ScriptedServer = Awaited<ReturnType<typeof openScriptedServer>>;

/** Starts a server, which closes when the test ends. Each request gets the next responder; all further requests get the last one. */
export async function openScriptedServer(
  ...responders: readonly ((response: ServerResponse, request: ReceivedRequest) => void)[]
) {
  const requests: ReceivedRequest[] = [];
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const { method, url: path, headers } = request;
      const received = { method, path, headers, body };
      requests.push(received);
      responders[Math.min(requests.length, responders.length) - 1]?.(response, received);
    });
  });
  const url = toUrl(await listen(server));
  /** The requests whose body has arrived. */
  return { url, requests: requests as readonly ReceivedRequest[] };
}

/** Starts a TCP server whose connections the caller handles. @returns its URL */
export async function openRawServer(
  onConnection: (socket: Socket) => void,
  options: ServerOpts = {},
): Promise<string> {
  return toUrl(await listen(createServer(options, onConnection)));
}

/** Starts a TLS server whose connections the caller handles. @returns its URL */
export async function openTlsServer(
  options: TlsOptions,
  host = "127.0.0.1",
  onConnection: (socket: Socket) => void = () => undefined,
): Promise<string> {
  const { port } = await listen(createTlsServer(options, onConnection), host);
  return `https://${host}:${port}`;
}

/**
 * Returns a URL at which no server listens during the test. Its port is below those of outgoing connections: one of these could
 * connect to itself.
 */
export async function findClosedUrl(): Promise<string> {
  return `http://127.0.0.1:${await findFreePort()}`;
}

/** Creates a responder that sends JSON. */
export function json(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Responder {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  };
}

/** Creates a responder that sends an Error with the status 400. */
export function errorResponse(
  error: number,
  headers: Readonly<Record<string, string>> = {},
): Responder {
  return json(400, JSON.stringify({ error, message: `message of ${error}` }), headers);
}

async function listen(server: Server, host = "127.0.0.1"): Promise<AddressInfo> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    // Clients may reset their connections.
    socket.on("error", () => undefined);
  });
  server.listen(0, host);
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return server.address() as AddressInfo;
}

const toUrl = ({ port }: AddressInfo): string => `http://127.0.0.1:${port}`;
