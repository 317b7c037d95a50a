/** Runs the built command on a pseudo-terminal, with `script` of util-linux. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { checkArguments, checkOutput } from "./secrecy.ts";

const binary = fileURLToPath(new URL("../../bin/plantstore.js", import.meta.url));

/**
 * Runs shell commands on a terminal; `$PLANTSTORE` in them is the built command. Processes that still run when the test
 * ends are killed. Rejects with advice if `script` is not installed.
 */
export function startSession(
  commands: string,
  home: string,
  env: Readonly<Record<string, string>> = {},
) {
  checkArguments([commands]);
  // By default, `script` turns the echo off, because its own input is not a terminal.
  const script = spawn(
    "script",
    ["--quiet", "--echo", "always", "--command", commands, "/dev/null"],
    {
      cwd: home,
      env: {
        HOME: home,
        PATH: process.env["PATH"] ?? "",
        SHELL: "/bin/sh",
        TERM: "xterm",
        NO_COLOR: "1",
        PLANTSTORE: `${process.execPath} ${binary}`,
        ...env,
      },
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  onTestFinished(() => void script.kill("SIGKILL"));
  let screen = "";
  for (const stream of [script.stdout, script.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (screen += text));
  }
  script.stdin.on("error", () => undefined);
  const finished = Promise.race([
    once(script, "close"),
    once(script, "error").then(([cause]) => {
      throw new Error(
        "no pseudo-terminal, so its tests cannot pass: install `script` of util-linux 2.36 or newer",
        { cause },
      );
    }),
  ]).then(() => {
    checkOutput({ argv: [], env, stdout: screen, stderr: "" });
    return screen;
  });
  // A test that waits for something else first handles the rejection later.
  finished.catch(() => undefined);

  return {
    /** Returns the output of the terminal so far. */
    screen: () => screen,
    /** Resolves once the output contains a text; rejects when the session ends without it. */
    async saw(text: string) {
      while (!screen.includes(text)) {
        const next = await Promise.race([once(script.stdout, "data"), finished]);
        if (typeof next === "string" && !next.includes(text)) {
          throw new Error(`the terminal never showed "${text}", but: ${next}`);
        }
      }
    },
    /** Closes the terminal. */
    close: () => void script.kill("SIGKILL"),
    /** Presses keys. */
    type: (text: string) => void script.stdin.write(text),
    /** Resolves with the whole output when the session ends. */
    finished,
  };
}
