/** What a command has of the world, as one value: streams, environment, signals. The only file that names `process`. */
import { fstatSync, readFileSync, write } from "node:fs";
import { constants, homedir } from "node:os";
import { type Readable, Writable } from "node:stream";

/** Where input comes from. */
export type InputStream = Readable & { readonly isTTY?: boolean | undefined };

/** Where output goes to. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A request to stop. */
export type StopSignal = "SIGINT" | "SIGTERM";

/** The world of one run of the command. */
export interface Io {
  readonly stdin: InputStream;
  /** For the data that was asked for. */
  readonly stdout: OutputStream;
  /** For the person. */
  readonly stderr: OutputStream;
  /** The log of a server: stderr, without ever waiting for its reader. */
  readonly log: OutputStream;
  /** Ends the process at once, although output is pending. */
  readonly exit: (code: number) => void;
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** As `x64`. */
  readonly architecture: string;
  /** As `20.20.2`. */
  readonly nodeVersion: string;
  /** Milliseconds of a clock that only goes forward; unlike `performance` it loads nothing. */
  readonly nowMs: () => number;
  /** undefined: this user has none. */
  readonly homeDirectory: string | undefined;
  /**
   * The bytes of the command line, each argument ended by a NUL; undefined where the system does not tell. Node has
   * decoded the arguments by the time that they are in `argv`.
   */
  readonly readCommandLine: () => Uint8Array | undefined;
  /**
   * Calls `handler` once, with the first signal. The same Ctrl-C may arrive several times, so signals are passed over
   * for a quarter of a second; after that they have their usual effect, and a second Ctrl-C ends the process at once.
   *
   * @returns a function that leaves all signals to their usual effect
   */
  onSignal(handler: (signal: StopSignal) => void): () => void;
  /** Calls `handler` with each SIGHUP from now on, which then has no effect of its own. */
  onHangUp(handler: () => void): void;
  /** Calls `handler` from now on with what was thrown where nobody could catch it; the process goes on. */
  onUncaught(handler: (error: unknown) => void): void;
}

/** Output that could not be written. */
export class OutputError extends Error {
  override readonly name = "OutputError";
  /** Whether nobody reads it any more, as at the end of `| head -1`. */
  readonly isClosed: boolean;

  constructor(cause: NodeJS.ErrnoException) {
    super(`the output could not be written: ${cause.message}`, { cause });
    this.isClosed = closedCodes.has(cause.code ?? "");
  }
}

const closedCodes = new Set(["EPIPE", "EOF", "ECONNRESET", "ERR_STREAM_DESTROYED"]);

/**
 * Writes text and waits until it is out.
 *
 * @throws OutputError
 */
export function writeText(stream: OutputStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error) reject(new OutputError(error));
      else resolve();
    });
  });
}

/** The world of this process. */
export function createProcessIo(): Io {
  for (const stream of [process.stdout, process.stderr]) {
    // `writeText` tells of the failure; without a listener the same failure would end the process with a stack.
    stream.on("error", () => {});
  }
  return {
    // A getter, because Node opens the input when it is first asked for.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    get log() {
      // Node writes to pipes and sockets without waiting for their reader, to files and terminals it waits.
      const { fd } = process.stderr;
      const stats = fstatSync(fd);
      return stats.isFIFO() || stats.isSocket() ? process.stderr : createDescriptorStream(fd);
    },
    exit: (code) => process.exit(code),
    env: process.env,
    platform: process.platform,
    architecture: process.arch,
    nodeVersion: process.versions.node,
    nowMs: () => Number(process.hrtime.bigint()) / 1e6,
    homeDirectory: findHomeDirectory(),
    readCommandLine: () =>
      process.platform === "linux" ? readFileSync("/proc/self/cmdline") : undefined,
    onSignal,
    onHangUp: (handler) => void process.on("SIGHUP", handler),
    onUncaught(handler) {
      process.on("uncaughtException", handler);
      process.on("unhandledRejection", handler);
    },
  };
}

function findHomeDirectory(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined; // No HOME, and a user id that no file of users knows, as in some containers.
  }
}

const stopSignals: readonly StopSignal[] = ["SIGINT", "SIGTERM"];

/**
 * npm hands on the Ctrl-C that the terminal has sent to all of its processes anyway, and a library that cleans up on
 * exit sends each signal to the process once more.
 */
const sameSignalMs = 250;

function onSignal(handler: (signal: StopSignal) => void): () => void {
  let isFirst = true;
  let isImpatient = false;
  const listener = (signal: StopSignal): void => {
    if (isImpatient) process.exit(128 + constants.signals[signal]);
    if (!isFirst) return;
    isFirst = false;
    setTimeout(endWithNext, sameSignalMs).unref();
    handler(signal);
  };
  const endWithNext = (): void => {
    // The first process of a container is spared the usual effect of signals.
    if (process.pid === 1) isImpatient = true;
    else stop();
  };
  const stop = (): void => {
    for (const signal of stopSignals) process.off(signal, listener);
  };
  for (const signal of stopSignals) process.on(signal, listener);
  return stop;
}

/** A terminal in non-blocking mode may be busy for a moment. */
const retryMs = 20;

/**
 * Creates a stream that writes to a file or a terminal in the background. The descriptor stays open. Output that cannot
 * be written, as on a full disk, is lost.
 */
function createDescriptorStream(descriptor: number): Writable {
  function writeAll(bytes: Buffer, done: () => void): void {
    write(descriptor, bytes, (error, count) => {
      if (error?.code === "EAGAIN") setTimeout(() => writeAll(bytes, done), retryMs);
      else if (error || count === bytes.length) done();
      else writeAll(bytes.subarray(count), done);
    });
  }

  return new Writable({
    write: (bytes: Buffer, _encoding, done) => writeAll(bytes, () => done()),
  });
}
