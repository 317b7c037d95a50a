/** The manual page says what the command line takes. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { toManPage } from "../../.build/man-page.ts";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import { createProcessIo } from "../../src/cli/io.ts";
import { createProgram } from "../../src/cli/program/program.ts";
import { serveSettings } from "../../src/cli/settings/serve-settings.ts";
import { clientSettings } from "../../src/cli/settings/client-settings.ts";
import { manySettings } from "../../src/cli/settings/create-settings.ts";
import { findRoffCheckers } from "../helpers/roff-checkers.ts";

const path = fileURLToPath(new URL(`../../${manifest.man.join()}`, import.meta.url));
const written = await readFile(path, "utf8");
const program = createProgram(createProcessIo(), { exitCode: 0 });
/** As it is read: without the escapes. */
const text = written
  .replaceAll(String.raw`\-`, "-")
  .replaceAll(String.raw`\(ti`, "~")
  .replaceAll(String.raw`\(aq`, "'")
  .replaceAll(String.raw`\(dq`, '"');

function listCommands(command: Command): readonly Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible.flatMap((each) => [each, ...listCommands(each)]);
}

function toName(command: Command): string {
  return command.parent === null ? "plantstore" : `${toName(command.parent)} ${command.name()}`;
}

const commands = listCommands(program).filter(
  (command) => command.name() !== "help" && command.commands.length === 0,
);

it("is named by the package in the one form that npm links, which is a list", () => {
  expect(manifest.man).toEqual(["dist/plantstore.1"]);
});

it("is the one that the command tree makes", () => {
  expect(written).toBe(toManPage(program));
});

describe.each(commands.map((command) => ({ name: toName(command), command })))(
  "$name",
  ({ name, command }) => {
    const [, part = ""] = text.split(`\n.SS ${name} `);
    const [section = ""] = part.split(/\n\.S[SH] /);

    it("has a part of its own, with each of its options and arguments", () => {
      const { registeredArguments } = command;
      const options = command.createHelp().visibleOptions(command);
      const terms = [...section.matchAll(/^\.TP\n\.B (.*)$/gm)].map(([, term]) => term);
      expect(terms).toEqual([
        ...registeredArguments.map((argument) => argument.name()),
        ...options.map(({ flags }) => flags),
      ]);
    });

    it("has an example", () => {
      expect(section).toMatch(/\.nf\n(?:[^\n]*\n)*?[^\n]*plantstore /);
    });
  },
);

it("has examples that a terminal of 80 columns does not break", () => {
  const examples = [...text.matchAll(/^\.nf\n([^]*?)^\.fi$/gm)].flatMap(([, lines = ""]) =>
    lines.trimEnd().split("\n"),
  );
  expect(examples.length).toBeGreaterThan(commands.length);
  // They stand 11 columns to the right.
  expect(examples.filter((line) => line.length > 80 - 11)).toEqual([]);
});

it.each(Object.values({ ...serveSettings, ...clientSettings, ...manySettings }))(
  "names $variable among the environment",
  ({ variable }) => {
    const [, environment = ""] = text.split("\n.SH ENVIRONMENT\n");
    expect(environment).toContain(`\n.B ${variable}\n`);
  },
);

it("names every kind of store where it explains PLANTSTORE_STORE", () => {
  expect(text).toContain(
    "\n.B PLANTSTORE_STORE\nwhere plants are kept: sqlite:PATH, postgres:// or memory: (--store)\n",
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

it.each(findRoffCheckers())("%s finds no mistake", async (name, args) => {
  const { stdout, stderr } = await promisify(execFile)(name, [...args, path]);
  expect(stdout + stderr).toBe("");
});
