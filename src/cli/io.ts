/** Streams, environment and signals of a command, as one value. The only file that uses `process`. */
import { createReadStream, fstatSync, write } from "node:fs";
import { constants, homedir } from "node:os";
import { type Readable, Writable } from "node:stream";

export type InputStream = Readable & { readonly isTTY?: boolean | undefined };

export type OutputStream = Writable & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
};

export type Environment = Readonly<Record<string, string | undefined>>;

export type StopSignal = "SIGINT" | "SIGTERM";

/** Everything outside the program that a command uses. */
export interface Io {
  readonly stdin: InputStream;
  /** For the requested data. */
  readonly stdout: OutputStream;
  /** True if stdout is a pipe, whose reader may write to the same terminal as stderr. */
  readonly isPiped: boolean;
  /** For messages to the user. */
  readonly stderr: OutputStream;
  /** For the log of a server: stderr, without waiting for its reader. */
  readonly log: OutputStream;
  /** Ends the process immediately, even if output is pending. */
  readonly exit: (code: number) => void;
  readonly env: Environment;
  readonly script: string | undefined;
  readonly platform: NodeJS.Platform;
  readonly processId: number;
  /** Effective user ID; undefined on Windows. */
  readonly userId: number | undefined;
  readonly architecture: string;
  readonly nodeVersion: string;
  /** The version of Bun, if Bun runs the program instead of Node. */
  readonly bunVersion: string | undefined;
  /** Milliseconds of a monotonic clock; unlike `performance`, it loads no module. */
  readonly nowMs: () => number;
  /** undefined for a user without one. */
  readonly homeDirectory: string | undefined;
  /**
   * Calls `handler` once, with the first signal. The same Ctrl-C may arrive several times, so signals are ignored for a
   * quarter of a second. Later signals have their default effect: a second Ctrl-C ends the process. If stderr is a
   * terminal, the signal ends its line, which shows `^C` or a question.
   *
   * @returns a function that restores the default effect
   */
  onSignal(handler: (signal: StopSignal) => void): () => void;
  /**
   * Ends the process by the default effect of a signal, without waiting for its threads. Has no effect on the first process
   * of a container.
   */
  endBySignal(signal: StopSignal | "SIGHUP"): void;
  /** Calls `handler` with each SIGHUP, instead of its default effect. */
  onHangUp(handler: () => void): void;
  /**
   * Calls `handler` once, within a quarter of a second after the parent process has ended: npm passes no SIGTERM on, but ends
   * the shell that it runs the program with. Has no effect on Windows.
   */
  onParentExit(handler: () => void): void;
  /** Ignores SIGUSR1, with which Node opens its debugger for every user of this machine. */
  keepDebuggerClosed(): void;
  /** Shows text with the pager of the user: the command `PAGER`, or `less`. @returns false if there is none */
  showPages(text: string): Promise<boolean>;
  /** Returns the maximum number of open files and sockets of this process; takes 5 ms. */
  readOpenFilesLimit(): number;
  /** Calls `handler` with each uncaught error; the process continues. */
  onUncaught(handler: (error: unknown) => void): void;
}

export class OutputError extends Error {
  override readonly name = "OutputError";
  /** True if the reader closed it, as `| head -1` does. */
  readonly isClosed: boolean;

  constructor(cause: NodeJS.ErrnoException) {
    super("the output could not be written", { cause });
    this.isClosed = closedCodes.has(cause.code ?? "");
  }
}

const closedCodes = new Set(["EPIPE", "EOF", "ECONNRESET", "ERR_STREAM_DESTROYED"]);

/** Writes text and waits until it is written. @throws OutputError */
export function writeText(stream: OutputStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error) reject(new OutputError(error));
      else resolve();
    });
  });
}

export function createProcessIo(): Io {
  for (const stream of [process.stdout, process.stderr]) {
    // `writeText` reports the failure; without a listener the same failure would end the process with a stack.
    stream.on("error", () => {});
  }
  return {
    // A getter, because Node opens the input on first use. It takes a directory for an empty input; reading it fails.
    get stdin() {
      return fstatSync(0).isDirectory() ? createReadStream("", { fd: 0 }) : process.stdin;
    },
    stdout: process.stdout,
    get isPiped() {
      return isPipe(process.stdout.fd);
    },
    stderr: process.stderr,
    get log() {
      // Node writes to files and terminals synchronously, to pipes and sockets asynchronously.
      const { fd } = process.stderr;
      return isPipe(fd) ? process.stderr : createDescriptorStream(fd);
    },
    exit: (code) => process.exit(code),
    env: process.env,
    script: process.argv[1],
    platform: process.platform,
    processId: process.pid,
    userId: process.geteuid?.(),
    architecture: process.arch,
    nodeVersion: process.versions.node,
    bunVersion: process.versions["bun"],
    nowMs: () => Number(process.hrtime.bigint()) / 1e6,
    homeDirectory: findHomeDirectory(),
    onSignal,
    endBySignal(signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    },
    onParentExit,
    onHangUp: (handler) => void process.on("SIGHUP", handler),
    keepDebuggerClosed: () => void process.on("SIGUSR1", () => {}),
    showPages,
    readOpenFilesLimit,
    onUncaught(handler) {
      process.on("uncaughtException", handler);
      process.on("unhandledRejection", handler);
    },
  };
}

/** What a shell exits with if a command does not exist. */
const noSuchCommand = 127;

async function showPages(text: string): Promise<boolean> {
  const { PAGER } = process.env;
  if (PAGER === "") return false;
  const { spawn } = await import("node:child_process");
  // As git sets it: with colours, without a screen of its own.
  const env = { LESS: "FRX", ...process.env };
  const shell = PAGER !== undefined;
  const pager = spawn(PAGER ?? "less", { shell, stdio: ["pipe", "inherit", "inherit"], env });
  pager.stdin.on("error", () => {}); // The user has quit before the end.
  pager.stdin.end(text);
  const leaveToPager = (): void => {};
  process.on("SIGINT", leaveToPager);
  try {
    return await new Promise((resolve) => {
      pager.on("error", () => resolve(false));
      pager.on("close", (code) => resolve(code !== noSuchCommand));
    });
  } finally {
    process.off("SIGINT", leaveToPager);
  }
}

function readOpenFilesLimit(): number {
  // Otherwise the report would look up the names of hosts.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as {
    // Absent on Windows.
    readonly userLimits?: { readonly open_files: { readonly soft: number | "unlimited" } };
  };
  const limit = report.userLimits?.open_files.soft;
  return typeof limit === "number" ? limit : Infinity;
}

function isPipe(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  return stats.isFIFO() || stats.isSocket();
}

function findHomeDirectory(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined; // No HOME, and a user id without an entry, as in some containers.
  }
}

const stopSignals: readonly StopSignal[] = ["SIGINT", "SIGTERM"];
const handledSignals = [...stopSignals, "SIGHUP"] as const;

/**
 * Loads a module, and removes the signal listeners that it adds: some libraries send each signal again after their
 * clean-up. Listeners that other code adds meanwhile are removed too.
 */
export async function loadWithoutSignals<Module>(load: () => Promise<Module>): Promise<Module> {
  const known = handledSignals.map((name) => [name, process.listeners(name)] as const);
  const module = await load();
  for (const [name, listeners] of known) {
    const added = process.listeners(name).filter((each) => !listeners.includes(each));
    for (const listener of added) process.off(name, listener);
  }
  return module;
}

/** npm forwards a Ctrl-C that the terminal sends to all processes. */
const sameSignalMs = 250;

function onSignal(handler: (signal: StopSignal) => void): () => void {
  let isFirst = true;
  let isImpatient = false;
  const listener = (signal: StopSignal): void => {
    if (isImpatient) process.exit(128 + constants.signals[signal]);
    if (!isFirst) return;
    isFirst = false;
    if (process.stderr.isTTY) process.stderr.write("\n");
    setTimeout(endWithNext, sameSignalMs).unref();
    handler(signal);
  };
  const endWithNext = (): void => {
    // Signals have no default effect on the first process of a container.
    if (process.pid === 1) isImpatient = true;
    else stop();
  };
  const stop = (): void => {
    for (const signal of stopSignals) process.off(signal, listener);
  };
  for (const signal of stopSignals) process.on(signal, listener);
  return stop;
}

const parentPollMs = 250;

function onParentExit(handler: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    // The system gives the process another parent.
    if (process.ppid === parent) return;
    clearInterval(timer);
    handler();
  }, parentPollMs);
  timer.unref();
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
