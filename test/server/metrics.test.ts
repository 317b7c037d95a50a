/** The metrics of a server, in the format of Prometheus. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text as readText } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createMetrics,
  type Metrics,
  type MetricsSources,
  openMetricsServer,
} from "../../src/server/metrics.ts";
import { contractOperations } from "../../src/core/contract.ts";
import { Faults } from "../../src/server/faults.ts";
import { noFaults } from "../helpers/no-faults.ts";
import { startHeldServer } from "../helpers/held-store.ts";
import { getText } from "../helpers/get-text.ts";
import { startServer } from "../helpers/plant-server.ts";
import { exchangeRaw } from "../helpers/raw-http.ts";
import { toRawCreate, toRawGet } from "../helpers/raw-request.ts";

const create = toRawCreate;
const get = toRawGet;

function createTested(sources: Partial<MetricsSources> = {}): Metrics {
  return createMetrics({
    readLoad: () => undefined,
    isReady: async () => false,
    countDroppedLines: () => 0,
    operations: "create",
    limits: { maxInflight: 0, maxConnections: 0 },
    version: "1.2.3",
    ...sources,
  });
}

/** Returns the lines of plantstore's own metrics that are not zero. */
async function readOwn(metrics: Metrics): Promise<string[]> {
  const lines = (await metrics.render()).split("\n");
  return lines.filter((line) => /^plantstore_(?!.*_(sum|bucket)\b).* [^0]/.test(line));
}

it("counts requests by operation and error, and plants by result", async () => {
  const metrics = createTested();
  await using server = await startServer({ onResponse: (record) => metrics.addRequest(record) });
  const requests = [
    create(1),
    create(1),
    create(2),
    create(2).replace("fern", "moss"),
    get("/healthz"),
    get("/secret"),
    "hello\r\n\r\n",
  ];
  for (const request of requests) await exchangeRaw(server.port, request);
  expect(await readOwn(metrics)).toEqual([
    'plantstore_requests_total{operation="create",error="0"} 3',
    'plantstore_requests_total{operation="create",error="40900"} 1',
    'plantstore_requests_total{operation="health",error="0"} 1',
    'plantstore_requests_total{operation="none",error="40400"} 1',
    'plantstore_requests_total{operation="none",error="40000"} 1',
    'plantstore_request_duration_seconds_count{operation="create"} 4',
    'plantstore_request_duration_seconds_count{operation="health"} 1',
    'plantstore_request_duration_seconds_count{operation="none"} 2',
    'plantstore_plants_total{result="created"} 2',
    'plantstore_plants_total{result="unchanged"} 1',
    "plantstore_create_durable_seconds_count 3",
    'plantstore_build_info{version="1.2.3"} 1',
    "plantstore_waiting_bytes_limit 67108864",
  ]);
});

it("counts the errors of the server from zero, so that an alert sees the first one", async () => {
  const text = await createTested({ operations: "all" }).render();
  for (const operation of contractOperations.all) {
    const counters = text.matchAll(
      /^plantstore_requests_total\{operation="(\w+)",error="(\d+)"\} 0$/gm,
    );
    const errors = [...counters]
      .filter(([, name]) => name === operation)
      .map(([, , error]) => error);
    expect(errors).toEqual(["50000", "50300", "50301", "50302", "50700"]);
  }
});

it("ends the names of counters with _total, and no others, as promtool demands", async () => {
  const text = await createTested().render();
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  expect(types.length).toBeGreaterThan(30);
  const misnamed = types.filter(
    ([, name = "", type]) => name.endsWith("_total") !== (type === "counter"),
  );
  expect(misnamed.map(([line]) => line)).toEqual([]);
});

it("has the end of the certificate with TLS only", async () => {
  const withTls = createTested({ readCertificateExpiry: () => Date.UTC(2030, 0, 1) });
  expect(await readOwn(withTls)).toContain("plantstore_certificate_expiry_seconds 1893456000");
  expect(await createTested().render()).not.toContain("certificate");
});

it("measures commits by their plants and their duration", async () => {
  const metrics = createTested();
  metrics.addCommit(3, 2);
  const text = await metrics.render();
  expect(text).toContain(
    'plantstore_commit_plants_bucket{le="2"} 0\nplantstore_commit_plants_bucket{le="5"} 1\n',
  );
  expect(text).toContain("plantstore_commit_duration_seconds_sum 0.002\n");
});

it("counts a plant whose response is dropped on purpose, because it is stored", async () => {
  const metrics = createTested();
  await using server = await startServer({
    onResponse: (record) => metrics.addRequest(record),
    faults: new Faults({ ...noFaults, dropRate: 1, seed: 0 }),
  });
  await expect(exchangeRaw(server.port, create(1))).rejects.toThrow("the connection ended");
  expect(await server.store.get(1n)).toBeDefined();
  expect(await readOwn(metrics)).toContain('plantstore_plants_total{result="created"} 1');
});

it("reads the limits, the readiness and the dropped lines of the log when the metrics are requested", async () => {
  let dropped = 3;
  const metrics = createTested({
    isReady: async () => true,
    countDroppedLines: () => dropped,
    limits: { maxInflight: 10, maxConnections: 30 },
  });
  await metrics.render();
  dropped = 5;
  expect(await readOwn(metrics)).toEqual([
    "plantstore_log_lines_dropped_total 5",
    'plantstore_build_info{version="1.2.3"} 1',
    "plantstore_ready 1",
    "plantstore_inflight_creates_limit 10",
    "plantstore_waiting_bytes_limit 67108864",
    "plantstore_connections_limit 30",
  ]);
});

it("reads the load when the metrics are requested", async () => {
  await using server = await startHeldServer();
  const metrics = createTested({ readLoad: () => server.server.readLoad() });
  const waiting = [1, 2].map((id) => exchangeRaw(server.port, create(id)));
  await server.held.isWaiting(2);
  expect(await readOwn(metrics)).toEqual([
    'plantstore_build_info{version="1.2.3"} 1',
    "plantstore_inflight_creates 2",
    "plantstore_waiting_bytes 44",
    "plantstore_waiting_bytes_limit 67108864",
    "plantstore_connections 2",
  ]);
  server.held.release("created");
  await Promise.all(waiting);
  await expect
    .poll(() => readOwn(metrics))
    .toEqual([
      'plantstore_build_info{version="1.2.3"} 1',
      "plantstore_waiting_bytes_limit 67108864",
    ]);
});

/** Serves metrics at an address of their own until the test ends. @returns its port */
async function openSeparate(): Promise<number> {
  const server = await openMetricsServer(createTested(), { host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close());
  return Number(new URL(server.url).port);
}

describe("GET /metrics", () => {
  it("responds only if it is enabled, and needs no token", async () => {
    const metrics = createTested();
    await using server = await startServer({ metrics });
    const response = await getText(server.port, "/metrics");
    expect(response).toMatchObject({ status: 200, contentType: metrics.contentType });
    expect(response.text).toMatch(/^process_resident_memory_bytes \d+$/m);
    await using other = await startServer();
    expect((await getText(other.port, "/metrics")).status).toBe(404);
  });

  it("may be served on a separate address", async () => {
    const port = await openSeparate();
    expect((await getText(port, "/metrics")).status).toBe(200);
    expect((await getText(port, "/plants")).status).toBe(404);
    const asked = await fetch(`http://127.0.0.1:${port}/metrics`, { method: "OPTIONS" });
    expect([asked.status, asked.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it.each([
    ["127.0.0.1:9526", 200],
    ["localhost", 200],
    ["rebound.example", 404],
  ])(
    "at a loopback address responds only under a name of this machine: %s gets %i",
    async (host, status) => {
      const port = await openSeparate();
      expect((await getText(port, "/metrics", { host })).status).toBe(status);
      await using server = await startServer({ metrics: createTested() });
      expect((await getText(server.port, "/metrics", { host })).status).toBe(status);
      expect((await getText(server.port, "/readyz", { host })).status).toBe(200);
    },
  );

  it("at another address responds under any name", async () => {
    const server = await openMetricsServer(createTested(), { host: "0.0.0.0", port: 0 });
    onTestFinished(() => server.close());
    const port = Number(new URL(server.url).port);
    expect((await getText(port, "/metrics", { host: "plants.internal" })).status).toBe(200);
  });

  it("makes room at its separate address for a scrape, from clients that never read and from silent ones", async () => {
    const port = await openSeparate();
    const sockets = Array.from({ length: 100 }, (_, index) => {
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      return index % 2 === 0 ? socket : socket.pause().on("connect", () => flood(socket));
    });
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    expect((await getText(port, "/metrics")).status).toBe(200);
  });

  it("serves one request per connection at its separate address", async () => {
    const socket = connect(await openSeparate(), "127.0.0.1");
    socket.write(toRawGet("/metrics"));
    expect((await readText(socket)).match(/^HTTP\/1.1 .*/gm)).toEqual(["HTTP/1.1 200 OK"]);
  });
});

/** Sends requests until the server accepts no more bytes. */
function flood(socket: Socket): void {
  while (socket.writable && socket.write(toRawGet("/metrics").repeat(100)));
  socket.once("drain", () => flood(socket));
}
