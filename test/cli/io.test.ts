import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import ts from "typescript";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

/** Creates a program of lines that use `io` and `writeText`. */
async function startScript(lines: string): Promise<{ file: string; start: () => ChildProcess }> {
  const source = await readFile(new URL("../../src/cli/io.ts", import.meta.url), "utf8");
  const module = ts.ModuleKind.ESNext;
  const target = ts.ScriptTarget.ES2022;
  const { outputText } = ts.transpileModule(source, { compilerOptions: { module, target } });
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, "io.mjs"), outputText);
  const file = join(directory, "script.mjs");
  const head =
    'import { createProcessIo, writeText } from "./io.mjs";\nconst io = createProcessIo();\n';
  await writeFile(file, head + lines);
  return { file, start: () => spawn(process.execPath, [file]) };
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code, signal };
}

const textOf = (child: ChildProcess) => text(child.stdout ?? expect.unreachable());

describe("the io of a process", () => {
  it("has its home directory and its environment", async () => {
    const { start } = await startScript(
      "await writeText(io.stdout, JSON.stringify([io.homeDirectory, io.platform, typeof io.env.PATH]));",
    );
    expect(JSON.parse(await textOf(start()))).toEqual([homedir(), process.platform, "string"]);
  });

  it("has a log that does not wait for its reader", async () => {
    const { start } = await startScript(`
      const log = io.log;
      for (let count = 0; count < 100; count++) log.write("fern ".repeat(2000));
      await writeText(io.stdout, "not held up");`);
    const child = start();
    child.stderr?.pause();
    const [output] = (await once(child.stdout ?? expect.unreachable(), "data")) as [Buffer];
    expect(output.toString()).toBe("not held up");
    child.stderr?.resume();
    expect(await text(child.stderr ?? expect.unreachable())).toBe("fern ".repeat(200_000));
  });

  it("has an output whose end is a rejection and does not end the process", async () => {
    const { start } = await startScript(`
      await new Promise((resolve) => io.stdin.once("end", resolve).resume());
      const errors = [];
      for (const stream of [io.stdout, io.stdout]) {
        await writeText(stream, "fern").catch((error) => errors.push(error.isClosed));
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      await writeText(io.stderr, JSON.stringify(errors));
    `);
    const child = start();
    child.stdout?.destroy();
    child.stdin?.end();
    const output = text(child.stderr ?? expect.unreachable());
    expect(await endOf(child)).toEqual({ code: 0, signal: null });
    expect(await output).toBe("[true,true]");
  });
});

describe("a signal", () => {
  const listen = `
    const stop = io.onSignal((name) => void writeText(io.stdout, name + "\\n"));
    await writeText(io.stdout, "ready\\n");
    setInterval(() => {}, 1000);
  `;

  async function startListening(lines = listen) {
    const { start } = await startScript(lines);
    const child = start();
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const saw = async (wanted: string): Promise<void> => {
      await expect.poll(() => output).toContain(wanted);
    };
    await saw("ready");
    return { child, saw, output: () => output };
  }

  it("calls the handler once if it arrives several times, and the process continues", async () => {
    // The time in which signals count as the same one does not end, however slow the machine is.
    const { child, saw, output } = await startListening(`
      globalThis.setTimeout = () => ({ unref() {} });
      process.on("SIGWINCH", () => void writeText(io.stdout, "SIGWINCH\\n"));
      ${listen}
    `);
    child.kill("SIGINT");
    await saw("SIGINT");
    child.kill("SIGINT");
    child.kill("SIGTERM");
    // Its number is above those of the others, so it arrives last.
    child.kill("SIGWINCH");
    await saw("SIGWINCH");
    expect(output()).toBe("ready\nSIGINT\nSIGWINCH\n");
    expect(child.signalCode).toBeNull();
  });

  it("ends the process if it arrives again later", async () => {
    const { child, saw } = await startListening();
    child.kill("SIGTERM");
    await saw("SIGTERM");
    while (child.signalCode === null) {
      await sleep(100);
      child.kill("SIGTERM");
    }
    expect(child.signalCode).toBe("SIGTERM");
  });

  it("has its default effect after the handler is removed", async () => {
    const { child, saw } = await startListening(
      `${listen} stop(); await writeText(io.stdout, "stopped");`,
    );
    await saw("stopped");
    const ended = endOf(child);
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: null, signal: "SIGTERM" });
  });
});

it.skipIf(process.platform === "win32")("a process notices the end of its parent", async () => {
  const { file } = await startScript(`
    const alive = setInterval(() => {}, 1000);
    io.onParentExit(() => {
      clearInterval(alive);
      void writeText(io.stdout, "ended");
    });
    await writeText(io.stdout, "started ");
  `);
  // A shell that ends with its input.
  const shell = spawn("sh", ["-c", '"$0" "$1" & read line', process.execPath, file]);
  const output = textOf(shell);
  await once(shell.stdout, "data");
  shell.stdin.end();
  expect(await output).toBe("started ended");
});
