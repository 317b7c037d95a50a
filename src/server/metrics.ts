/** Metrics of a server for Prometheus, and the separate address that serves them. Loaded on demand. */
import type { IncomingMessage } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { isLoopback } from "../core/base-url.ts";
import { contractOperations, type OperationSet } from "../core/contract.ts";
import { errorTable, toNextStep } from "../core/errors.ts";
import { maxWaitingBytes, type ServerLimits, type ServerLoad } from "./admission.ts";
import { findPublicUrl } from "./docs/self-description.ts";
import type { FaultKind } from "./faults.ts";
import { listen } from "./http/listen.ts";
import { createServer } from "./http/node-http.ts";
import { Slicer } from "./http/slicer.ts";
import type { RequestRecord } from "./request.ts";

/** Metrics of one server. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Sources of the values that are read when the metrics are. */
export interface MetricsSources {
  /** Returns undefined before the server listens. */
  readonly readLoad: () => ServerLoad | undefined;
  readonly isReady: () => Promise<boolean>;
  readonly countDroppedLines: () => number;
  readonly operations: OperationSet;
  readonly limits: Pick<ServerLimits, "maxInflight" | "maxConnections">;
  /** The version of the package. */
  readonly version: string;
  /** Returns when the certificate in use expires, in milliseconds since 1970. Absent without TLS. */
  readonly readCertificateExpiry?: (() => number | undefined) | undefined;
}

/** From a single create on a fast disk to the timeout of a client. */
const secondBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
/** Alerts see an increase only of a counter that was there before: these errors count from 0. */
const countedErrors = Object.values(errorTable)
  .map(({ error }) => error)
  .filter((error) => ["later", "retry"].includes(toNextStep(error)));
/** Gauges of prom-client whose names end as those of counters, to which `promtool check metrics` objects. */
const misnamedGauges = ["resources", "handles", "requests"].map(
  (name) => `nodejs_active_${name}_total`,
);
const plantBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** Creates metrics that start at zero. */
export function createMetrics(sources: MetricsSources) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of misnamedGauges) registry.removeSingleMetric(name);

  const requests = new Counter({
    name: "plantstore_requests_total",
    help: "Requests by operation and error number; 0 for requests that succeeded.",
    labelNames: ["operation", "error"],
    registers,
  });
  for (const operation of contractOperations[sources.operations]) {
    for (const error of countedErrors) requests.inc({ operation, error }, 0);
  }
  const durations = new Histogram({
    name: "plantstore_request_duration_seconds",
    help: "Time from the head of a request to its response.",
    labelNames: ["operation"],
    buckets: secondBuckets,
    registers,
  });
  const plants = new Counter({
    name: "plantstore_plants_total",
    help: "Creates that succeeded, by result; also if the client did not get the response.",
    labelNames: ["result"],
    registers,
  });
  const durableTimes = new Histogram({
    name: "plantstore_create_durable_seconds",
    help: "Time from the head of a create until its plant is durable.",
    buckets: secondBuckets,
    registers,
  });
  const commitPlants = new Histogram({
    name: "plantstore_commit_plants",
    help: "Plants in one commit of the store.",
    buckets: plantBuckets,
    registers,
  });
  const commitDurations = new Histogram({
    name: "plantstore_commit_duration_seconds",
    help: "Time of a commit, including its flush.",
    buckets: secondBuckets,
    registers,
  });
  const faults = new Counter({
    name: "plantstore_faults_total",
    help: "Faults on demand by kind: delayed, failed, dropped, status, token, cut or silent.",
    labelNames: ["kind"],
    registers,
  });
  const droppedLines = new Counter({
    name: "plantstore_log_lines_dropped_total",
    help: "Lines of the log that were dropped, because its reader was too slow.",
    registers,
    collect() {
      droppedLines.reset();
      droppedLines.inc(sources.countDroppedLines());
    },
  });
  new Gauge({
    name: "plantstore_build_info",
    help: "1, with the version of plantstore.",
    labelNames: ["version"],
    registers,
  }).set({ version: sources.version }, 1);
  const { readCertificateExpiry } = sources;
  if (readCertificateExpiry !== undefined) {
    addGauge(
      "plantstore_certificate_expiry_seconds",
      "Time at which the certificate of the server expires, in seconds since 1970.",
      () => (readCertificateExpiry() ?? 0) / 1000,
    );
  }
  addGauge("plantstore_ready", "1 if the server is ready for creates, otherwise 0.", async () =>
    Number(await sources.isReady()),
  );
  const { maxInflight, maxConnections } = sources.limits;
  addLoad("inflight_creates", "Changes that wait for the store", "changes", maxInflight);
  addLoad(
    "waiting_bytes",
    "Bytes of request bodies, and of responses that are not yet sent",
    "waitingBytes",
    maxWaitingBytes,
  );
  addLoad("connections", "Open connections", "connections", maxConnections);

  function addLoad(name: string, meaning: string, key: keyof ServerLoad, limit: number): void {
    addGauge(`plantstore_${name}`, `${meaning}.`, () => sources.readLoad()?.[key] ?? 0);
    addGauge(`plantstore_${name}_limit`, `Limit of plantstore_${name}.`, () => limit);
  }

  function addGauge(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge = new Gauge({
      name,
      help,
      registers,
      async collect() {
        gauge.set(await read());
      },
    });
  }

  return {
    /** The media type of the rendered metrics. */
    contentType: registry.contentType,
    addRequest(record: RequestRecord): void {
      const { operation = "none", error = 0, result, durationMs, durableMs } = record;
      requests.inc({ operation, error });
      durations.observe({ operation }, durationMs / 1000);
      if (result !== undefined) plants.inc({ result });
      if (durableMs !== undefined && operation === "create") durableTimes.observe(durableMs / 1000);
    },
    addFault: (kind: FaultKind): void => faults.inc({ kind }),
    /** Counts a commit that succeeded. */
    addCommit: (count: number, durationMs: number): void => {
      commitPlants.observe(count);
      commitDurations.observe(durationMs / 1000);
    },
    render: () => registry.metrics(),
  };
}

export interface MetricsServer {
  readonly url: string;
  /** Stops at once, also in the middle of a response. */
  close(): void;
}

/** Maximum number of connections; one more closes the oldest. */
const maxConnections = 20;
/** Maximum time for a request and its response. */
const timeoutMs = 5000;
/** Scheme and path of the names under which a server on this machine responds. */
const localUrl = "http://localhost";
/** Bytes that node:http parses at once. */
const sliceBytes = 256;

/**
 * Starts a server that serves `GET /metrics` only, one request per connection.
 *
 * @param address a port of 0 selects a free one
 * @throws the error of node:net if it cannot listen
 */
export async function openMetricsServer(
  metrics: Metrics,
  address: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  /** Oldest first. */
  const connections = new Set<Socket>();
  const served = new WeakSet<Duplex>();
  const httpServer = createServer((request, response) => {
    if (served.has(request.socket)) return;
    served.add(request.socket);
    void answer(request, metrics, address.host).then(([status, body]) => {
      response.writeHead(status, {
        "Content-Type": status === 200 ? metrics.contentType : "text/plain",
        "Content-Length": Buffer.byteLength(body),
        Connection: "close",
        ...(status === 405 && { Allow: "GET, HEAD" }),
      });
      response.end(body);
    });
  });
  httpServer.on("clientError", (_, stream) => stream.destroy());
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    const [oldest] = connections;
    if (connections.size === maxConnections) oldest?.destroy();
    connections.add(socket);
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    socket.on("error", () => {}); // The client has left: "close" follows.
    socket.once("close", () => {
      clearTimeout(timer);
      connections.delete(socket);
    });
    const countSliceBytes = (): number => (served.has(slicer) ? 0 : sliceBytes);
    const slicer = new Slicer(socket, Buffer.alloc(0), countSliceBytes);
    httpServer.emit("connection", slicer);
  });
  const { origin } = await listen(server, address, false);
  const close = (): void => {
    server.close();
    for (const socket of connections) socket.destroy();
  };
  return { url: `${origin}/metrics`, close };
}

async function answer(
  { headers, method, url }: IncomingMessage,
  metrics: Metrics,
  host: string,
): Promise<readonly [status: number, body: string]> {
  // A foreign name server can point its name to this machine (DNS rebinding).
  const asked = { headers: { host: headers.host } };
  const isForeign = isLoopback(host) && findPublicUrl(asked, { url: localUrl, host }) === undefined;
  if (isForeign) return [404, "use localhost or an address\n"];
  if (url !== "/metrics") return [404, "GET /metrics\n"];
  if (method !== "GET" && method !== "HEAD") return [405, "GET /metrics\n"];
  return metrics.render().then(
    (text) => [200, text],
    () => [500, ""],
  );
}
