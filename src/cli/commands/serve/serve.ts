/** Runs the server, from listening to closing. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createAuthenticator } from "../../../auth/authenticator.ts";
import { toSystemReason } from "../../../core/messages.ts";
import { hasTooManyFiles, type PlantStore, useAndClose } from "../../../core/store.ts";
import { limitOptions } from "../../../library/store-options.ts";
import type { SeedTally } from "../../../library/seed.ts";
import { type FaultKind, Faults } from "../../../server/faults.ts";
import { type ListenAddress, toOrigin } from "../../../server/http/listen.ts";
import { createLog, jsonFormat, type LineFormat } from "../../../server/log.ts";
import type { Metrics, MetricsServer } from "../../../server/metrics.ts";
import { openPlantServer, type PlantServer } from "../../../server/server.ts";
import { openStore } from "../../../store/open-store.ts";
import { CommandError, exitCodes, UsageError } from "../../command-error.ts";
import type { Run } from "../../command.ts";
import { type Io, writeText } from "../../io.ts";
import { assertStorePath, makeDefaultDirectory } from "../../store-access.ts";
import { packageVersion } from "../../version.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { provideToken } from "./first-token.ts";
import { createTextFormat, openLogOutput } from "./log-output.ts";
import { readServeOptions, type ServerRun } from "./serve-options.ts";
import { isStartedByNpm, printStart } from "./start-messages.ts";

export async function runServe({ flags, io, terminal }: Run): Promise<void> {
  if (io.bunVersion !== undefined) {
    throw new CommandError(
      "internal",
      "serve does not run under Bun: run it with Node.js, without --bun",
    );
  }
  const options = readServeOptions({ flags, io });
  const stop = new AbortController();
  io.onSignal(() => stop.abort());
  const output = openLogOutput(io.log, (count) => {
    log.message("warn", `${count} lines of this log were dropped: its reader is too slow`);
  });
  const format = options.logFormat === "json" ? jsonFormat : await loadTextFormat(io, terminal);
  const log = createLog(format, options.logLevel, output.write);
  const run: ServerRun = {
    options,
    io,
    terminal,
    log,
    countDroppedLines: output.countDropped,
    stop: stop.signal,
  };
  io.keepDebuggerClosed();
  io.onUncaught((error) => log.error(error));
  if (isStartedByNpm(io.env)) {
    io.onParentExit(() => {
      if (stop.signal.aborted) return;
      log.message("info", "Stopping: npm, which started this server, has ended");
      stop.abort();
    });
  }
  io.onHangUp(() => {
    // A server in the foreground ends with its terminal. Any other one outlives it: Node does not keep what nohup set.
    if (io.stderr.isTTY) stop.abort("SIGHUP");
    else void import("./tls-files.ts").then(({ reload }) => reload(run));
  });
  try {
    await runServer(run);
  } catch (error) {
    await output.close();
    throw error;
  }
  // Node 20 and 22: abort at the exit, because they cannot restore a terminal that is gone.
  if (stop.signal.reason === "SIGHUP") io.endBySignal("SIGHUP");
  // Pending log lines would keep the process alive until they are read.
  if (!(await output.close())) io.exit(exitCodes.done.code);
}

async function loadTextFormat({ stderr }: Io, terminal: Terminal): Promise<LineFormat> {
  return createTextFormat(await terminal.loadPalette(stderr), stderr);
}

/** Serves until it is stopped. Listens before it opens the store, so that no store is created if the port is in use. */
async function runServer(run: ServerRun): Promise<void> {
  const { options, log } = run;
  if (options.tls !== undefined) {
    const { readTlsFiles, watchExpiry } = await import("./tls-files.ts");
    run.certificate = await readTlsFiles(options.tls);
    watchExpiry(run);
  }
  // Reports a wrong path before a port that is in use, so that a user need not correct one after the other.
  assertStorePath(options.store, run.io);
  const metrics = await loadMetrics(run);
  const seeds = options.seeds.length > 0 ? await import("./seeds.ts") : undefined;
  await seeds?.assertReadableSeeds(options);
  const server = await openServer(run, metrics);
  run.server = server;
  let metricsServer: MetricsServer | undefined;
  try {
    metricsServer = await openOwnMetrics(metrics, run);
    await seeds?.checkSeeds(run);
    const onCommit = metrics?.addCommit;
    const openDemoStore = options.isDemo ? (await import("./demo.ts")).openDemoStore : undefined;
    const demo = await openDemoStore?.(run, seeds?.storeSeeds, onCommit);
    makeDefaultDirectory(options.store, run.io);
    const onWarning = (message: string): void => log.message("warn", message);
    const store = demo?.store ?? (await openStore(options.store, { onCommit, onWarning }));
    await useAndClose(store, async () => {
      const seeded = demo ? demo.seeded : await seeds?.storeSeeds(store, run);
      // Once stopped, not all seeds may have been read.
      if (seeds === undefined || !run.stop.aborted) await serveStore(store, server, seeded, run);
    });
  } finally {
    await server.close(run.options.shutdownTimeoutMs);
    metricsServer?.close();
  }
}

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
    server.start({ store, authenticator });
    await printStart({ url: server.url, host: server.host, token, seeded }, run);
    const report = { url: server.url, ...(token.kind === "issued" && { token: token.token }) };
    await writeText(io.stdout, `${options.json ? JSON.stringify(report) : server.url}\n`);
    if (!stop.aborted) await once(stop, "abort");
    await drain(server, run);
    log.message("info", "Stopping: waiting for requests in flight");
  } finally {
    await server.close(run.options.shutdownTimeoutMs);
    await authenticator.flushUses();
  }
}

async function openServer(
  { options, log, certificate }: ServerRun,
  metrics: Metrics | undefined,
): Promise<PlantServer> {
  const { tls } = options;
  const onFault = (kind: FaultKind): void => metrics?.addFault(kind);
  try {
    const notice = options.isDemo ? (await import("./demo.ts")).demoNotice : undefined;
    const server = await openPlantServer({
      ...options,
      notice,
      faults: options.faults && new Faults(options.faults, onFault),
      certificate,
      onError: (error) => log.error(error),
      onResponse(record) {
        log.request(record);
        metrics?.addRequest(record);
      },
      metrics: options.metricsAddress === "main" ? metrics : undefined,
    });
    if (tls === undefined || server.host !== undefined) return server;
    await server.close(0);
    throw new UsageError(
      "the socket in LISTEN_FDS is a Unix socket, which does not support TLS: remove --tls-cert, or listen on an address",
    );
  } catch (error) {
    throw (await findRunningStore(error, options)) ?? explainListening(error, options) ?? error;
  }
}

/** Lets load balancers notice that the server is about to stop: it is not ready for the time of `--drain`. */
async function drain(server: PlantServer, { log, options }: ServerRun): Promise<void> {
  const { drainMs } = options;
  if (drainMs === 0) return;
  server.drain();
  const time = limitOptions.drainMs.type.format(drainMs);
  log.message("info", `Draining for ${time}: not ready, but requests are still accepted`);
  await sleep(drainMs);
}

async function loadMetrics(run: ServerRun): Promise<Metrics | undefined> {
  const { options, countDroppedLines } = run;
  if (options.metricsAddress === undefined) return undefined;
  const tlsFiles = options.tls && (await import("./tls-files.ts"));
  const { createMetrics } = await import("../../../server/metrics.ts");
  return createMetrics({
    readLoad: () => run.server?.readLoad(),
    isReady: async () =>
      run.server !== undefined && (await run.server.checkReadiness()) === undefined,
    countDroppedLines,
    operations: options.operations,
    limits: options,
    version: packageVersion,
    readCertificateExpiry:
      tlsFiles && (() => run.certificate && tlsFiles.toExpiryMs(run.certificate)),
  });
}

/** Opens the server of the metrics, unless the main server has them. */
async function openOwnMetrics(
  metrics: Metrics | undefined,
  { options: { metricsAddress }, log }: ServerRun,
): Promise<MetricsServer | undefined> {
  if (metrics === undefined || metricsAddress === undefined || metricsAddress === "main") {
    return undefined;
  }
  const { openMetricsServer } = await import("../../../server/metrics.ts");
  try {
    const server = await openMetricsServer(metrics, metricsAddress);
    log.message("info", `Metrics are at ${server.url}`);
    return server;
  } catch (error) {
    throw explainListening(error, metricsAddress, "--metrics") ?? error;
  }
}

/** Limit for the request that finds out whether a plant store uses the port, in milliseconds. */
const probeMs = 1000;

/** Explains a port that is in use by another plant store. @returns undefined for any other error or user of the port */
async function findRunningStore(
  error: unknown,
  { host, port, socketPath, socketFd }: ListenAddress,
): Promise<CommandError | undefined> {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "EADDRINUSE" || (socketPath ?? socketFd) !== undefined) return undefined;
  const baseUrl = toOrigin("http", host, { port });
  const { checkReadiness } = await import("../../../client/probe.ts");
  const { signal } = new AbortController();
  const { state } = await checkReadiness({ baseUrl, timeoutMs: probeMs, signal });
  if (state !== "ready" && state !== "notReady") return undefined;
  return new CommandError(
    "internal",
    `a plant store already runs at ${baseUrl}: use it, or choose another port with --port (0 selects a free port)`,
    { cause: error },
  );
}

const systemCode = /^E[A-Z_]+$/;
const passedSocket = "the socket in LISTEN_FDS";

/** @param flag the flag for another address; by default those of the server itself */
export function explainListening(
  error: unknown,
  { host, port, socketPath, socketFd }: ListenAddress,
  flag?: string,
): CommandError | undefined {
  const { code = "" } = error as NodeJS.ErrnoException;
  // The address is not the reason.
  if (hasTooManyFiles(error) || !systemCode.test(code)) return undefined;
  const address = socketFd === undefined ? (socketPath ?? `port ${port} on ${host}`) : passedSocket;
  const free =
    socketPath === undefined
      ? `a port above 1023 with ${flag ?? "--port"}`
      : "an existing, writable directory with --socket";
  const anyFlag = flag ?? (socketPath === undefined ? "--host or --port" : "--socket");
  const checkHost = `check ${flag ?? "--host"}`;
  const describeProblem = (): string => {
    switch (code) {
      case "EADDRINUSE":
        return `${address} is already in use: stop the other process, or choose another with ${anyFlag}`;
      case "EACCES":
        return `not permitted to listen on ${address}: choose ${free}`;
      case "EADDRNOTAVAIL":
        return `${host} is not an address of this machine: ${checkHost}`;
      case "EAI_AGAIN":
      case "ENOTFOUND":
        return `${host} is no address and no known host name: ${checkHost}`;
      default:
        return `cannot listen on ${address} (${toSystemReason(error)}): check ${socketFd === undefined ? anyFlag : "it"}`;
    }
  };
  return new CommandError("internal", describeProblem(), { cause: error });
}
