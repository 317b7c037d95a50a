/** `plantstore config`: all settings with their sources, and the places of files. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { saveSettings, toSettingsFile } from "../../../src/cli/config/saved-settings.ts";
import { settings, toLongFlag } from "../../../src/cli/options.ts";
import { allTerminals, runCli } from "../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

let home: string;
let configDirectory: string;
beforeEach(async () => {
  home = await createTemporaryDirectory();
  configDirectory = join(home, ".config/plantstore");
});

function readLines(stdout: string): readonly Record<string, unknown>[] {
  const lines = stdout.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("config list", () => {
  it("prints every setting of the table with its value and its source", async () => {
    await saveSettings(configDirectory, { url: "http://127.0.0.1:9" });
    const env = { PLANTSTORE_PORT: "8080", PLANTSTORE_HOST: "" };
    const { exitCode, stdout, stderr } = await runCli(["config", "list"], { home, env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const reports = readLines(stdout);
    const flags = Object.values(settings).map((option) => toLongFlag(option.flags));
    expect(reports.map(({ flag }) => flag)).toEqual([...flags, "--token-file"]);
    const find = (wanted: string) => reports.find(({ flag }) => flag === wanted);
    expect(find("--port")).toEqual({
      flag: "--port",
      variable: "PLANTSTORE_PORT",
      value: "8080",
      source: "PLANTSTORE_PORT",
    });
    expect(find("--host")).toMatchObject({ value: "127.0.0.1", source: "the default" });
    expect(find("--url")).toMatchObject({
      value: "http://127.0.0.1:9",
      source: `the url in ${toSettingsFile(configDirectory)}`,
    });
  });

  it.each([80, 40])("fits a terminal of %i columns", async (columns) => {
    const options = { home, terminals: allTerminals, columns };
    const { stdout } = await runCli(["config", "list"], options);
    expect(stdout).toMatch(/^--host +127\.0\.0\.1\s+\(?the\s+default\)?$/m);
    expect(stdout).not.toContain("{");
    const tooLong = stdout.split("\n").filter((line) => line.length > columns);
    // The terminal breaks a path that is longer than a line.
    expect(tooLong.filter((line) => !/\/\S+$/.test(line))).toEqual([]);
  });

  it("reports an invalid setting in its place, and exits with 2", async () => {
    const env = { PLANTSTORE_PORT: "x" };
    const problem = 'PLANTSTORE_PORT must be a whole number from 0 to 65535 (got "x")';
    const piped = await runCli(["config", "list"], { home, env });
    expect(piped.exitCode).toBe(2);
    expect(readLines(piped.stdout)).toContainEqual({
      flag: "--port",
      variable: "PLANTSTORE_PORT",
      problem,
    });
    const shown = await runCli(["config", "list"], {
      home,
      env,
      terminals: allTerminals,
      columns: 200,
    });
    expect(shown.stdout).toContain(`invalid: ${problem}`);
  });

  it("hides the password of a database", async () => {
    const env = { PLANTSTORE_STORE: "postgres://plants:geheim@db.example.org/plants" };
    const { stdout } = await runCli(["config", "list"], { home, env });
    expect(stdout).toContain("db.example.org");
    expect(stdout).not.toContain("geheim");
  });
});

describe("config path", () => {
  it("prints the directories and files with their sources", async () => {
    const data = join(home, "data");
    await mkdir(data);
    const env = { PLANTSTORE_DATA_DIR: data };
    const { exitCode, stdout, stderr } = await runCli(["config", "path"], { home, env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const inConfig = (name: string, path: string) => {
      return { name, path: configDirectory + path, source: "the default", exists: false };
    };
    expect(readLines(stdout)).toEqual([
      inConfig("config", ""),
      inConfig("settings", "/settings.json"),
      inConfig("credentials", "/credentials"),
      { name: "data", path: data, source: "PLANTSTORE_DATA_DIR", exists: true },
      { name: "store", path: `sqlite:${data}/plants.db`, source: "the default" },
    ]);
  });

  it("prints the members of each line in the same order", async () => {
    const { stdout } = await runCli(["config", "path"], { home });
    const names = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/:.*/, ""));
    expect(new Set(names)).toEqual(new Set([`{"name"`]));
  });

  it("prints a table on a terminal, and creates nothing", async () => {
    const { stdout } = await runCli(["config", "path"], {
      home,
      terminals: allTerminals,
      columns: 120,
    });
    expect(stdout).toMatch(/^NAME +PATH +SOURCE\nconfig +\S+ \(missing\) +the default\n/);
    const later = await runCli(["config", "path", "--json"], { home, terminals: allTerminals });
    expect(readLines(later.stdout)[0]).toMatchObject({ name: "config", exists: false });
  });
});

it.each([
  [["config", "get", "port"], /"plantstore config list" shows all settings/],
  [["config", "set", "port", "1"], /set an environment variable or pass a flag/],
])("%j names what to do instead", async (argv, advice) => {
  const { exitCode, stderr } = await runCli(argv);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(advice);
});
