/** How the built command starts: what it tells without loading the rest, and what it loads for the rest. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { startSession } from "../helpers/pseudo-terminal.ts";
import { runBinary } from "../helpers/run-binary.ts";
import { allTerminals, runCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

describe("what is known since the build", () => {
  it.each([
    [[], ["--help"]],
    [["--help"], ["--help"]],
    [["-h"], ["--help"]],
    [["help"], ["--help"]],
    [["--version"], ["--version"]],
    [["-V"], ["--version"]],
  ])("%j: the same as the command tree says", async (args, asked) => {
    const home = await createTemporaryDirectory();
    const { stdout: said } = await runCli(asked);
    // There the command tree has a world of its own.
    const stdout = said.replace("20.20.2", process.versions.node);
    expect(await runBinary(args, { home })).toEqual({ code: 0, stdout, stderr: "" });
  });

  it("the overview fits into a narrow terminal", async () => {
    const home = await createTemporaryDirectory();
    const screen = await startSession("stty columns 50; $PLANTSTORE --help", home).finished;
    const { stdout } = await runCli(["--help"], { terminals: allTerminals, columns: 50 });
    expect(stdout).not.toBe((await runCli(["--help"])).stdout);
    expect(screen).toContain(stdout.replaceAll("\n", "\r\n"));
  });
});

/** Tells at the end of a process which modules of Node it has loaded. */
const teller = `process.on("exit", () => process._rawDebug(process.moduleLoadList.join()));`;

describe("of Node it loads only what it needs for", () => {
  it.each([
    ["--version", ["--version"]],
    ["the overview", []],
    ["a create", ["create", "--id", "1", "--name", "fern"]],
  ])("%s", async (_what, args) => {
    const home = await createTemporaryDirectory();
    const script = join(home, "teller.cjs");
    await writeFile(script, teller);
    await using server = await startServer();
    const env = {
      NODE_OPTIONS: `--require ${script}`,
      PLANTSTORE_URL: server.url,
      PLANTSTORE_TOKEN: testToken,
    };
    const { code, stderr } = await runBinary(args, { home, env });
    expect(code).toBe(0);
    const loaded = stderr.split(",").map((name) => name.replace("NativeModule ", ""));
    expect(loaded).toContain("stream");
    const unneeded = [
      "assert",
      "child_process",
      "crypto",
      "fs/promises",
      "http",
      "http2",
      "perf_hooks",
      "tls",
      "worker_threads",
    ];
    expect(loaded.filter((name) => unneeded.includes(name))).toEqual([]);
  });
});
