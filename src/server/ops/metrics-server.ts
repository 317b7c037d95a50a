/** Serves the metrics on a separate address, out of reach of the clients that create plants. */
import { listen } from "../http/listen.ts";
import { createServer } from "../http/node-http.ts";
import type { Metrics } from "./metrics.ts";

/** A server of metrics. */
export interface MetricsServer {
  /** URL of the metrics. */
  readonly url: string;
  /** Stops at once. */
  close(): void;
}

/**
 * Starts a server that serves `GET /metrics` only.
 *
 * @param place a port of 0 selects a free one
 * @throws the error of node:net if it cannot listen
 */
export async function openMetricsServer(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const isThere = request.url === "/metrics";
    if (!isThere || (request.method !== "GET" && request.method !== "HEAD")) {
      const headers = { "Content-Type": "text/plain", ...(isThere && { Allow: "GET, HEAD" }) };
      response.writeHead(isThere ? 405 : 404, headers).end("GET /metrics\n");
      return;
    }
    metrics.render().then(
      (text) => response.writeHead(200, { "Content-Type": metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.maxConnections = 100;
  const { origin } = await listen(server, { host, port }, false);
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `${origin}/metrics`, close };
}
