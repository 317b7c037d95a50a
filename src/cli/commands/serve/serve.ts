/** `plantstore serve`: runs the service in this process, from opening its store to closing it. */
import { StoreError } from "../../../core/store.ts";
import { createLog, jsonFormat, type LineFormat } from "../../../server/ops/log.ts";
import type { PlantServer } from "../../../server/server.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { isStartedByNpm } from "../../invocation.ts";
import type { OutputStream } from "../../io.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { openLogOutput } from "./log-output.ts";
import { runServer } from "./running-server.ts";
import { readServeOptions, type ServerRun, type StopTimes } from "./serve-options.ts";

/** Time for requests in flight after npm has ended: the port is to be free within two seconds. */
const orphanStopTimeMs = 1000;

/**
 * Serves until a signal stops it.
 *
 * @throws CommandError if the server cannot start
 */
export async function serve({ flags, io, terminal }: Run): Promise<void> {
  if (io.bunVersion !== undefined) {
    throw new CommandError(
      "internal",
      "serve does not run under Bun: run it with Node.js, without --bun",
    );
  }
  const options = readServeOptions({ flags, io });
  let stopTimes: StopTimes = { ...options, requestsMs: options.shutdownTimeoutMs };
  const stop = new AbortController();
  io.onSignal(() => stop.abort());
  const output = openLogOutput(io.log, (count) => {
    log.message("warn", `${count} lines of this log were dropped: its reader is too slow`);
  });
  const format =
    options.logFormat === "json" ? jsonFormat : await loadTextFormat(terminal, io.stderr);
  const log = createLog(format, options.logLevel, output.write);
  const run: ServerRun = {
    options,
    io,
    terminal,
    log,
    countDroppedLines: output.countDropped,
    stop: stop.signal,
    readStopTimes: () => stopTimes,
  };
  io.keepDebuggerClosed();
  io.onUncaught((error) => log.error(error));
  if (isStartedByNpm(io.env)) {
    io.onParentExit(() => {
      if (stop.signal.aborted) return;
      log.message("info", "Stopping: npm, which started this server, has ended");
      stopTimes = { drainMs: 0, requestsMs: Math.min(stopTimes.requestsMs, orphanStopTimeMs) };
      stop.abort();
    });
  }
  let server: PlantServer | undefined;
  let isTerminalClosed = false;
  io.onHangUp(() => {
    // A server in the foreground ends with its terminal.
    if (io.stderr.isTTY) {
      isTerminalClosed = true;
      stop.abort();
    } else void import("./tls-files.ts").then(({ reload }) => reload(server, run));
  });
  try {
    await runServer(run, (opened) => (server = opened));
  } catch (error) {
    await output.close();
    if (!(error instanceof StoreError)) throw error;
    throw new CommandError("internal", error.message, { cause: error });
  }
  // Node 20 and 22: abort at the exit, because they cannot restore a terminal that is gone.
  if (isTerminalClosed) io.endBySignal("SIGHUP");
  // Pending log lines would keep the process alive until they are read.
  if (!(await output.close())) io.exit(exitCodes.done.code);
}

async function loadTextFormat(terminal: Terminal, stderr: OutputStream): Promise<LineFormat> {
  const { createTextFormat } = await import("./terminal-messages.ts");
  return createTextFormat(await terminal.loadPalette(stderr), stderr);
}
