/** What the tests of `serve` share: a home of its own for each test, and runs of the command in it. */
import { join } from "node:path";
import { beforeEach } from "vitest";
import { type CliOptions, runCli, startServe } from "../../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

let home: string;

/** Gives each test of a file a home of its own. */
export function useHome(): void {
  beforeEach(async () => {
    home = await createTemporaryDirectory();
  });
}

/** Returns a path in the home of the test, by default the home itself. */
export const inHome = (...names: readonly string[]): string => join(home, ...names);

export const configPath = (): string => inHome(".config/plantstore");

export function serve(args: readonly string[] = [], options: CliOptions = {}) {
  return startServe(args, { home, ...options });
}

/** Starts `serve`, and stops it at once. */
export async function serveOnce(args: readonly string[] = [], options: CliOptions = {}) {
  const { url, stop } = await serve(args, options);
  return { url, ...(await stop()) };
}

/** Runs `serve` where it doesn't start. */
export function failToServe(args: readonly string[], options: CliOptions = {}) {
  return runCli(["serve", ...args], { home, ...options });
}

export function createFern(url: string, env: Readonly<Record<string, string>> = {}) {
  return runCli(["create", "--id", "1", "--name", "fern", "--url", url], { home, env });
}
