import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { isColored, loadPalette } from "../../../src/cli/output/color.ts";

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
])("colour is decided by %s", (_rule, stream, choice, env, colored) => {
  expect(isColored(stream, choice, env)).toBe(colored);
});

it("without colour, text stays as it is", async () => {
  const { error, warning } = await loadPalette(false);
  expect([error("a"), warning("b")]).toEqual(["a", "b"]);
});
