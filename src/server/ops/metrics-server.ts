/** Serves the metrics on a separate address, out of reach of the clients that create plants. */
import { createServer, type Socket } from "node:net";
import { listen } from "../http/listen.ts";
import type { Metrics } from "./metrics.ts";

/** A server of metrics. */
export interface MetricsServer {
  /** URL of the metrics. */
  readonly url: string;
  /** Stops at once. */
  close(): void;
}

/** Maximum number of connections; one more closes the oldest. */
const maxConnections = 20;
/** Maximum time for a request and its response. */
const timeoutMs = 5000;
/** Maximum size of the head of a request, in bytes. */
const maxHeadBytes = 16 * 1024;

/**
 * Starts a server that serves `GET /metrics` only, one request per connection. It reads one head and nothing after it:
 * node:http parses everything that has arrived, and 100 clients that pipeline requests and never read took 370 MiB.
 *
 * @param place a port of 0 selects a free one
 * @throws the error of node:net if it cannot listen
 */
export async function openMetricsServer(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  /** Oldest first. */
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    const [oldest] = connections;
    if (connections.size === maxConnections) oldest?.destroy();
    connections.add(socket);
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    socket.on("error", () => {}); // The client has left: "close" follows.
    socket.once("close", () => {
      clearTimeout(timer);
      connections.delete(socket);
    });
    let head = "";
    socket.setEncoding("latin1").on("data", (text: string) => {
      head += text;
      if (head.includes("\r\n\r\n")) {
        socket.removeAllListeners("data").pause();
        void toResponse(head, metrics).then((response) => socket.end(response));
      } else if (head.length > maxHeadBytes) socket.destroy();
    });
  });
  const { origin } = await listen(server, { host, port }, false);
  const close = (): void => {
    server.close();
    for (const socket of connections) socket.destroy();
  };
  return { url: `${origin}/metrics`, close };
}

async function toResponse(head: string, metrics: Metrics): Promise<string> {
  const [method, target] = head.split(" ", 2);
  if (target !== "/metrics") return toText("404 Not Found", "text/plain", "GET /metrics\n");
  if (method !== "GET" && method !== "HEAD") {
    return toText("405 Method Not Allowed", "text/plain\r\nAllow: GET, HEAD", "GET /metrics\n");
  }
  try {
    const response = toText("200 OK", metrics.contentType, await metrics.render());
    return method === "GET" ? response : response.slice(0, response.indexOf("\r\n\r\n") + 4);
  } catch {
    return toText("500 Internal Server Error", "text/plain", "");
  }
}

/** Formats a response that ends the connection. */
function toText(status: string, contentType: string, body: string): string {
  const date = new Date().toUTCString();
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status}\r\nDate: ${date}\r\nContent-Type: ${contentType}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`;
}
