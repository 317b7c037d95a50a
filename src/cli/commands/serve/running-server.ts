/** Runs the server of `serve`: listens, opens the store, serves, and closes both. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createAuthenticator } from "../../../auth/authenticator.ts";
import { type PlantStore, useAndClose } from "../../../core/store.ts";
import { limitOptions } from "../../../library/options.ts";
import type { SeedTally } from "../../../library/seed.ts";
import type { TlsCertificate } from "../../../server/options.ts";
import { type FaultKind, Faults } from "../../../server/faults.ts";
import type { Metrics } from "../../../server/ops/metrics.ts";
import type { MetricsServer } from "../../../server/ops/metrics-server.ts";
import { openPlantServer, type PlantServer } from "../../../server/server.ts";
import { createDefaultDirectory } from "../../config/default-directory.ts";
import { openStore } from "../../../store/open-store.ts";
import { parseStoreUrl } from "../../../store/store-url.ts";
import { UsageError } from "../../command-error.ts";
import { writeText } from "../../io.ts";
import { type FirstToken, forgetToken, provideToken } from "./first-token.ts";
import { explainListening } from "./listen-error.ts";
import type { ServeOptions, ServerRun } from "./serve-options.ts";
import { printStart } from "./start-messages.ts";

/**
 * Serves until it is stopped. Listens before it opens the store, so that no store is created if the port is in use.
 *
 * @param onOpen receives the server once it listens
 * @throws CommandError, StoreError if the server cannot start
 */
export async function runServer(
  run: ServerRun,
  onOpen: (server: PlantServer) => void,
): Promise<void> {
  const { options, log } = run;
  const certificate =
    options.tls && (await (await import("./tls-files.ts")).readTlsFiles(options.tls));
  let opened: PlantServer | undefined = undefined;
  const metrics = await loadMetrics(run, () => opened);
  const seeds = options.seeds.length > 0 ? await import("./seeds.ts") : undefined;
  await seeds?.assertReadableSeeds(options);
  // Clients that connect before the store is open must not leave it without descriptors.
  await parseStoreUrl(options.store).prepare?.();
  const server = await openServer(run, certificate, metrics);
  opened = server;
  let metricsServer: MetricsServer | undefined;
  try {
    onOpen(server);
    metricsServer = await openOwnMetrics(metrics, run);
    await seeds?.checkSeeds(run);
    createDefaultDirectory(options.store, run.io);
    const store = await openStore(options.store, {
      onCommit: metrics?.addCommit,
      onWarning: (message) => log.message("warn", message),
    });
    await useAndClose(store, async () => {
      const seeded = await seeds?.storeSeeds(store, run);
      // Once stopped, not all seeds may have been read.
      if (seeds === undefined || !run.stop.aborted) await serveStore(store, server, seeded, run);
    });
  } finally {
    await server.close(run.readStopTimes().requestsMs);
    metricsServer?.close();
  }
}

/** @param seeded undefined without seeds */
async function serveStore(
  store: PlantStore,
  server: PlantServer,
  seeded: SeedTally | undefined,
  run: ServerRun,
): Promise<void> {
  const { options, io, log, stop } = run;
  const authenticator = createAuthenticator(store, { ownToken: options.environmentToken });
  try {
    const token = await provideToken(options, server, store, io);
    try {
      server.start({ store, authenticator });
      await printStart({ url: server.url, host: server.host, token, seeded }, run);
      await writeText(io.stdout, `${toStartLine(server.url, token, options)}\n`);
      if (!stop.aborted) await once(stop, "abort");
    } finally {
      // Before requests in flight are awaited, so that a second signal leaves nothing behind.
      await forgetToken(token, server.url, run);
    }
    await drain(server, run);
    log.message("info", "Stopping: waiting for requests in flight");
  } finally {
    await server.close(run.readStopTimes().requestsMs);
    await authenticator.flushUses();
  }
}

/** The line on stdout. */
function toStartLine(url: string, token: FirstToken, { json }: ServeOptions): string {
  if (!json) return url;
  return JSON.stringify({ url, ...(token.kind === "issued" && { token: token.token }) });
}

/** Opens the server, which does not serve yet. */
async function openServer(
  { options, log }: ServerRun,
  certificate: TlsCertificate | undefined,
  metrics: Metrics | undefined,
): Promise<PlantServer> {
  const { tls } = options;
  const onFault = (kind: FaultKind): void => metrics?.addFault(kind);
  try {
    const server = await openPlantServer({
      ...options,
      faults: options.faults && new Faults(options.faults, onFault),
      certificate,
      onError: (error) => log.error(error),
      onResponse(record) {
        log.request(record);
        metrics?.addRequest(record);
      },
      metrics: options.metricsPlace === "main" ? metrics : undefined,
    });
    if (tls === undefined || server.host !== undefined) return server;
    await server.close(0);
    throw new UsageError(
      "the socket in LISTEN_FDS is a Unix socket, which does not support TLS: remove --tls-cert, or listen on an address",
    );
  } catch (error) {
    throw explainListening(error, options) ?? error;
  }
}

/** Lets load balancers notice that the server is about to stop: it is not ready for the time of `--drain`. */
async function drain(server: PlantServer, { log, readStopTimes }: ServerRun): Promise<void> {
  const { drainMs } = readStopTimes();
  if (drainMs === 0) return;
  server.drain();
  const time = limitOptions.drainMs.type.format(drainMs);
  log.message("info", `Draining for ${time}: not ready, but requests are still accepted`);
  await sleep(drainMs);
}

/**
 * Loads the metrics, which most starts do not need.
 *
 * @param findServer returns undefined before the server is open
 */
async function loadMetrics(
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
async function openOwnMetrics(
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
    throw explainListening(error, metricsPlace, "--metrics") ?? error;
  }
}
