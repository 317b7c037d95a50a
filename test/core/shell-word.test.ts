/** Quotes any text as one word of a shell command. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { toShellWord } from "../../src/core/messages.ts";
import { run } from "../helpers/run.ts";

it.each([
  ["http://127.0.0.1:7526/v1", "http://127.0.0.1:7526/v1"],
  ["http://[::1]:7526", "'http://[::1]:7526'"],
  ["https://a.example/it's", String.raw`'https://a.example/it'\''s'`],
  ["$(id)", "'$(id)'"],
  ["~", "'~'"],
  ["", "''"],
])("quotes %s as %s", (text, word) => {
  expect(toShellWord(text)).toBe(word);
});

it("quotes any text so that a shell reads it unchanged", async () => {
  const hostile = fc.string({
    unit: fc.constantFrom(..."'\"`$\\;&|<>(){}[]*?!#~= \t\n%/a"),
    maxLength: 20,
  });
  const texts = [...fc.sample(hostile, 300), ...fc.sample(fc.webUrl(), 100)];
  const command = `printf '%s\\0' ${texts.map(toShellWord).join(" ")}`;
  const { stdout } = await run("sh", ["-c", command]);
  expect(stdout.split("\0").slice(0, -1)).toEqual(texts);
});
