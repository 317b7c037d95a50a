/** Servers that answer as a test says: over HTTP, or with any bytes at all. */
import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A request, as it arrived. */
interface SeenRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What to do with a request. */
export type Answer = (response: ServerResponse) => void;

/** A server under way; it is closed when the test has ended. */
export interface ScriptedServer {
  readonly url: string;
  /** Of a server over HTTP; those whose body has arrived. */
  readonly requests: readonly SeenRequest[];
}

/** Answers each request with the next of the answers, and all further ones with the last. */
export async function openScriptedServer(...answers: readonly Answer[]): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const { method, url: path, headers } = request;
      requests.push({ method, path, headers, body });
      answers[Math.min(requests.length, answers.length) - 1]?.(response);
    });
  });
  return { url: await listen(server), requests };
}

/** Hands over each connection, with nothing read and nothing written. */
export async function openRawServer(onConnection: (socket: Socket) => void): Promise<string> {
  return listen(createServer(onConnection));
}

/** An address at which nothing listens. */
export async function findClosedUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = toUrl(server);
  server.close();
  await once(server, "close");
  return url;
}

/** An answer of JSON. */
export function json(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  };
}

/** An Error, as a plant store answers. */
export function errorAnswer(error: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return json(400, JSON.stringify({ error, message: `message of ${error}` }), headers);
}

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}); // Clients that give up are part of the tests.
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return toUrl(server);
}

function toUrl(server: Server): string {
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
