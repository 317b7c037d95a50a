/** What is read without commander is read as commander reads it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createProcessIo } from "../../src/cli/io.ts";
import { readPlainCommand } from "../../src/cli/plain-command.ts";
import { toParsedArguments } from "../../src/cli/program/help-arguments.ts";
import { createProgram } from "../../src/cli/program/program.ts";

/** A command as commander hands it to its action. */
interface ReadCommand {
  readonly name: string;
  readonly flags: unknown;
  readonly files?: readonly string[];
}

/** @throws CommanderError, CommandError for what is no command line */
async function readWithCommander(argv: readonly string[]): Promise<ReadCommand | undefined> {
  let read: ReadCommand | undefined;
  const program = createProgram(createProcessIo(), { exitCode: 0 });
  for (const command of program.commands) {
    const name = command.name();
    if (name === "create") {
      command.action((files: string[], flags: unknown) => void (read = { name, flags, files }));
    } else {
      command.action((flags: unknown) => void (read = { name, flags }));
    }
  }
  await program.parseAsync(toParsedArguments(argv, program), { from: "user" });
  return read;
}

/** The same, with what commander adds where nothing was given. */
function readPlain(argv: readonly string[]): ReadCommand | undefined {
  const read = readPlainCommand(argv);
  return read?.name === "serve" ? { ...read, flags: { docs: true, ...read.flags } } : read;
}

function listFlags(name: string): { readonly flag: string; readonly isSwitch: boolean }[] {
  const program = createProgram(createProcessIo(), { exitCode: 0 });
  const command = program.commands.find((each) => each.name() === name);
  return (command?.options ?? []).flatMap(({ short, long, required }) =>
    [short, long].flatMap((flag) => (flag ? [{ flag, isSwitch: !required }] : [])),
  );
}

describe.each(["create", "serve"])("%s", (name) => {
  const flags = listFlags(name);
  const value = fc.oneof(
    fc.constantFrom("", "-", "--", "-5", "=", "a=b", "1", "--id", "-q", "help", "x\ny", "-x"),
    fc.string(),
  );
  const flag = fc.constantFrom(...flags.map((each) => each.flag));
  const word = fc.oneof(
    flag.map((each) => [each]),
    fc.tuple(flag, value),
    fc.tuple(flag, value).map(([each, text]) => [`${each}=${text}`]),
    value.map((each) => [each]),
    fc.constantFrom(["--help"], ["-h"], ["--toString", "1"], ["--__proto__", "1"], ["--ID", "1"]),
  );

  it("gets from any arguments what commander would give it, or commander is asked", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 4 }), async (words) => {
        const argv = [name, ...words.flat()];
        const read = readPlain(argv);
        if (read !== undefined) expect(read).toEqual(await readWithCommander(argv));
      }),
      { numRuns: 1000 },
    );
  });

  it("needs no commander for any of its options alone, but for these", () => {
    const others = flags.filter(({ flag: each, isSwitch }) => {
      return readPlainCommand([name, each, ...(isSwitch ? [] : ["1"])]) === undefined;
    });
    expect(others.map((each) => each.flag)).toEqual(
      name === "create"
        ? ["-q", "--token", "--color", "--no-color"]
        : ["--no-docs", "--cors-origin", "--token", "--color", "--no-color"],
    );
  });
});

it.each([
  [["create", "--id", "1", "--name", "fern"], { id: "1", name: "fern" }, []],
  [["create", "--id=-5", "--name=", "--tag", "--name"], { id: "-5", name: "", tag: "--name" }, []],
  [["create", "--many", "a.json", "--token-file", "-"], { many: true, tokenFile: "-" }, ["a.json"]],
  [["create", "-", "b"], {}, ["-", "b"]],
])("%j is read without commander", (argv, flags, files) => {
  expect(readPlainCommand(argv)).toEqual({ name: "create", flags, files });
});

it.each([
  [["create", "--id", "1", "--id", "2"]],
  [["create", "--id"]],
  [["create", "--many=1"]],
  [["create", "--", "--id"]],
  [["create", "--help"]],
  [["create", "--i", "1"]],
  [["serve", "here"]],
  [["--color", "create"]],
  [["list"]],
  [[]],
])("%j is for commander", (argv) => {
  expect(readPlainCommand(argv)).toBeUndefined();
});
