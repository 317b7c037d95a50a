/**
 * The README is short, and begins with the first commands of a new user. It and the manual contain the tables of the code,
 * and name and link only existing files, headings and variables.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type * as z from "zod/mini";
import { exitCodes } from "../../src/cli/command-error.ts";
import { helpRow, plantstoreCommand } from "../../src/cli/commands/plantstore.ts";
import { describeDefault } from "../../src/cli/command.ts";
import { contractOperations, operations } from "../../src/core/contract.ts";
import { errorBodySchema, newPlantSchema, plantSchema } from "../../src/core/read-plant.ts";
import { errorKinds, errorTable } from "../../src/core/errors.ts";
import {
  createOptions,
  type Option,
  type Options,
  otherVariables,
  toLongFlag,
} from "../../src/cli/options/remote.ts";
import { serveOptions, settings } from "../../src/cli/options/local.ts";
import { schemaVersion } from "../../src/store/sql-tables.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const topics = readdirSync(join(root, "src/manual")).map((file) => `src/manual/${file}`);
const documents = ["README.md", ...topics];

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

const readme = read("README.md");
const manifest = JSON.parse(read("package.json")) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

/** Reads the cells of the table below a heading, without code marks. */
function readTable(path: string, heading: string): string[][] {
  const [, section = ""] = read(path).split(`\n## ${heading}\n`);
  const [table = ""] = /(?:^\|.*\n)+/m.exec(section) ?? [];
  return table
    .trimEnd()
    .split("\n")
    .slice(2)
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", "")),
    );
}

/** Reads the flags, variables and defaults in the first lines of code below a heading. */
function readDefaults(path: string, heading: string): string[][] {
  const [, section = ""] = read(path).split(`\n## ${heading}\n`);
  const [lines = ""] = /(?:^ {4}--.*\n)+/m.exec(section) ?? [];
  return [...lines.matchAll(/(\S+) +(\S+) *(.*)\n/g)].map(([, ...columns]) => columns);
}

/** Returns the rows that document options with an environment variable. */
function toRows(options: Options): unknown[][] {
  return Object.values(options)
    .filter(({ env }) => env !== undefined)
    .map((option) => [toLongFlag(option.flags), option.env, describeDefault(option) ?? ""]);
}

it("the README begins with the commands that start and test the server", () => {
  const commands = [...readme.matchAll(/```sh\n([^`]+)\n```/g)].map(([, command]) => command);
  expect(commands.slice(0, 2)).toEqual(["npm ci && npm start", "npm ci && npm test"]);
});

it("the README has at most 1,200 words", () => {
  expect(readme.trim().split(/\s+/).length).toBeLessThanOrEqual(1200);
});

it("the README names the versions of Node.js in package.json", () => {
  const ranges = manifest.engines.node.split(" || ").map((range) => {
    const [, kind, version = ""] = /^(\^|>=)([\d.]+)$/.exec(range) ?? [];
    return kind === "^" ? `${version.split(".")[0]} from ${version}` : `from ${version}`;
  });
  const last = ranges.pop();
  const sentence = `You need Node.js ${ranges.join(", ")}, or any version ${last}.`;
  expect(readme.replaceAll("\n", " ")).toContain(sentence);
});

it("the README lists every command, besides help", () => {
  const listed = readTable("README.md", "Commands").flatMap(([names = ""]) => names.split(", "));
  const visible = plantstoreCommand.commands?.filter((row) => !row.isHidden && row !== helpRow);
  expect(listed.toSorted()).toEqual(visible?.map(({ name }) => name).toSorted());
});

describe("the topic configuration", () => {
  const topic = "src/manual/configuration.md";

  it.each<[heading: string, options: Options]>([
    ["Options of `serve`", serveOptions],
    ["Options of clients", createOptions],
  ])("lists the %s with flag and default", (heading, options) => {
    const advice = `correct the lines of ${topic}`;
    expect(readDefaults(topic, heading), advice).toEqual(toRows(options));
  });

  it("derives each variable from its flag", () => {
    const withVariable = Object.values<Option<unknown>>(settings).filter(({ env }) => env);
    for (const { flags, env } of withVariable) {
      const name = toLongFlag(flags).slice(2).replaceAll("-", "_").toUpperCase();
      expect(env).toBe(`PLANTSTORE_${name}`);
    }
  });

  it("lists the exit codes", () => {
    const rows = Object.values(exitCodes).map(({ code, meaning }) => [`${code}`, meaning]);
    expect(readTable(topic, "Exit codes")).toEqual(rows);
  });
});

it("the topic contract lists every member of every schema, and whether it is required", () => {
  const schemas = { NewPlant: newPlantSchema, Plant: plantSchema, Error: errorBodySchema };
  const rows = Object.entries(schemas).flatMap(([schema, { shape }]) =>
    Object.entries<z.ZodMiniType>(shape).map(([member, { _zod }]) => [
      schema,
      member,
      _zod.optin === "optional" ? "no" : "yes",
    ]),
  );
  const table = readTable("src/manual/contract.md", "Given");
  expect(table.map(([schema, member, , required]) => [schema, member, required])).toEqual(rows);
});

it("the topic contract names every operation", () => {
  const contract = read("src/manual/contract.md");
  for (const id of contractOperations.all) {
    expect(contract).toContain(`${operations[id].method} ${operations[id].path}\``);
  }
});

it("the topic storage ends its releases with this one and its store version", () => {
  const releases = readTable("src/manual/storage.md", "Upgrades");
  expect(releases.at(-1)).toEqual([manifest.version, `${schemaVersion}`]);
});

it("each section of the changelog names the version of the store", () => {
  const [, ...sections] = read(".github/CHANGELOG.md").split(/^## /m);
  const unnamed = sections.filter((section) => !/ has version \d+\./.test(section));
  expect(unnamed.map((section) => section.split("\n", 1)[0])).toEqual([]);
  expect(sections[0]).toContain(` has version ${schemaVersion}.`);
});

it("the topic errors lists every error with its number and condition", () => {
  const rows = errorKinds.map((kind) => {
    const { error, when } = errorTable[kind];
    return [`${error}`, when];
  });
  expect(readTable("src/manual/errors.md", "All errors")).toEqual(rows);
});

it.each([...documents, ".containerfile"])("%s names only variables that exist", (path) => {
  const known = [
    ...Object.values(settings).map(({ env }) => env),
    ...Object.keys(otherVariables),
    "PLANTSTORE_COLOR",
  ];
  const named = read(path).match(/PLANTSTORE_[A-Z_]+/g) ?? [];
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

/** Returns the anchor of a heading on GitHub. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(" ", "-");
}

it.each(documents)("%s links only to files and headings that exist", (path) => {
  const links = [...read(path).matchAll(/\]\((?!https?:)([^)]*)\)/g)].map(([, link = ""]) => link);
  const isBroken = (link: string): boolean => {
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? path : join(path, "..", file);
    if (!existsSync(join(root, target))) return true;
    const headings = [...read(target).matchAll(/^#{1,3} (.*)$/gm)].map(([, text = ""]) => text);
    return anchor !== undefined && !headings.map(toAnchor).includes(anchor);
  };
  expect(links.filter(isBroken)).toEqual([]);
});

it("the contract has every heading that a comment cites", () => {
  const headings = [...read("src/manual/contract.md").matchAll(/^## (.*)$/gm)].map(
    ([, text]) => text,
  );
  const programs = ["src", "test"].flatMap((directory) =>
    readdirSync(join(root, directory), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => join(directory, path)),
  );
  const cited = programs.flatMap((path) =>
    [...read(path).matchAll(/contract\.md "([^"\n]+)"/g)].map(([, heading]) => ({ path, heading })),
  );
  expect(cited.length).toBeGreaterThan(10);
  expect(cited.filter(({ heading }) => !headings.includes(heading))).toEqual([]);
});
