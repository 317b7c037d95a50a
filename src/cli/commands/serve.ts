/** `plantstore serve`: the service in this process, from opening its store to closing it. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { createLog } from "../../server/ops/log.ts";
import type { ServerLoad } from "../../server/admission.ts";
import type { TlsCertificate } from "../../server/http/listener.ts";
import type { Metrics } from "../../server/ops/metrics.ts";
import type { PlantServer } from "../../server/server.ts";
import { openStore } from "../../store/open-store.ts";
import { CommandError } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { openLogOutput } from "../serve/log-output.ts";
import type { ServeOptions } from "../serve/options.ts";
import type { TlsFiles } from "../serve/tls-files.ts";
import type { Run } from "../serve/running-server.ts";

export { toServeOptions } from "../serve/options.ts";

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
    log.message("warn", `${count} lines of this log were dropped: its reader is too slow`);
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
  } catch (error) {
    await output.close();
    throw error;
  }
  // Pending log lines would keep the process alive until they are read.
  if (!(await output.close())) io.exit(exitCodes.done.code);
  return exitCodes.done.code;
}

async function serveUntil(
  stopped: Promise<void>,
  run: Run,
  onOpen: (server: PlantServer) => void,
): Promise<void> {
  const { options } = run;
  const certificate = options.tls && (await readCertificate(options.tls));
  let server: PlantServer | undefined;
  const metrics = await loadMetrics(options, () => server?.readLoad());
  const opening = openStore(options.storeUrl, { onCommit: metrics?.addCommit });
  const [opened, loaded] = await Promise.allSettled([opening, loadServer(run)]);
  if (opened.status === "rejected") throw opened.reason;
  const store = opened.value;
  try {
    if (loaded.status === "rejected") throw loaded.reason;
    const runServer = loaded.value;
    await runServer({ store, certificate, metrics }, stopped, run, (listening) => {
      server = listening;
      onOpen(listening);
    });
  } finally {
    await store.close();
  }
}

/** The thread of the store takes as long to start as all of this to load: first come, both at a time. */
async function loadServer(run: Run) {
  await endOfTurn();
  const { prepareFirstStart, runServer } = await import("../serve/running-server.ts");
  await prepareFirstStart(run);
  return runServer;
}

async function readCertificate(files: TlsFiles): Promise<TlsCertificate> {
  const { readTlsFiles } = await import("../serve/tls-files.ts");
  return readTlsFiles(files);
}

/** Reads anew what may have changed; on failure all stays as it is. */
async function reload(server: PlantServer | undefined, { options, log }: Run): Promise<void> {
  if (options.tls === undefined) {
    log.message("info", "SIGHUP ignored: the server has no certificate");
    return;
  }
  try {
    server?.setCertificate(await readCertificate(options.tls));
    log.message("info", "SIGHUP: the certificate was reloaded");
  } catch (error) {
    if (error instanceof CommandError) log.message("error", `SIGHUP: ${error.message}`);
    else log.trouble(error);
  }
}

/** @param readLoad as {@link PlantServer.readLoad}, once there is a server */
async function loadMetrics(
  { metricsPlace }: ServeOptions,
  readLoad: () => ServerLoad | undefined,
): Promise<Metrics | undefined> {
  if (metricsPlace === undefined) return undefined;
  const { createMetrics } = await import("../../server/ops/metrics.ts");
  return createMetrics(readLoad);
}
