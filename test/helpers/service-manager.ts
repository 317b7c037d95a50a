/** A service manager that passes a socket to the built command, and starts it again after its end, like systemd. */
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { killGroup } from "./kill-group.ts";

const script = fileURLToPath(new URL("programs/service-manager.pl", import.meta.url));
const binary = fileURLToPath(new URL("../../bin/plantstore.js", import.meta.url));

/** Checks whether Perl can run the service manager: Node cannot open a socket for another process. */
export function hasServiceManager(): boolean {
  return spawnSync("perl", ["-MSocket", "-MPOSIX", "-e", "1"]).status === 0;
}

/**
 * Starts a service manager, which is killed with its service when the test ends.
 *
 * @param address `tcp` for a free port of 127.0.0.1, or the path of a Unix socket
 */
export function startServiceManager(
  address: string,
  args: readonly string[],
  { home, env }: { readonly home: string; readonly env: Readonly<Record<string, string>> },
) {
  const child = spawn("perl", [script, address, process.execPath, binary, ...args], {
    cwd: home,
    detached: true,
    env: { HOME: home, PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => killGroup(child));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const find = (line: RegExp): string[] =>
    [...stdout.matchAll(line)].map(([, value = ""]) => value);
  return {
    /** Resolves with the URLs that the service printed, once it has printed `count`. */
    async urls(count: number) {
      const read = (): string[] => find(/^(\w+:\/.*)\n/gm);
      await expect.poll(() => read().length, { message: stderr }).toBeGreaterThanOrEqual(count);
      return read();
    },
    /** Sends a signal to the service that runs now. */
    signal: (name: NodeJS.Signals) => process.kill(Number(find(/^started (\d+)\n/gm).at(-1)), name),
    /** The log of the service. */
    log: () => stderr,
    /** Exit statuses of the services that have ended. */
    ended: () => find(/^ended (\d+)\n/gm).map(Number),
  };
}
