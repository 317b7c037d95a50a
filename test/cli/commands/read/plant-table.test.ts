/** Tables of plants, with names that are long, wide or dangerous. */
import { expect, it } from "vitest";
import { plantRows } from "../../../../src/cli/commands/read.ts";
import { layOutTable } from "../../../../src/cli/terminal/rows.ts";
import type { NewPlant } from "../../../../src/core/plant.ts";

/** The lines below the headings. */
async function layOut(plants: readonly NewPlant[]): Promise<readonly string[]> {
  return (await layOutTable(plants, plantRows.columns)).split("\n").slice(1, -1);
}

it.each<[what: string, name: string, shown: string]>([
  ["that fits", "n".repeat(60), "n".repeat(60)],
  ["that is too long", "n".repeat(61), `${"n".repeat(60)}…`],
  ["that is empty", "", '""'],
  ["with controls", "a\0\u001b[31m\n", "a\\u0000\\u001b[31m\\u000a"],
  ["with a bidirectional character", "a\u202eb", "a\\u202eb"],
  ["with any number of marks", `o${"\u0308".repeat(100)}`, `o${"\u0308".repeat(59)}…`],
])("a name %s: %j", async (_what, name, shown) => {
  expect(await layOut([{ id: 1n, name }])).toEqual([` 1  ${shown}`]);
});

it("aligns ids to the right, and tags behind wide characters and marks", async () => {
  const lines = await layOut([
    { id: -9223372036854775808n, name: "fern", tag: "pot" },
    { id: 2n, name: "観葉植物", tag: "🌱" },
    { id: 3n, name: "o\u0308", tag: "pot" },
  ]);
  expect(lines).toEqual([
    "-9223372036854775808  fern      pot",
    "                   2  観葉植物  🌱",
    "                   3  o\u0308         pot",
  ]);
});
