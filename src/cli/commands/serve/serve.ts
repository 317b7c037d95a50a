/** `plantstore serve`: runs the service in this process, from opening its store to closing it. */
import { createLog, type LineFormat } from "../../../server/ops/log.ts";
import type { PlantServer } from "../../../server/server.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { isStartedByNpm } from "../../invocation.ts";
import type { OutputStream } from "../../io.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { openLogOutput } from "./log-output.ts";
import { readCertificate, runServer } from "./running-server.ts";
import { readServeOptions, type ServerRun, type StopTimes } from "./serve-options.ts";

/** Time for requests in flight after npm has ended: the port is to be free within two seconds. */
const orphanStopTimeMs = 1000;

/**
 * Serves until a signal stops it.
 *
 * @returns the exit code
 * @throws CommandError, StoreError if the server cannot start
 */
export async function serve({ flags, io, terminal }: Run): Promise<number> {
  if (io.bunVersion !== undefined) {
    throw new CommandError(
      "internal",
      "serve does not run under Bun: run it with Node.js, without --bun",
    );
  }
  const options = readServeOptions({ flags, io });
  let stopTimes: StopTimes = { ...options, requestsMs: options.shutdownTimeoutMs };
  let stop = (): void => undefined;
  let isStopping = false;
  const stopped = new Promise<void>((resolve) => {
    stop = () => {
      isStopping = true;
      resolve();
    };
  });
  io.onSignal(stop);
  const output = openLogOutput(io.log, (count) => {
    log.message("warn", `${count} lines of this log were dropped: its reader is too slow`);
  });
  const isForUser = options.logFormat === "text" && io.stderr.isTTY === true;
  const format = isForUser ? await loadTerminalFormat(terminal, io.stderr) : options.logFormat;
  const log = createLog(format, options.logLevel, output.write);
  const run: ServerRun = {
    options,
    io,
    terminal,
    log,
    countDroppedLines: output.countDropped,
    readStopTimes: () => stopTimes,
  };
  io.onUncaught((error) => log.error(error));
  if (isStartedByNpm(io.env)) {
    io.onParentExit(() => {
      if (isStopping) return;
      log.message("info", "Stopping: npm, which started this server, has ended");
      stopTimes = { drainMs: 0, requestsMs: Math.min(stopTimes.requestsMs, orphanStopTimeMs) };
      stop();
    });
  }
  let server: PlantServer | undefined;
  io.onHangUp(() => {
    // A server in the foreground ends with its terminal.
    if (io.stderr.isTTY) stop();
    else void reload(server, run);
  });
  try {
    await runServer(run, stopped, (opened) => (server = opened));
  } catch (error) {
    await output.close();
    throw error;
  }
  // Pending log lines would keep the process alive until they are read.
  if (!(await output.close())) io.exit(exitCodes.done.code);
  return exitCodes.done.code;
}

async function loadTerminalFormat(terminal: Terminal, stderr: OutputStream): Promise<LineFormat> {
  const { createTerminalFormat } = await import("./terminal-log.ts");
  return createTerminalFormat(await terminal.loadPalette(stderr), stderr);
}

/** Reloads the certificate; on failure the server keeps the old one. */
async function reload(server: PlantServer | undefined, { options, log }: ServerRun): Promise<void> {
  if (options.tls === undefined) {
    log.message("info", "SIGHUP ignored: the server has no certificate");
    return;
  }
  try {
    server?.setCertificate(await readCertificate(options.tls));
    log.message("info", "SIGHUP: the certificate was reloaded");
  } catch (error) {
    if (error instanceof CommandError) log.message("error", `SIGHUP: ${error.message}`);
    else log.error(error);
  }
}
