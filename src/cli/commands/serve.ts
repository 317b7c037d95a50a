/** `plantstore serve`: the service in this process, from opening its store to closing it. */
import { type Authenticator, createAuthenticator } from "../../auth/authenticator.ts";
import type { PlantStore } from "../../core/store.ts";
import type { TlsCertificate } from "../../server/connections/http-listener.ts";
import { createLog, type Log } from "../../server/observing/log.ts";
import type { ServerLoad } from "../../server/limits.ts";
import type { Metrics } from "../../server/observing/metrics.ts";
import type { MetricsServer } from "../../server/observing/metrics-server.ts";
import { openPlantServer, type PlantServer } from "../../server/server.ts";
import { openStore } from "../../store/open-store.ts";
import { CommandError } from "../command-error.ts";
import { findConfigDirectory } from "../settings/directories.ts";
import { exitCodes } from "../exit-codes.ts";
import { type FirstToken, provideFirstToken } from "../tokens/first-token.ts";
import { type Io, writeText } from "../io.ts";
import { explainListening } from "../serve/listen-failure.ts";
import { openLogOutput } from "../serve/log-output.ts";
import { greet } from "../serve/greeting.ts";
import type { ServeOptions } from "../serve/options.ts";
import { readTlsFiles } from "../serve/tls-files.ts";

export { toServeOptions } from "../serve/options.ts";

/** What the parts of one run share. */
interface Run {
  readonly options: ServeOptions;
  readonly io: Io;
  readonly log: Log;
}

/** What a server is made of. */
interface Parts {
  readonly store: PlantStore;
  readonly authenticator: Authenticator;
  readonly certificate: TlsCertificate | undefined;
  readonly metrics: Metrics | undefined;
}

/**
 * Serves until a signal to stop.
 *
 * @returns the exit code
 * @throws CommandError, StoreError when it could not start
 */
export async function serve(options: ServeOptions, io: Io): Promise<number> {
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  io.onSignal(stop);
  const output = openLogOutput(io.log, (count) => {
    log.message("warn", `${count} lines of this log were lost: whoever reads it is too slow`);
  });
  const log = createLog(options.logFormat, options.logLevel, output.write);
  io.onUncaught((error) => log.trouble(error));
  let server: PlantServer | undefined;
  io.onHangUp(() => {
    // A server in the foreground ends with its terminal.
    if (io.stderr.isTTY) stop();
    else void reload(server, { options, io, log });
  });
  try {
    await serveUntil(stopped, { options, io, log }, (opened) => (server = opened));
  } finally {
    await output.close();
  }
  return exitCodes.done.code;
}

async function serveUntil(
  stopped: Promise<void>,
  run: Run,
  onOpen: (server: PlantServer) => void,
): Promise<void> {
  const { options, io, log } = run;
  const certificate = options.tls && (await readTlsFiles(options.tls));
  let server: PlantServer | undefined;
  const metrics = await loadMetrics(options, () => server?.readLoad());
  const store = await openStore(options.storeUrl, { onCommit: metrics?.addCommit });
  const authenticator = createAuthenticator({
    listTokens: () => store.listTokens(),
    noteTokenUses: (digests, day) => store.noteTokenUses(digests, day),
    ownToken: options.environmentToken,
  });
  try {
    let token: FirstToken = { kind: "none" };
    const parts = { store, authenticator, certificate, metrics };
    server = await openServer(run, parts, async (url) => {
      if (options.socketPath === undefined) token = await provideToken(options, url, store, io);
    });
    onOpen(server);
    let metricsServer: MetricsServer | undefined;
    try {
      metricsServer = await openOwnMetrics(metrics, run);
      await greet({ options, url: server.url, token }, log, io);
      await writeText(io.stdout, `${server.url}\n`);
      await stopped;
      log.message("info", "Stopping: requests under way are answered");
    } finally {
      await server.close(options.shutdownTimeoutMs);
      metricsServer?.close();
    }
  } finally {
    await authenticator.flushUses();
    await store.close();
  }
}

/** Reads anew what may have changed; on failure all stays as it is. */
async function reload(server: PlantServer | undefined, { options, log }: Run): Promise<void> {
  if (options.tls === undefined) {
    log.message("info", "SIGHUP: there is no certificate to read anew");
    return;
  }
  try {
    server?.setCertificate(await readTlsFiles(options.tls));
    log.message("info", "SIGHUP: the certificate was read anew");
  } catch (error) {
    if (error instanceof CommandError) log.message("error", `SIGHUP: ${error.message}`);
    else log.trouble(error);
  }
}

async function provideToken(
  options: ServeOptions,
  url: string,
  store: PlantStore,
  io: Io,
): Promise<FirstToken> {
  try {
    return await provideFirstToken(store, new URL(url).origin, findConfigDirectory(io));
  } catch (error) {
    // Whoever brought a token of their own can do without: the home of a container may be read-only.
    if (!(error instanceof CommandError) || options.environmentToken === undefined) throw error;
    return { kind: "none" };
  }
}

/** @param prepare ends before the first request is answered */
async function openServer(
  { options, log }: Run,
  { store, authenticator, certificate, metrics }: Parts,
  prepare: (url: string) => Promise<void>,
): Promise<PlantServer> {
  try {
    return await openPlantServer({
      ...options,
      store,
      authenticator,
      certificate,
      onError: (error) => log.trouble(error),
      onExchange(record) {
        log.request(record);
        metrics?.addExchange(record);
      },
      metrics: options.metricsPlace === "main" ? metrics : undefined,
      prepare,
    });
  } catch (error) {
    throw explainListening(error, options) ?? error;
  }
}

/** @param readLoad as {@link PlantServer.readLoad}, once there is a server */
async function loadMetrics(
  { metricsPlace }: ServeOptions,
  readLoad: () => ServerLoad | undefined,
): Promise<Metrics | undefined> {
  if (metricsPlace === undefined) return undefined;
  const { createMetrics } = await import("../../server/observing/metrics.ts");
  return createMetrics(readLoad);
}

async function openOwnMetrics(
  metrics: Metrics | undefined,
  { options: { metricsPlace }, log }: Run,
): Promise<MetricsServer | undefined> {
  if (metrics === undefined || metricsPlace === undefined || metricsPlace === "main") {
    return undefined;
  }
  const { openMetricsServer } = await import("../../server/observing/metrics-server.ts");
  try {
    const server = await openMetricsServer(metrics, metricsPlace);
    log.message("info", `Metrics are at ${server.url}`);
    return server;
  } catch (error) {
    const flags = { host: "--metrics", port: "--metrics" };
    throw explainListening(error, metricsPlace, flags) ?? error;
  }
}
