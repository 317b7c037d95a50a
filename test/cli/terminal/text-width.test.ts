/** Text in columns of a terminal. */
import { describe, expect, it } from "vitest";
import { wrapText } from "../../../src/cli/terminal/text-width.ts";

describe("wrapText", () => {
  it.each<[rule: string, text: string, columns: number, wrapped: string]>([
    ["breaks between words", "a plant store", 7, "a plant\nstore"],
    ["keeps a word that is wider than a line", "a longword b", 4, "a\nlongword\nb"],
    [
      "counts a terminal without columns as 80",
      "word ".repeat(20).trim(),
      0,
      `${"word ".repeat(16).trim()}\n${"word ".repeat(4).trim()}`,
    ],
  ])("%s", (_rule, text, columns, wrapped) => {
    expect(wrapText(text, columns)).toBe(wrapped);
  });

  it("indents every line but the first", () => {
    expect(wrapText("one two three", 9, 4, 2)).toBe("one\n  two\n  three");
  });
});
