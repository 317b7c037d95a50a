/** The flags of every command, as the command line reads them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listCommands } from "../../../.build/man-page.ts";
import { type Command, type CommandRow, loadCommand } from "../../../src/cli/command.ts";
import { plantstoreCommand } from "../../../src/cli/commands/plantstore.ts";
import { createProcessIo } from "../../../src/cli/io.ts";
import { commonFlags, toLongFlag } from "../../../src/cli/options/remote.ts";
import { settings } from "../../../src/cli/options/local.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { Terminal } from "../../../src/cli/terminal/terminal.ts";
import { root } from "../../helpers/run.ts";
import { runCli } from "../../helpers/run-cli.ts";

interface GivenOption {
  /** The command, its operands and the flag, with a value if it needs one. */
  readonly argv: readonly string[];
  readonly isRepeatable: boolean;
}

/** Every flag in help of a command, once. */
function listOptions(words: readonly string[], command: Command): readonly GivenOption[] {
  const { arguments: args = [], options = {} } = command;
  const operands = args.flatMap(({ name }) => (name.startsWith("<") ? ["1"] : []));
  const rows = Object.values(options);
  const flags = [
    ...rows.map((row) => ({ flags: row.flags, isRepeatable: row.isRepeatable === true })),
    ...commonFlags.slice(0, 2).map(([text]) => ({ flags: text, isRepeatable: true })),
  ];
  return flags.map(({ flags: text, isRepeatable }): GivenOption => {
    const hasValue = text.endsWith(">");
    const argv = [...words, ...operands, toLongFlag(text), ...(hasValue ? ["1"] : [])];
    return { argv, isRepeatable: isRepeatable || !hasValue };
  });
}

// One for all runs: each one listens to the streams of the process.
const io = createProcessIo();

/** @returns whether the command would run */
async function isRun(argv: readonly string[]): Promise<boolean> {
  let result = false;
  const replaceRun = (command: Command): Command => ({
    ...command,
    ...(command.commands && { commands: command.commands.map(replaceLoad) }),
    ...(command.run && {
      async run() {
        result = true;
        return 0;
      },
    }),
  });
  const replaceLoad = (row: CommandRow): CommandRow => ({
    ...row,
    load: async () => replaceRun(await loadCommand(row)),
  });
  await runProgram(argv, io, new Terminal(io), replaceRun(plantstoreCommand));
  return result;
}

const commands = await listCommands();
const options = commands.flatMap(({ words, command }) =>
  command.run === undefined ? [] : listOptions(words, command),
);
const withOneValue = options.filter(({ isRepeatable }) => !isRepeatable);

/** Lists the names that the sources read, without the tables of options. */
function listNamesInUse(): ReadonlySet<string> {
  const src = join(root, "src");
  const isTable = (path: string): boolean =>
    /^(?:cli[\\/]options|library)[\\/](?:local|remote|values|[\w-]+-options|option-types)\.ts$/.test(
      path,
    );
  const texts = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !isTable(path))
    .map((path) => readFileSync(join(src, path), "utf8").replace(/\/\*[^]*?\*\/|\/\/.*$/gm, ""));
  return new Set(texts.flatMap((text) => text.match(/\w+/g) ?? []));
}

it("has no option that nothing reads", () => {
  const names = commands.flatMap(({ command }) => Object.keys(command.options ?? {}));
  const inUse = listNamesInUse();
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => !inUse.has(name))).toEqual([]);
});

describe("an option", () => {
  it.each(options)("can be given once: $argv", async ({ argv }) => {
    expect(await isRun(argv)).toBe(true);
  });

  it.each(options.filter(({ isRepeatable }) => isRepeatable))(
    "without a value, or with several, can be repeated: $argv",
    async ({ argv }) => {
      const flag = argv.findIndex((word) => word.startsWith("--"));
      expect(await isRun([...argv, ...argv.slice(flag)])).toBe(true);
    },
  );

  it.each(withOneValue)("with one value cannot be repeated: $argv", async ({ argv }) => {
    expect(await runCli([...argv, ...argv.slice(-2)])).toExit(
      2,
      new RegExp(`^error: ${argv.at(-2)} is given twice: remove one of them\n`),
    );
  });
});

it.each(Object.values(settings))("$env is named after $flags", ({ env, flags }) => {
  const words = toLongFlag(flags).slice("--".length).replaceAll("-", "_");
  expect(env).toBe(`PLANTSTORE_${words.toUpperCase()}`);
});
