/** A server as a process of its own, started for one run of load. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A server that takes requests. */
export interface ServerProcess {
  readonly url: string;
  /** Its resident set at the moment, in bytes. */
  measureMemory(): Promise<number>;
  /** Ends it with SIGTERM. @throws Error when it does not exit with 0 */
  stop(): Promise<void>;
}

/**
 * Starts a server that prints its URL as its first line; what it logs goes into a file.
 *
 * @param directory where the file is
 * @throws Error when it ends without a URL
 */
export async function startServerProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  directory: string,
): Promise<ServerProcess> {
  const log = await open(join(directory, "server.log"), "w");
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], HOME: directory, ...env },
    stdio: ["ignore", "pipe", log.fd],
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  await log.close();
  const firstLine = once(createInterface(child.stdout!), "line") as Promise<[string]>;
  const outcome = await Promise.race([firstLine, ended]);
  const [url] = outcome;
  if (typeof url !== "string") {
    throw new Error(`${args.join(" ")}: ended at once, see ${directory}`);
  }

  return {
    url,
    async measureMemory() {
      const { stdout } = await run("ps", ["-o", "rss=", "-p", String(child.pid)]);
      return Number(stdout) * 1024;
    },
    async stop() {
      child.kill("SIGTERM");
      const [code] = await ended;
      if (code !== 0) throw new Error(`${args.join(" ")}: exited with ${code}`);
    },
  };
}
