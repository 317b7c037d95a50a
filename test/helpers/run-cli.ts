/** Runs the command as a function: main() with separate streams and a separate environment. */
import { type Direction, clearLine, cursorTo, moveCursor } from "node:readline";
import { PassThrough, type Readable } from "node:stream";
import { inspect } from "node:util";
import { expect, type MatcherState, onTestFinished } from "vitest";
import type { InputStream, Io, OutputStream, StopSignal } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";
import { attempt } from "../../src/core/attempt.ts";
import { testToken } from "./plant-server.ts";
import { findFreePort } from "./postgres-server.ts";
import { checkOutput } from "./secrecy.ts";

/** All three streams are terminals. */
export const allTerminals = { stdin: true, stdout: true, stderr: true };

/** Options of a run. */
export interface CliOptions {
  /** Contents of stdin. Default: empty. A stream need not end. */
  readonly stdin?: string | Uint8Array | Readable;
  /** Which of the three streams is a terminal; by default none. */
  readonly terminals?: Partial<typeof allTerminals>;
  /** True if stdout is a pipe instead of a file. Default: false. */
  readonly isPiped?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** A server whose URL, with the token of the tests, is in the environment. */
  readonly server?: { readonly url: string };
  /** The home directory; by default one that does not exist. */
  readonly home?: string;
  /** The version of Bun, for a run under Bun. */
  readonly bunVersion?: string;
  /** The path of the program. Default: none, so that messages name it `plantstore`. */
  readonly script?: string;
  /** The columns of terminals. */
  readonly columns?: number;
  /** Another program than `plantstore`. */
  readonly program?: typeof main;
}

/** Result of a run. */
export interface CliResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the command. */
export function startCli(argv: readonly string[], options: CliOptions = {}) {
  const { terminals = {}, columns = 80, program = main, server } = options;
  const env = server
    ? { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken, ...options.env }
    : (options.env ?? {});
  const stdin = toStdin(options.stdin, terminals.stdin === true);
  const stdout = createOutput(terminals.stdout === true, columns);
  const stderr = createOutput(terminals.stderr === true, columns);
  const handlers = new Set<(signal: StopSignal) => void>();
  const hangUpHandlers = new Set<() => void>();
  const parentHandlers = new Set<() => void>();
  const uncaughtHandlers = new Set<(error: unknown) => void>();
  let exit!: (code: number) => void;
  const exited = new Promise<number>((resolve) => (exit = resolve));
  const io: Io = {
    stdin,
    stdout: stdout.stream,
    isPiped: options.isPiped === true,
    stderr: stderr.stream,
    log: stderr.stream,
    exit: (code) => exit(code),
    env,
    script: options.script,
    platform: "linux",
    processId: 4711,
    userId: process.geteuid?.(),
    architecture: "x64",
    nodeVersion: "20.20.2",
    bunVersion: options.bunVersion,
    homeDirectory: options.home ?? "/nonexistent/home",
    nowMs: () => performance.now(),
    onSignal(handler) {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    endBySignal: (name) => stderr.stream.write(`ended by ${name}`),
    onParentExit: (handler) => void parentHandlers.add(handler),
    onHangUp: (handler) => void hangUpHandlers.add(handler),
    showPages: async () => false,
    readOpenFilesLimit: () => Infinity,
    keepDebuggerClosed: () => undefined,
    onUncaught: (handler) => void uncaughtHandlers.add(handler),
  };
  let isOver = false;
  const finished = Promise.race([program(argv, io), exited]).then((exitCode) => {
    isOver = true;
    const outputs = { stdout: stdout.text(), stderr: stderr.text() };
    checkOutput({ argv, env, ...outputs });
    return { exitCode, ...outputs };
  });
  const until = async (isThere: () => boolean, what: string): Promise<void> => {
    while (!isThere()) {
      if (isOver) throw new Error(`it ended without "${what}": ${stdout.text()}${stderr.text()}`);
      await Promise.race([stdout.written(), stderr.written(), finished]);
    }
  };
  const signal = (name: StopSignal): boolean => {
    for (const handler of handlers) handler(name);
    return handlers.size > 0;
  };
  return {
    finished,
    /** Returns the output so far. */
    stdout: stdout.text,
    stderr: stderr.text,
    /** Resolves once stderr or stdout holds the text; rejects when the run ends without it. */
    saw: (text: string) =>
      until(() => stdout.text().includes(text) || stderr.text().includes(text), text),
    /** Resolves with the first line on stdout; rejects when the run ends without one. */
    async firstLine() {
      await until(() => stdout.text().includes("\n"), "a line on stdout");
      return stdout.text().split("\n", 1).join();
    },
    /** Delivers a signal. Returns whether the command handles it. */
    signal,
    /** Delivers a SIGTERM, and resolves at the end. */
    stop() {
      signal("SIGTERM");
      return finished;
    },
    /** Delivers a SIGHUP. */
    hangUp() {
      for (const handler of hangUpHandlers) handler();
    },
    /** Reports the end of the parent process. Returns whether the command watches it. */
    endParent() {
      for (const handler of parentHandlers) handler();
      return parentHandlers.size > 0;
    },
    /** Delivers an uncaught error. */
    throwUncaught(error: unknown) {
      for (const handler of uncaughtHandlers) handler(error);
    },
    /** Closes stdout like a reader that stops early. */
    closeStdout: () => void stdout.stream.destroy(),
    /** Closes stderr in the same way. */
    closeStderr: () => void stderr.stream.destroy(),
  };
}

/** Runs the command to its end. */
export function runCli(argv: readonly string[], options?: CliOptions): Promise<CliResult> {
  return startCli(argv, options).finished;
}

/** Starts `serve`, by default at a free port, and stops it when the test ends. Resolves once its URL is on stdout. */
export async function startServe(args: readonly string[] = [], options: CliOptions = {}) {
  const hasAddress = ["--port", "--socket", "--ephemeral"].some((flag) => args.includes(flag));
  const port = hasAddress ? [] : ["--port", String(await findFreePort())];
  const run = startCli(["serve", ...port, ...args], options);
  onTestFinished(async () => void (await run.stop()));
  return { ...run, url: await run.firstLine() };
}

/** A whole text, {@link containing | a part of it}, or a pattern that it matches. */
type Text = string | RegExp;
/** A text, or some members of the objects that are its lines. Numbers are doubles: compare large ids as text. */
type Output = Text | readonly object[];

declare module "vitest" {
  interface Matchers<T> {
    /** Checks how a run ends: its exit code, its stderr, and its stdout, which is empty by default. */
    toExit(exitCode: number, stderr: Text, stdout?: Output): void;
    /** Checks that a run has this stdout and an empty stderr, and exits with 0. */
    toPrint(stdout: Output): void;
  }
}

/** Matches every text that has a part. */
export const containing = (part: string): string => expect.stringContaining(part) as string;

expect.extend({
  toExit(result: CliResult, exitCode: number, stderr: Text, stdout: Output = "") {
    return compare(this, result, { exitCode, stderr, stdout });
  },
  toPrint(result: CliResult, stdout: Output) {
    return compare(this, result, { exitCode: 0, stderr: "", stdout });
  },
});

function compare(
  { equals, utils }: MatcherState,
  result: CliResult,
  wanted: Omit<CliResult, "stderr" | "stdout"> & { readonly stderr: Text; readonly stdout: Output },
) {
  const { exitCode, stderr, stdout } = result;
  const hasLines = Array.isArray(wanted.stdout);
  const lines = hasLines ? attempt(() => parseLines(stdout)) : undefined;
  const actual = { exitCode, stderr, stdout: lines ?? stdout };
  const expected = {
    ...wanted,
    stderr: toPattern(wanted.stderr),
    stdout: toPattern(wanted.stdout),
  };
  return {
    pass: equals(actual, expected, [utils.iterableEquality, utils.subsetEquality]),
    message: () => `the run ended with ${inspect({ exitCode, stderr, stdout })}`,
    actual,
    expected,
  };
}

function toPattern(text: Output): unknown {
  return text instanceof RegExp ? expect.stringMatching(text) : text;
}

/** Parses a text whose lines are JSON. @throws SyntaxError for an empty line, or without a line break at the end */
export function parseLines(text: string): unknown[] {
  if (text !== "" && !text.endsWith("\n")) throw new SyntaxError("the last line is incomplete");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line): unknown => JSON.parse(line));
}

function toStdin(source: CliOptions["stdin"], isTTY: boolean): InputStream {
  if (typeof source === "object" && "pipe" in source) return Object.assign(source, { isTTY });
  const stream = new PassThrough();
  stream.end(source ?? "");
  return Object.assign(stream, { isTTY });
}

function createOutput(isTTY: boolean, columns: number) {
  const stream = new PassThrough();
  let text = "";
  let announce!: () => void;
  const nextWrite = () => new Promise<void>((resolve) => (announce = resolve));
  let written = nextWrite();
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    announce();
    written = nextWrite();
  });
  const terminal = {
    isTTY,
    columns,
    // For the spinner.
    cursorTo: (x: number) => cursorTo(stream, x),
    moveCursor: (dx: number, dy: number) => moveCursor(stream, dx, dy),
    clearLine: (direction: Direction) => clearLine(stream, direction),
  };
  return {
    stream: (isTTY ? Object.assign(stream, terminal) : stream) as OutputStream,
    text: () => text,
    /** Resolves at the next write. */
    written: () => written,
  };
}
