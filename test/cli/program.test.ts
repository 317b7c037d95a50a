/** The command tree: what each of its options takes. */
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProcessIo } from "../../src/cli/io.ts";
import { createProgram } from "../../src/cli/program/program.ts";
import { runCli } from "../helpers/run-cli.ts";

interface GivenOption {
  /** The command, its operands and the option. */
  readonly argv: readonly string[];
  readonly isRepeatable: boolean;
}

/** Each option that help names, once. */
function listOptions(command: Command, words: readonly string[] = []): GivenOption[] {
  const operands = command.registeredArguments.flatMap((each) => (each.required ? ["1"] : []));
  const own = command.options.flatMap(({ long, required, hidden }): GivenOption[] => {
    if (hidden || long === undefined || long === "--version") return [];
    const isRepeatable = !required || long === "--cors-origin";
    return [{ argv: [...words, ...operands, long, ...(required ? ["1"] : [])], isRepeatable }];
  });
  const isRun = command.commands.length === 0;
  return [
    ...(isRun ? own : []),
    ...command.commands.flatMap((each) => listOptions(each, [...words, each.name()])),
  ];
}

/** @returns whether the command would be run */
async function parse(argv: readonly string[]): Promise<boolean> {
  let isRun = false;
  const program = createProgram(createProcessIo(), { exitCode: 0 });
  const setAction = (command: Command): void => {
    if (command.commands.length === 0) command.action(() => void (isRun = true));
    else for (const each of command.commands) setAction(each);
  };
  setAction(program);
  await program.parseAsync(argv, { from: "user" });
  return isRun;
}

const options = listOptions(createProgram(createProcessIo(), { exitCode: 0 }));
const withValue = options.filter(({ isRepeatable }) => !isRepeatable);

describe("an option", () => {
  it.each(options)("is taken once: $argv", async ({ argv }) => {
    expect(await parse(argv)).toBe(true);
  });

  it.each(options.filter(({ isRepeatable }) => isRepeatable))(
    "that has no value, or several, may be repeated: $argv",
    async ({ argv }) => {
      expect(
        await parse([...argv, ...argv.slice(argv.findIndex((word) => word.startsWith("--")))]),
      ).toBe(true);
    },
  );

  it.each(withValue)("that has one value may not: $argv", async ({ argv }) => {
    const flag = argv.at(-2);
    const { exitCode, stderr } = await runCli([...argv, ...argv.slice(-2)]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `error: ${flag} is given twice: leave one of them out\n`,
    });
  });
});
