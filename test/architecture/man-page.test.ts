/** The manual page contains every command, option and variable of the command line, and the names of the topics. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { listCommands, toManPage } from "../../.build/man-page.ts";
import { listTopics } from "../../src/cli/topics.ts";
import { exitCodes } from "../../src/cli/command-error.ts";
import { commonFlags } from "../../src/cli/options/remote.ts";
import { settings } from "../../src/cli/options/local.ts";
import { findRoffCheckers } from "../helpers/installed-programs.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const written = await readFile(join(root, "dist/plantstore.1"), "utf8");
/** The text without escapes. */
const text = written
  .replaceAll(String.raw`\-`, "-")
  .replaceAll(String.raw`\(ti`, "~")
  .replaceAll(String.raw`\(aq`, "'")
  .replaceAll(String.raw`\(dq`, '"');

const commands = (await listCommands())
  .filter(({ command }) => command.isHidden !== true && command.commands === undefined)
  .map(({ words, command }) => ({ name: ["plantstore", ...words].join(" "), command }));

it("npm links the manual page", () => {
  // A list is the one form that npm links.
  expect(manifest.man).toEqual(["dist/plantstore.1"]);
});

it("the manual page is generated from the declared commands", async () => {
  expect(written).toBe(await toManPage());
});

it("names the topics of the manual", () => {
  const [, section = ""] = /\n\.SH TOPICS\n(.*?)\n\.SH /s.exec(text) ?? [];
  const topics = [...section.matchAll(/^\.TP\n\.B (.*)\n(.*)$/gm)];
  expect(topics.map(([, name, title]) => [name, title])).toEqual(listTopics());
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
  const [, files = ""] = text.split("\n.SH FILES\n");
  expect(files).toContain("\n.B ~/.local/share/plantstore/plants.db\n");
  expect(files).toContain("\n.B ~/.config/plantstore/settings.json\n");
});

describe.each(findRoffCheckers())("%s", (name, args) => {
  it("finds no mistake in the manual page", async () => {
    const page = join(root, "dist/plantstore.1");
    const { stdout, stderr } = await promisify(execFile)(name, [...args, page]);
    expect(stdout + stderr).toBe("");
  });
});
