import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createValueSources } from "../../../src/cli/commands/completion.ts";
import { completionScripts } from "../../../src/cli/completion/scripts.ts";
import { saveToken } from "../../../src/cli/tokens/credentials.ts";
import { createProcessIo } from "../../../src/cli/io.ts";
import { createProgram } from "../../../src/cli/program/program.ts";
import { runCli } from "../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

const run = promisify(execFile);
const binary = fileURLToPath(new URL("../../../bin/plantstore.js", import.meta.url));

async function complete(words: readonly string[], env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = await runCli(["__complete", "--", ...words], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.replace(/\t.*/, "")]));
}

describe("what may come next", () => {
  const program = createProgram(createProcessIo(), { exitCode: 0 });
  const visible = program.createHelp().visibleCommands(program);

  it("is each command of the tree, and none that help does not name", async () => {
    const commands = await complete([""]);
    expect(commands).toEqual(visible.map((command) => command.name()));
    expect(commands).not.toContain("__complete");
  });

  it.each(program.commands.map((command) => ({ name: command.name(), command })))(
    "after $name and a dash is each of its options",
    async ({ name, command }) => {
      const options = command.createHelp().visibleOptions(command);
      expect(await complete([name, "-"])).toEqual(options.map(({ long }) => long));
    },
  );

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
    ["a value after =", ["serve", "--on-conflict=rep"], ["--on-conflict=replace"]],
    ["an argument", ["completion", ""], ["bash", "zsh", "fish"]],
    ["the start of an error number", ["explain", "409"], ["40900"]],
    ["an argument after an option and its value", ["completion", "--color", "b"], ["bash"]],
    ["one argument too many", ["completion", "bash", ""], []],
    ["a value that only the person knows", ["create", "--name", ""], []],
    ["a value that looks like a command", ["create", "--name", "serve", "--i"], ["--id"]],
    ["a file", ["create", ""], []],
    ["what follows --", ["create", "--", "--"], []],
    ["an unknown command", ["creat", "--no-c"], ["--no-color"]],
  ])("%s", async (_, words, expected) => {
    expect(await complete(words)).toEqual(expected);
  });

  it("for --url is each address that a token was saved for", async () => {
    const directory = await createTemporaryDirectory();
    await saveToken(directory, "http://127.0.0.1:7526", "secret");
    await saveToken(directory, "https://plants.example.org", "secret");
    const env = { PLANTSTORE_CONFIG_DIR: directory };
    expect(await complete(["create", "--url", "http"], env)).toEqual([
      "http://127.0.0.1:7526",
      "https://plants.example.org",
    ]);
  });

  it("knows values only for what is in the tree", () => {
    const names = program.commands.flatMap((command) => [
      ...command.options.map(({ long }) => long),
      ...command.registeredArguments.map((argument) => `${command.name()} ${argument.name()}`),
    ]);
    expect(names).toEqual(
      expect.arrayContaining(Object.keys(createValueSources(createProcessIo()))),
    );
  });
});

describe("plantstore completion", () => {
  it.each(Object.entries(completionScripts))("prints the script for %s", async (shell, script) => {
    expect(await runCli(["completion", shell])).toEqual({
      exitCode: 0,
      stdout: script,
      stderr: "",
    });
  });

  it("names the shells when it does not know one", async () => {
    const { exitCode, stdout, stderr } = await runCli(["completion", "tcsh"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain('no completion for "tcsh": choose one of bash, zsh, fish');
  });
});

describe("in a real bash, the Tab key", () => {
  async function pressTab(line: string, env: Record<string, string> = {}): Promise<string[]> {
    const home = await createTemporaryDirectory();
    await mkdir(join(home, "bin"));
    await symlink(binary, join(home, "bin/plantstore"));
    const script = `source <(plantstore completion bash)
      COMP_LINE=$1 COMP_POINT=\${#1}
      _plantstore
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run("bash", ["--norc", "-ec", script, "bash", line], {
      env: { HOME: home, PATH: `${join(home, "bin")}:${process.env["PATH"]}`, ...env },
    });
    return stdout.split("\n").filter((word) => word !== "");
  }

  it.each([
    ["plantstore cr", ["create"]],
    ["plantstore  serve --on-conflict ", ["reject", "replace"]],
    ["plantstore serve --on-conflict=re", ["reject", "replace"]],
    ["plantstore create ", []],
  ])("after %j offers %j", async (line, expected) => {
    expect(await pressTab(line)).toEqual(expected);
  });

  it("completes an address from its last colon on, as bash breaks words there", async () => {
    const directory = await createTemporaryDirectory();
    await saveToken(directory, "http://127.0.0.1:7526", "secret");
    const env = { PLANTSTORE_CONFIG_DIR: directory };
    expect(await pressTab("plantstore create --url http:", env)).toEqual(["//127.0.0.1:7526"]);
  });
});
