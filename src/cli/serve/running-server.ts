/** The server of one run, from its opening to its end: loaded while its store opens. */
import { type Authenticator, createAuthenticator } from "../../auth/authenticator.ts";
import type { PlantStore } from "../../core/store.ts";
import type { TlsCertificate } from "../../server/http/listener.ts";
import type { Log } from "../../server/ops/log.ts";
import type { Metrics } from "../../server/ops/metrics.ts";
import type { MetricsServer } from "../../server/ops/metrics-server.ts";
import { openPlantServer, type PlantServer } from "../../server/server.ts";
import { CommandError } from "../command-error.ts";
import { type Io, writeText } from "../io.ts";
import { findConfigDirectory } from "../settings/directories.ts";
import { type FirstToken, prepareFirstToken, provideFirstToken } from "../tokens/first-token.ts";
import { greet } from "./greeting.ts";
import { explainListening } from "./listen-failure.ts";
import type { ServeOptions } from "./options.ts";

/** What the parts of one run share. */
export interface Run {
  readonly options: ServeOptions;
  readonly io: Io;
  readonly log: Log;
}

/** What a server is made of. */
interface Parts {
  readonly store: PlantStore;
  readonly certificate: TlsCertificate | undefined;
  readonly metrics: Metrics | undefined;
}

/**
 * Loads the code of a first start while the store opens; later it would take 17 of 108 ms.
 */
export async function prepareFirstStart({ options, io }: Omit<Run, "log">): Promise<void> {
  if (options.socketPath !== undefined) return;
  try {
    await prepareFirstToken(options.port, findConfigDirectory(io));
  } catch (error) {
    // The first token reports the same error later.
    if (!(error instanceof CommandError)) throw error;
  }
}

/**
 * Serves. The store is the caller's to close.
 *
 * @param stopped resolves when it shall end
 * @param onOpen is told of the server once it listens
 * @throws CommandError, StoreError when it could not start
 */
export async function runServer(
  parts: Parts,
  stopped: Promise<void>,
  run: Run,
  onOpen: (server: PlantServer) => void,
): Promise<void> {
  const { store, metrics } = parts;
  const { options, io, log } = run;
  const authenticator = createAuthenticator({
    listTokens: () => store.listTokens(),
    noteTokenUses: (digests, day) => store.noteTokenUses(digests, day),
    ownToken: options.environmentToken,
  });
  try {
    const server = await openServer(run, parts, authenticator);
    let metricsServer: MetricsServer | undefined;
    try {
      // The token is saved for the address of the server, which must listen first.
      const token = await provideToken(options, server.url, store, io);
      server.start();
      onOpen(server);
      metricsServer = await openOwnMetrics(metrics, run);
      await greet({ options, url: server.url, token }, log, io);
      await writeText(io.stdout, `${server.url}\n`);
      await stopped;
      log.message("info", "Stopping: waiting for requests in flight");
    } finally {
      await server.close(options.shutdownTimeoutMs);
      metricsServer?.close();
    }
  } finally {
    await authenticator.flushUses();
  }
}

async function provideToken(
  options: ServeOptions,
  url: string,
  store: PlantStore,
  io: Io,
): Promise<FirstToken> {
  if (options.socketPath !== undefined) return { kind: "none" };
  try {
    return await provideFirstToken(store, new URL(url).origin, findConfigDirectory(io));
  } catch (error) {
    // PLANTSTORE_TOKEN makes the first token unnecessary: the home of a container may be read-only.
    if (!(error instanceof CommandError) || options.environmentToken === undefined) throw error;
    return { kind: "none" };
  }
}

/** Opens the server, which does not serve yet. */
async function openServer(
  { options, log }: Run,
  { store, certificate, metrics }: Parts,
  authenticator: Authenticator,
): Promise<PlantServer> {
  try {
    return await openPlantServer({
      ...options,
      store,
      authenticator,
      certificate,
      onError: (error) => log.trouble(error),
      onResponse(record) {
        log.request(record);
        metrics?.addRequest(record);
      },
      metrics: options.metricsPlace === "main" ? metrics : undefined,
    });
  } catch (error) {
    throw explainListening(error, options) ?? error;
  }
}

async function openOwnMetrics(
  metrics: Metrics | undefined,
  { options: { metricsPlace }, log }: Run,
): Promise<MetricsServer | undefined> {
  if (metrics === undefined || metricsPlace === undefined || metricsPlace === "main") {
    return undefined;
  }
  const { openMetricsServer } = await import("../../server/ops/metrics-server.ts");
  try {
    const server = await openMetricsServer(metrics, metricsPlace);
    log.message("info", `Metrics are at ${server.url}`);
    return server;
  } catch (error) {
    const flags = { host: "--metrics", port: "--metrics" };
    throw explainListening(error, metricsPlace, flags) ?? error;
  }
}
