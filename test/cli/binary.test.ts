import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const binary = new URL("../../bin/plantstore.js", import.meta.url).href;

/** Loads the command in a Node that claims to be another version. */
async function loadAs(version: string): Promise<{ stderr: string; code: number }> {
  const script = `
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
    process.argv.push("--version");
    await import("${binary}");
  `;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  return run.then(
    ({ stderr }) => ({ stderr, code: 0 }),
    (error: unknown) => error as { stderr: string; code: number },
  );
}

it.each(["10.24.1", "18.20.8", "20.18.3"])(
  "Node %s is told what is needed, in one line",
  async (version) => {
    const { stderr, code } = await loadAs(version);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^error: plantstore needs Node.js 20\\.19 or newer, and this is ${version}: [^\\n]*\\n$`,
      ),
    );
  },
);
