/** The metrics of `serve`, and the server of their own that they may have. */
import type { Metrics } from "../../../server/ops/metrics.ts";
import type { MetricsServer } from "../../../server/ops/metrics-server.ts";
import type { PlantServer } from "../../../server/server.ts";
import { explainListening } from "./listen-error.ts";
import type { ServerRun } from "./serve-options.ts";

/**
 * Loads the metrics, which most starts do not need.
 *
 * @param findServer returns undefined before the server is open
 */
export async function loadMetrics(
  { options, countDroppedLines }: ServerRun,
  findServer: () => PlantServer | undefined,
): Promise<Metrics | undefined> {
  if (options.metricsPlace === undefined) return undefined;
  const { createMetrics } = await import("../../../server/ops/metrics.ts");
  return createMetrics({
    readLoad: () => findServer()?.readLoad(),
    async isReady() {
      const server = findServer();
      return server !== undefined && (await server.checkReadiness()) === undefined;
    },
    countDroppedLines,
    limits: options,
  });
}

/** Opens the server of the metrics, unless the main server has them. @throws CommandError if it cannot listen */
export async function openOwnMetrics(
  metrics: Metrics | undefined,
  { options: { metricsPlace }, log }: ServerRun,
): Promise<MetricsServer | undefined> {
  if (metrics === undefined || metricsPlace === undefined || metricsPlace === "main") {
    return undefined;
  }
  const { openMetricsServer } = await import("../../../server/ops/metrics-server.ts");
  try {
    const server = await openMetricsServer(metrics, metricsPlace);
    log.message("info", `Metrics are at ${server.url}`);
    return server;
  } catch (error) {
    const flags = { host: "--metrics", port: "--metrics" };
    throw explainListening(error, metricsPlace, flags) ?? error;
  }
}
