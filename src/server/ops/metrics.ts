/** Metrics in the text format of Prometheus. The only file that uses prom-client. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { FaultKind } from "../faults.ts";
import type { RequestRecord } from "./log.ts";
import type { ServerLoad } from "../admission.ts";

/** Metrics of one server. */
export interface Metrics {
  /** The media type of {@link Metrics.render}. */
  readonly contentType: string;
  /** Counts a request. */
  addRequest(record: RequestRecord): void;
  /** Counts a fault on demand. */
  addFault(kind: FaultKind): void;
  /** Counts a commit that succeeded. */
  readonly addCommit: (plants: number, durationMs: number) => void;
  /** Formats all metrics as text. */
  render(): Promise<string>;
}

/** From a single create on a fast disk to the timeout of a client. */
const secondBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const plantBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/**
 * Creates metrics that start at zero.
 *
 * @param readLoad returns the load, or undefined before the server listens
 */
export function createMetrics(readLoad: () => ServerLoad | undefined): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: "plantstore_requests_total",
    help: "Requests by operation and error number; 0 for requests that succeeded.",
    labelNames: ["operation", "error"],
    registers,
  });
  const durations = new Histogram({
    name: "plantstore_request_duration_seconds",
    help: "Time from the head of a request to its response.",
    labelNames: ["operation"],
    buckets: secondBuckets,
    registers,
  });
  const plants = new Counter({
    name: "plantstore_plants_total",
    help: "Plants in responses with status 200, by result.",
    labelNames: ["result"],
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
    help: "Faults on demand by kind: delayed, failed or dropped.",
    labelNames: ["kind"],
    registers,
  });
  addGauge(
    "plantstore_inflight_creates",
    "Creates that wait for the store.",
    (load) => load.creates,
  );
  addGauge(
    "plantstore_waiting_bytes",
    "Bytes of request bodies, and of responses that are not yet sent.",
    (load) => load.waitingBytes,
  );
  addGauge("plantstore_connections", "Open connections.", (load) => load.connections);

  function addGauge(name: string, help: string, read: (load: ServerLoad) => number): void {
    const gauge = new Gauge({
      name,
      help,
      registers,
      collect() {
        const load = readLoad();
        gauge.set(load === undefined ? 0 : read(load));
      },
    });
  }

  return {
    contentType: registry.contentType,
    addRequest({ operation = "none", error = 0, result, durationMs }) {
      requests.inc({ operation, error });
      durations.observe({ operation }, durationMs / 1000);
      if (result !== undefined) plants.inc({ result });
    },
    addFault: (kind) => faults.inc({ kind }),
    addCommit(count, durationMs) {
      commitPlants.observe(count);
      commitDurations.observe(durationMs / 1000);
    },
    render: () => registry.metrics(),
  };
}
