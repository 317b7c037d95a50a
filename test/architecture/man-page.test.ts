/** The manual pages contain every command, option and variable of the command line, and every topic. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { toManPage } from "../../.build/man-page.ts";
import { toTopicPage } from "../../.build/topic-page.ts";
import type { Command } from "../../src/cli/command.ts";
import { listTopics } from "../../src/cli/commands/help/topics.ts";
import { plantstoreCommand } from "../../src/cli/commands/plantstore.ts";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import { commonFlags, settings } from "../../src/cli/options.ts";
import { findRoffCheckers } from "../helpers/roff-checkers.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const written = await readFile(join(root, "dist/plantstore.1"), "utf8");
/** The text without escapes. */
const text = written
  .replaceAll(String.raw`\-`, "-")
  .replaceAll(String.raw`\(ti`, "~")
  .replaceAll(String.raw`\(aq`, "'")
  .replaceAll(String.raw`\(dq`, '"');

function listCommands(
  { commands = [] }: Command,
  prefix = "plantstore",
): readonly { readonly name: string; readonly command: Command }[] {
  return commands.flatMap((command) => {
    const name = `${prefix} ${command.name}`;
    if (command.isHidden) return [];
    return command.commands === undefined ? [{ name, command }] : listCommands(command, name);
  });
}

const commands = listCommands(plantstoreCommand);

it("npm links the page of the command and of every topic of the manual", async () => {
  // A list is the one form that npm links.
  const files = await readdir(join(root, "src/manual"));
  const topics = files.filter((file) => file.endsWith(".md"));
  const pages = topics.toSorted().map((file) => `dist/plantstore-${file.replace(".md", ".7")}`);
  expect(manifest.man).toEqual(["dist/plantstore.1", ...pages]);
});

it("the manual page is generated from the declared commands", () => {
  expect(written).toBe(toManPage(plantstoreCommand, listTopics()));
});

describe.each(commands)("$name", ({ name, command }) => {
  const [, part = ""] = text.split(`\n.SS ${name} `);
  const [section = ""] = part.split(/\n\.S[SH] /);

  it("has a section with each of its options and arguments", () => {
    const { arguments: args = [], options = {} } = command;
    const terms = [...section.matchAll(/^\.TP\n\.B (.*)$/gm)].map(([, term]) => term);
    expect(terms).toEqual([
      ...args.map(({ name: argument }) => argument.replaceAll(/[^\w-]/g, "")),
      ...Object.values(options).map(({ flags }) => flags),
      ...commonFlags.map(([flags]) => flags),
    ]);
  });

  it("has an example", () => {
    expect(section).toMatch(/\.nf\n(?:[^\n]*\n)*?[^\n]*plantstore /);
  });
});

it("has examples that fit on a terminal of 80 columns", () => {
  const examples = [...text.matchAll(/^\.nf\n([^]*?)^\.fi$/gm)].flatMap(([, lines = ""]) =>
    lines.trimEnd().split("\n"),
  );
  expect(examples.length).toBeGreaterThan(commands.length);
  // They are indented by 11 columns.
  expect(examples.filter((line) => line.length > 80 - 11)).toEqual([]);
});

it.each(Object.values(settings))("names $env among the environment", ({ env }) => {
  const [, environment = ""] = text.split("\n.SH ENVIRONMENT\n");
  expect(environment).toContain(`\n.B ${env}\n`);
});

it("names every type of store in the description of PLANTSTORE_STORE", () => {
  expect(text).toContain(
    "\n.B PLANTSTORE_STORE\nStore of plants: sqlite:PATH, postgres:// or memory: (--store)\n",
  );
});

it.each(["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE", "PLANTSTORE_CONFIG_DIR", "NO_COLOR"])(
  "names %s among the environment",
  (variable) => {
    const [, environment = ""] = text.split("\n.SH ENVIRONMENT\n");
    expect(environment).toMatch(new RegExp(`\n\\.B .*\\b${variable}\\b`));
  },
);

it.each(Object.values(exitCodes))("names exit code $code", ({ code, meaning }) => {
  expect(text).toContain(`\n.TP\n.B ${code}\n${meaning}\n`);
});

it("names the files", () => {
  expect(text).toContain("\n.B ~/.local/share/plantstore/plants.db\n");
  expect(text).toContain("\n.B ~/.config/plantstore/settings.json\n");
});

describe.each(findRoffCheckers())("%s", (name, args) => {
  it.each(manifest.man)("finds no mistake in %s", async (page) => {
    const { stdout, stderr } = await promisify(execFile)(name, [...args, join(root, page)]);
    expect(stdout + stderr).toBe("");
  });
});

describe("the page of a topic", () => {
  const toBody = (markdown: string): string =>
    toTopicPage("example", `# An example\n\n${markdown}`)
      .replace(/^[^]*\n\.SH DESCRIPTION\n/, "")
      .replace(/\.SH SEE ALSO\n[^]*$/, "");

  it("names the topic and its title", () => {
    expect(toTopicPage("example", "# An example\n")).toContain(
      "\n.SH NAME\nplantstore\\-example \\- An example\n",
    );
  });

  it.each([
    ["a paragraph", "One\ntwo.", ".PP\nOne two.\n"],
    ["a line that starts with a dot", ".a", ".PP\n\\&.a\n"],
    ["headings", "## Two\n\n### Three", ".SH Two\n.SS Three\n"],
    ["code", "    a --b\n    .c", ".PP\n.RS 4\n.nf\na \\-\\-b\n\\&.c\n.fi\n.RE\n"],
    ["a block of code", "```sh\na\n```", ".PP\n.RS 4\n.nf\na\n.fi\n.RE\n"],
    ["fonts", "**a `b` c** *d*", ".PP\n\\fBa \\fBb\\fB c\\fR \\fId\\fR\n"],
    ["a list", "- a\n- b", ".IP \\(bu 2\na\n.IP \\(bu 2\nb\n"],
    ["an ordered list", "3. a\n4. b", ".IP 3. 4\na\n.IP 4. 4\nb\n"],
    ["a nested list", "- a\n  - b", ".IP \\(bu 2\na\n.RS\n.IP \\(bu 2\nb\n.RE\n"],
    ["a table of two columns", "| a | b |\n|---|---|\n| `c` | d |", ".TP\n\\fBc\\fR\nd\n"],
    [
      "a table of three columns",
      "| a | b | c |\n|---|---|---|\n| d | e | f |",
      ".TP\nd\nb: e\n.br\nc: f\n",
    ],
    ["a link to a topic", "See [it](storage.md#a).", ".PP\nSee \\fBplantstore\\-storage\\fR(7).\n"],
    ["a link to a heading", "See [it](#a).", ".PP\nSee it.\n"],
    ["a link", "See [it](http://a.b/).", ".PP\nSee it (http://a.b/).\n"],
  ])("contains %s", (_, markdown, roff) => {
    expect(toBody(markdown)).toBe(roff);
  });

  it.each([
    ["HTML", "<b>a</b>"],
    ["a picture", "![a](b.png)"],
    ["a quotation", "> a"],
    ["a heading that is too deep", "#### a"],
    ["a rule", "---"],
  ])("rejects %s", (_, markdown) => {
    expect(() => toBody(markdown)).toThrow(/no counterpart|expected a heading of depth 2 or 3/);
  });

  it("rejects a topic without a title", () => {
    expect(() => toTopicPage("example", "One.\n")).toThrow("expected a heading");
  });
});
