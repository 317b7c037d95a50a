/** Tables of plants, with names that are long, wide or dangerous. */
import { describe, expect, it } from "vitest";
import { plantRows } from "../../../../src/cli/commands/read.ts";
import { toTable } from "../../../../src/cli/terminal/table.ts";
import type { NewPlant } from "../../../../src/core/plant.ts";

/** The lines below the headings. */
function toLines(plants: readonly NewPlant[], columns?: number): readonly string[] {
  return toTable(plants, plantRows.columns, columns).split("\n").slice(1, -1);
}

describe("a name", () => {
  it.each<[what: string, name: string, room: number, shown: string]>([
    ["that fits", "monstera", 80, "monstera"],
    ["that just fits", "n".repeat(20), 20, "n".repeat(20)],
    ["that is too long", "n".repeat(21), 20, `${"n".repeat(19)}…`],
    ["that is empty", "", 80, '""'],
    ["of wide characters that just fit", "観".repeat(10), 20, "観".repeat(10)],
    ["of wide characters that do not fit", "観".repeat(11), 20, `${"観".repeat(9)}…`],
    ["of emoji that do not fit", "🌱".repeat(11), 20, `${"🌱".repeat(9)}…`],
    ["of a flag, two indicators of one column", "🇳🇿".repeat(10), 20, "🇳🇿".repeat(10)],
    ["with marks, which occupy no columns", "o\u0308".repeat(20), 20, "o\u0308".repeat(20)],
    ["whose marks stay with their letters", "o\u0308".repeat(21), 20, `${"o\u0308".repeat(19)}…`],
    ["with controls", "a\0\u001b[31m\n", 80, "a\\u0000\\u001b[31m\\u000a"],
    ["with a bidirectional character", "a\u202eb", 80, "a\\u202eb"],
    ["whose escape does not fit as a whole", `${"n".repeat(17)}\n\n`, 20, `${"n".repeat(17)}…`],
  ])("%s: %j in %i columns", (_what, name, room, shown) => {
    // The headings of the ids and of the tags, and two gaps.
    expect(toLines([{ id: 1n, name }], room + 2 + 3 + 2 * 2)).toEqual([` 1  ${shown}`]);
  });

  it("with any number of marks is cut", () => {
    const [line = ""] = toLines([{ id: 1n, name: `o${"\u0308".repeat(100_000)}` }]);
    expect(line).toMatch(/^ 1 {2}o\u0308+…$/);
    expect(line.length).toBeLessThan(1000);
  });
});

describe("the width of the terminal", () => {
  const long = { id: 1n, name: "n".repeat(100), tag: "t".repeat(100) };

  it.each([
    ["the name and the tag get the same", long, 66, 30, 30],
    ["the name gets what the tag leaves", { ...long, tag: "pot" }, 66, 57, 3],
    ["the tag gets what the name leaves", { ...long, name: "fern" }, 66, 4, 56],
    ["neither is cut below eight", long, 22, 8, 8],
    ["80 if the terminal reports no width", long, 0, 37, 37],
    ["80 without a terminal", long, undefined, 37, 37],
  ])("%s", (_rule, plant, columns, nameWidth, tagWidth) => {
    const [line = ""] = toLines([plant], columns);
    const [, name = "", tag = ""] = /^ 1 {2}(\S+) {2}(\S+)$/.exec(line) ?? [];
    expect([name.length, tag.length]).toEqual([nameWidth, tagWidth]);
  });

  it("holds for every line, and tags are aligned", () => {
    const lines = toLines(
      [
        { id: -9223372036854775808n, name: "fern", tag: "pot" },
        { id: 2n, name: "観葉植物", tag: "🌱" },
        { id: 3n, name: "o\u0308", tag: "pot" },
      ],
      60,
    );
    expect(lines).toEqual([
      "-9223372036854775808  fern      pot",
      "                   2  観葉植物  🌱",
      "                   3  o\u0308         pot",
    ]);
  });
});

it("distinguishes an empty tag from an absent one", () => {
  expect(
    toLines([
      { id: 1n, name: "fern", tag: "" },
      { id: 2n, name: "fern" },
    ]),
  ).toEqual([' 1  fern  ""', " 2  fern"]);
});

it("gives each cell a line of its own on a terminal that is too narrow", () => {
  const plants = [
    { id: 1n, name: "fern\n", tag: "" },
    { id: -20n, name: "観" },
  ];
  const table = toTable(plants, plantRows.columns, 16);
  expect(table).toBe('ID    1\nNAME  fern\\u000a\nTAG   ""\n\nID    -20\nNAME  観\n');
});
