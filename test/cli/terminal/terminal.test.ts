import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createProcessIo, type Environment, type OutputStream } from "../../../src/cli/io.ts";
import { Terminal } from "../../../src/cli/terminal/terminal.ts";

// Created once, as in a process: each call adds listeners to stdout and stderr.
const io = createProcessIo();

function createTerminal(stderr: OutputStream, env: Environment): Terminal {
  return new Terminal({ ...io, stderr, env });
}

const pipe = new PassThrough();
const terminal = Object.assign(new PassThrough(), { isTTY: true });

it.each([
  ["a terminal", terminal, undefined, {}, true],
  ["a pipe", pipe, undefined, {}, false],
  ["a dumb terminal", terminal, undefined, { TERM: "dumb" }, false],
  ["FORCE_COLOR, over the pipe", pipe, undefined, { FORCE_COLOR: "1" }, true],
  ["FORCE_COLOR=0, over the terminal", terminal, undefined, { FORCE_COLOR: "0" }, false],
  ["FORCE_COLOR=false, over the terminal", terminal, undefined, { FORCE_COLOR: "false" }, false],
  ["an empty FORCE_COLOR, which is none", pipe, undefined, { FORCE_COLOR: "" }, false],
  ["NO_COLOR, over the terminal", terminal, undefined, { NO_COLOR: "1" }, false],
  ["NO_COLOR, over FORCE_COLOR", pipe, undefined, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
  ["an empty NO_COLOR, which is none", terminal, undefined, { NO_COLOR: "" }, true],
  ["--color, over NO_COLOR", pipe, true, { NO_COLOR: "1" }, true],
  ["--no-color, over FORCE_COLOR", terminal, false, { FORCE_COLOR: "1" }, false],
])("colour is decided by %s", (_rule, stream, choice, env: Environment, colored) => {
  const created = createTerminal(stream, env);
  created.colorChoice = choice;
  expect(created.isColored(stream)).toBe(colored);
});

it("without colour, text stays as it is", async () => {
  const { error, warning } = await createTerminal(pipe, {}).loadPalette(pipe);
  expect([error("a"), warning("b")]).toEqual(["a", "b"]);
});

it("prints a message as one line, which a terminal wraps itself", async () => {
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 30 });
  await createTerminal(screen, { NO_COLOR: "1" }).error("port 7526 is already in use on 127.0.0.1");
  expect(String(screen.read())).toBe("error: port 7526 is already in use on 127.0.0.1\n");
});
