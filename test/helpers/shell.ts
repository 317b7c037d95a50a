/** Commands of the manual, in a shell and a home directory of their own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { killGroup } from "./kill-group.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

const bin = fileURLToPath(new URL("../../bin/plantstore.js", import.meta.url));

/**
 * Creates a home directory, with the built command in its PATH.
 *
 * @param programs further programs, each a command line of sh
 */
export async function createHome(programs: Readonly<Record<string, string>> = {}) {
  const home = await createTemporaryDirectory();
  const directory = join(home, "bin");
  await mkdir(directory);
  const all = { plantstore: `exec '${process.execPath}' '${bin}' "$@"`, ...programs };
  for (const [name, words] of Object.entries(all)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${words}\n`, { mode: 0o755 });
  }
  return { HOME: home, PATH: `${directory}:${process.env["PATH"] ?? ""}` };
}

/** Runs commands in the directory HOME. They and what they start end with the test. */
export async function runShell(shell: string, args: string[], env: Record<string, string>) {
  const child = spawn(shell, args, {
    cwd: env["HOME"],
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  onTestFinished(() => killGroup(child));
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as unknown, stdout, stderr };
}
