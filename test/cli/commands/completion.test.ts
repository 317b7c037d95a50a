import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { completionScripts, filesMarker } from "../../../src/cli/commands/completion.ts";
import { findCommand, loadCommand } from "../../../src/cli/command.ts";
import { plantstoreCommand } from "../../../src/cli/commands/plantstore.ts";
import { commonFlags, toLongFlag } from "../../../src/cli/options/remote.ts";
import { startSession } from "../../helpers/pseudo-terminal.ts";
import { findProgram } from "../../helpers/installed-programs.ts";
import { containing, runCli } from "../../helpers/run-cli.ts";
import { changeStore, createSqliteStore } from "../../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

const run = promisify(execFile);
const binary = fileURLToPath(new URL("../../../bin/plantstore.js", import.meta.url));

async function complete(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { exitCode, stdout, stderr } = await runCli(["__complete", "--", ...words], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.replace(/\t.*/, "")]));
}

describe("what may come next", () => {
  const { commands = [] } = plantstoreCommand;
  const visible = commands.filter(({ isHidden }) => isHidden !== true);

  it("is each command in help, and no hidden one", async () => {
    expect(await complete([""])).toEqual(visible.map(({ name }) => name));
  });

  it.each(visible)("after $name and a dash is each of its options in help", async (row) => {
    const { name, options } = await loadCommand(row);
    const inHelp = Object.values(options ?? {}).filter(({ isHidden }) => isHidden !== true);
    const own = inHelp.map(({ flags }) => toLongFlag(flags));
    const common = commonFlags.map(([flags]) => toLongFlag(flags));
    expect(await complete([name, "-"])).toEqual([...own, ...common]);
  });

  it.each([
    ["the start of a command", ["cr"], ["create"]],
    ["the start of an option", ["serve", "--on"], ["--on-conflict"]],
    ["the value of an option", ["serve", "--on-conflict", ""], ["reject", "replace"]],
    [
      "the value of another option",
      ["serve", "--log-level", ""],
      ["error", "warn", "info", "debug"],
    ],
    ["the format of a log", ["serve", "--log-format", "j"], ["json"]],
    ["a command after help", ["help", "cr"], ["create"]],
    ["a command of a command after help", ["help", "token", "is"], ["issue"]],
    ["the start of a value", ["serve", "--on-conflict", "rej"], ["reject"]],
    ["an argument", ["completion", ""], ["bash", "zsh", "fish"]],
    ["the start of an error number", ["explain", "409"], ["40900"]],
    ["an argument after an option and its value", ["completion", "--color", "b"], ["bash"]],
    ["one argument too many", ["completion", "bash", ""], []],
    ["a value that only the person knows", ["create", "--name", ""], []],
    ["a value that looks like a command", ["create", "--name", "serve", "--i"], ["--id"]],
    ["files", ["create", ""], [filesMarker]],
    ["further files", ["create", "a.json", "b"], [filesMarker]],
    ["the file of a token", ["create", "--token-file", ""], [filesMarker]],
    ["an id", ["get", ""], []],
    ["the name of a token", ["token", "revoke", ""], []],
    ["a second word after explain", ["explain", "40900", ""], []],
    ["a topic after help", ["help", "configu"], ["configuration"]],
    ["a second word after a topic", ["help", "bulk", ""], []],
    ["the URL of a server", ["create", "--url", ""], []],
    ["an unknown command", ["creat", "--no-c"], ["--no-color"]],
  ])("%s", async (_, words, expected) => {
    expect(await complete(words)).toEqual(expected);
  });

  it("after help is each topic", async () => {
    expect(await complete(["help", "tok"])).toEqual(["token", "tokens"]);
  });
});

describe("plantstore completion", () => {
  it.each(Object.entries(completionScripts))("prints the script for %s", async (shell, script) => {
    expect(await runCli(["completion", shell])).toPrint(script);
  });

  it("names the shells when it does not know one", async () => {
    const result = await runCli(["completion", "tcsh"]);
    expect(result).toExit(2, containing('no completion for "tcsh": choose one of bash, zsh, fish'));
    const missing = await runCli(["completion"]);
    expect(missing).toExit(2, containing("error: no shell: choose one of bash, zsh, fish\n"));
  });
});

describe("after token revoke comes a valid token of the store", () => {
  const tokens = [
    { digest: "0", prefix: "pst_0000", name: "ci", issuedAtMs: 1 },
    { digest: "1", prefix: "pst_0001", name: "two", issuedAtMs: 1 },
    { digest: "2", prefix: "pst_0002", name: "two", issuedAtMs: 1 },
    { digest: "3", prefix: "pst_0003", name: "two words", issuedAtMs: 1 },
    { digest: "4", prefix: "pst_0004", name: "old", issuedAtMs: 1, revokedAtMs: 2 },
  ];
  const expected = ["ci", "pst_0001", "pst_0002", "pst_0003"];

  it.each([
    ["in PLANTSTORE_STORE", (store: string) => [[], { PLANTSTORE_STORE: store }] as const],
    ["after --store", (store: string) => [["--store", store], {}] as const],
  ])("%s", async (_what, toArguments) => {
    const url = await createSqliteStore([]);
    await changeStore(url, { tokens });
    const [flags, env] = toArguments(url);
    expect(await complete(["token", "revoke", ...flags, ""], env)).toEqual(expected);
  });

  it("or nothing without a store", async () => {
    const store = `sqlite:${await createTemporaryDirectory()}/plants.db`;
    expect(await complete(["token", "revoke", "--store", store, ""])).toEqual([]);
  });
});

/** Creates a home directory with the command in `bin`. */
async function createHome(): Promise<{ home: string; path: string }> {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, "bin"));
  await symlink(binary, join(home, "bin/plantstore"));
  return { home, path: `${join(home, "bin")}:${process.env["PATH"]}` };
}

it.each([
  ["plantstore cr", ["create"]],
  ["plantstore  serve --on-conflict ", ["reject", "replace"]],
  ["plantstore create ", []],
])("in a real bash, the Tab key after %j offers %j", async (line, expected) => {
  const { home, path } = await createHome();
  const script = `source <(plantstore completion bash)
    COMP_LINE=$1 COMP_POINT=\${#1}
    _plantstore
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { HOME: home, PATH: path };
  const { stdout } = await run("bash", ["--norc", "-ec", script, "bash", line], { env });
  expect(stdout.split("\n").filter((word) => word !== "")).toEqual(expected);
});

describe.runIf(findProgram("fish"))("in a real fish, the Tab key", () => {
  async function pressTab(line: string): Promise<string[]> {
    const { home, path } = await createHome();
    const generated = join(home, "share/fish/generated_completions");
    await mkdir(generated, { recursive: true });
    await writeFile(join(home, "plants.json"), "");
    // As fish makes it from the manual page: every option, for every command.
    await writeFile(join(generated, "plantstore.fish"), "complete -c plantstore -l from-man-page");
    const script = "plantstore completion fish | source; complete --do-complete $argv[1]";
    const { stdout } = await run("fish", ["--no-config", "--command", script, line], {
      cwd: home,
      env: { HOME: home, XDG_DATA_HOME: join(home, "share"), PATH: path },
    });
    const words = stdout.split("\n").map((word) => word.replace(/\t.*/, ""));
    return words.filter((word) => word !== "");
  }

  it("after `create --` offers the options of create in help, and no other", async () => {
    const create = await findCommand(plantstoreCommand, ["create"]);
    const flags = Object.values(create?.options ?? {}).flatMap((option) =>
      option.isHidden === true ? [] : [option.flags],
    );
    const all = [...flags, ...commonFlags.map(([text]) => text)].map(toLongFlag);
    expect(new Set(await pressTab("plantstore create --"))).toEqual(new Set(all));
  });

  it.each([
    ["plantstore cr", ["create"]],
    ["plantstore serve --on-conflict ", ["reject", "replace"]],
    ["plantstore create pl", ["plants.json"]],
    ["plantstore get ", []],
    ["plantstore token revoke ", []],
    ["plantstore explain 40900 ", []],
  ])("after %j offers %j", async (line, expected) => {
    expect(await pressTab(line)).toEqual(expected);
  });
});

describe.runIf(findProgram("zsh"))("in a real zsh, the Tab key", () => {
  /** Types a line and Tab on a terminal. @returns the line after it */
  async function pressTab(line: string, install: string): Promise<string> {
    const { home, path } = await createHome();
    await writeFile(join(home, "plants.json"), "");
    const zshrc = `
      ${install}
      print-line() { print -r -- "$BUFFER" > line.new; mv line.new line }
      zle -N print-line
      bindkey '^I' complete-word '^X' print-line
      PROMPT='ready> '`;
    await writeFile(join(home, ".zshrc"), zshrc);
    const session = startSession("zsh -i", home, { PATH: path });
    await session.saw("ready> ");
    session.type(`${line}\t\u0018`);
    const read = () => readFile(join(home, "line"), "utf8").catch(() => undefined);
    await expect.poll(read).toBeDefined();
    return (await read()) ?? "";
  }

  const sourced = `autoload -Uz compinit; compinit -u -D; source <(plantstore completion zsh)`;

  it.each([
    ["plantstore cr", "plantstore create "],
    ["plantstore serve --on-conflict rep", "plantstore serve --on-conflict replace "],
    ["plantstore create pl", "plantstore create plants.json "],
    ["plantstore create 'pl", "plantstore create 'plants.json' "],
    ["plantstore get ", "plantstore get "],
  ])("after %j makes the line %j", async (line, expected) => {
    expect(await pressTab(line, sourced)).toBe(`${expected}\n`);
  });

  it("works at once as a file in fpath", async () => {
    const install = `mkdir f; plantstore completion zsh > f/_plantstore; fpath=($PWD/f $fpath)
      autoload -Uz compinit; compinit -u -D`;
    expect(await pressTab("plantstore cr", install)).toBe("plantstore create \n");
  });
});
