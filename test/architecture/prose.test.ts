/** The check of the English in comments, texts and Markdown files. */
import { describe, expect, it } from "vitest";
import { findProblems } from "../../.build/prose.ts";

/** Returns "line: problem" for each problem. */
function check(path: string, source: string): string[] {
  return findProblems(path, source).map(({ line, text }) => `${line}: ${text}`);
}

const words = (count: number): string => Array.from({ length: count }, () => "fern").join(" ");
const tooLong = `31 words in "${words(31).slice(0, 50)}…": at most 30`;

describe("the check of prose finds a long sentence", () => {
  it.each([
    ["in a paragraph", "plants.md", `A title.\n\n${words(16)}\n${words(15)}.\n`, 3],
    ["after a short one", "plants.md", `A fern, e.g. a pot. ${words(31)}.\n`, 1],
    ["before a short one", "plants.md", `${words(31)}. A fern.\n`, 1],
    ["after a number", "plants.md", `A fern has 2. ${words(31)}.\n`, 1],
    ["that brackets make long", "plants.md", `${words(10)} (${words(10)}. ${words(11)}).\n`, 1],
    ["in an item of a list", "plants.md", `A list:\n\n- fern\n- ${words(16)}\n  ${words(15)}\n`, 4],
    ["in a later paragraph of an item", "plants.md", `1. fern\n\n   ${words(31)}\n`, 3],
    ["in a cell of a table", "plants.md", `| a | b |\n| - | - |\n| fern | ${words(31)} |\n`, 3],
    ["in a quotation", "plants.md", `> fern\n>\n> ${words(31)}\n`, 3],
    ["after a block of code", "plants.md", `\`\`\`sh\nfern\n\`\`\`\n${words(31)}\n`, 4],
    ["in a doc comment", "plants.ts", `/**\n * ${words(16)}\n * ${words(15)}\n */\nf();`, 2],
    [
      "in a tag of a doc comment",
      "plants.js",
      `/**\n * Fern.\n *\n * @param a ${words(31)}\n */`,
      4,
    ],
    ["in successive line comments", "plants.ts", `f();\n// ${words(16)}\n// ${words(15)}\n`, 2],
    ["in a trailing comment", "plants.ts", `f();\ng(); // ${words(31)}\n`, 2],
    ["in a string", "plants.ts", `f("${words(31)}");`, 1],
    ["in a template", "plants.ts", `f(\n  \`${words(30)} \${a}\`);`, 2],
  ])("%s", (_, path, source, line) => {
    const [problem = "", ...others] = check(path, source);
    expect(problem).toMatch(new RegExp(`^${line}: 3[12] words in "`));
    expect(others).toEqual([]);
  });

  it("of more than 30 words only", () => {
    expect(check("plants.md", `${words(31)}. ${words(30)}.\n`)).toEqual([`1: ${tooLong}`]);
  });
});

describe("the check of prose finds the phrase", () => {
  it.each([
    ["What", "What a plant has is its name."],
    ["Whom", "Whom it asks is open."],
    ["Those", "A plant. Those that wait are sent."],
    ["Of", "**Of two plants**, the first wins."],
    ["nobody", "It was a token that nobody has."],
    ["of which", "There are plants, of which one wins."],
    ["in place of", "It is sent in place of the plant."],
    ["beside", "A file beside the store."],
    ["anew", "It starts anew."],
    ["mends", "It mends the store."],
    ["come of", "Errors that come of a lost disk."],
    ["is told", "The user is told."],
    ["passed over", "The plant was passed over."],
    ["at the most", "It has two plants at the most."],
    ["any more", "It does not run any more."],
    ["stands for", "The dash stands for stdin."],
    ["is no plant", "A stone is no plant."],
    ["There are none", "There are none in the store."],
  ])("%s", (phrase, sentence) => {
    const expected = [expect.stringContaining(`1: "${phrase}": `)];
    expect(check("plants.md", `${sentence}\n`)).toEqual(expected);
    expect(check("plants.ts", `// ${sentence}`)).toEqual(expected);
    expect(check("plants.ts", `f("A plant and a fern. ${sentence}");`)).toEqual(expected);
  });
});

describe("the check of prose accepts", () => {
  it.each([
    ["a question", "plants.md", "What is a plant?\n"],
    ["no more than a number", "plants.md", "It has no more than two plants.\n"],
    ["a phrase in a span of code", "plants.md", "Run `nobody --anew` and\n`in place\nof`.\n"],
    ["a quoted phrase", "plants.md", 'It prints "nobody".\n'],
    ["a phrase in a block of code", "plants.md", "```sh\nnobody\n```\n\n~~~\nnobody\n~~~\n"],
    ["a phrase in a block that does not end", "plants.md", "```sh\nnobody\n"],
    ["a phrase in a block inside a list", "plants.md", "- fern\n\n  ```sh\n  nobody\n  ```\n"],
    ["a phrase in indented code", "plants.md", "Run this:\n\n    nobody\n\nA fern.\n"],
    ["a phrase in the code of a comment", "plants.ts", "/**\n * Run this:\n *\n *     nobody\n */"],
    ["a heading", "plants.md", "## What it writes\n"],
    ["a name", "plants.ts", "/** See {@link nobody}. */\nfunction nobody() {}"],
    ["a string of a few words", "plants.ts", 'f("nobody", "id -u nobody");'],
    ["SQL", "plants.ts", 'f("SELECT id FROM plants beside others WHERE name = nobody");'],
    ["two sentences of 30 words", "plants.md", `${words(30)}. ${words(30)}.\n`],
    ["two items of 30 words", "plants.md", `- ${words(30)}\n- ${words(30)}\n`],
    ["two cells of 30 words", "plants.md", `| ${words(30)} | ${words(30)} |\n`],
  ])("%s", (_, path, source) => {
    expect(check(path, source)).toEqual([]);
  });
});
