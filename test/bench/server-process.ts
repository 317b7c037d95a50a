/** A server as a child process, started for one trial. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { run } from "../helpers/run.ts";

/** Unit of CPU times in /proc: Linux reports hundredths of a second on every platform of Node. */
const tickUs = 10_000;

/** Returns the resident set of a process, in bytes. @throws Error if it has ended */
export async function readMemory(pid: number | undefined): Promise<number> {
  const { stdout } = await run("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout) * 1024;
}

/** A server that accepts requests. */
export interface ServerProcess {
  readonly url: string;
  /** Returns the current resident set, in bytes. */
  measureMemory(): Promise<number>;
  /** Returns the CPU time that its main thread has used, in microseconds; undefined where Linux does not report it. */
  measureCpuTime(): Promise<number | undefined>;
  /** Stops the server with SIGTERM. @throws Error when it does not exit with 0 */
  stop(): Promise<void>;
}

/** Options for {@link startServerProcess}. */
export interface ServerProcessOptions {
  /** Executable; the current Node by default. */
  readonly command?: string;
  readonly args: readonly string[];
  /** Variables in addition to PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
  /** Directory for the server's log. */
  readonly directory: string;
}

/**
 * Starts a server that prints its URL as its first line.
 *
 * @throws Error when the server exits before it prints a URL
 */
export async function startServerProcess({
  command = process.execPath,
  args,
  env = {},
  directory,
}: ServerProcessOptions): Promise<ServerProcess> {
  const commandLine = [command, ...args].join(" ");
  const log = await open(join(directory, "server.log"), "w");
  const child = spawn(command, args, {
    env: { PATH: process.env["PATH"], HOME: directory, ...env },
    stdio: ["ignore", "pipe", log.fd],
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  await log.close();
  const firstLine = once(createInterface(child.stdout!), "line") as Promise<[string]>;
  const outcome = await Promise.race([firstLine, ended]);
  const [url] = outcome;
  if (typeof url !== "string") {
    throw new Error(`${commandLine}: exited before it printed a URL; see ${directory}`);
  }

  return {
    url,
    measureMemory: () => readMemory(child.pid),
    async measureCpuTime() {
      const path = `/proc/${child.pid}/task/${child.pid}/stat`;
      const stat = await readFile(path, "latin1").catch(() => undefined);
      // Fields 14 and 15; the second one is the name of the program in parentheses (proc(5)).
      const fields = stat?.slice(stat.lastIndexOf(")")).split(" ");
      return fields && (Number(fields[12]) + Number(fields[13])) * tickUs;
    },
    async stop() {
      child.kill("SIGTERM");
      const [code] = await ended;
      if (code !== 0) throw new Error(`${commandLine}: exited with ${code}`);
    },
  };
}
