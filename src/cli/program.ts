/** Reads a command line with commander, and runs its command. */
import { existsSync } from "node:fs";
import { Command as Commander, CommanderError, Option as Flag } from "commander";
import { valueSeparator } from "../library/option-types.ts";
import { exitCodes, UsageError } from "./command-error.ts";
import {
  type Command,
  type CommandRow,
  isHelp,
  listValueSources,
  loadCommand,
  toExamples,
  toParagraphs,
} from "./command.ts";
import { helpRow, plantstoreCommand } from "./commands/plantstore.ts";
import {
  allFlag,
  furtherFlags,
  hasShortHelp,
  helpFormat,
  isHelpAsked,
  maxColumns,
  showHelp,
  toHelpEnd,
  toHelpWidth,
  wrongUsage,
} from "./help-page.ts";
import { type Io, writeText } from "./io.ts";
import { commonFlags, type Option, versionFlag } from "./options/remote.ts";
import type { Flags } from "./options/values.ts";
import type { Terminal } from "./terminal/terminal.ts";
import type { CommandLineEnd } from "./usage-advice.ts";

/** Code of the error that ends the reading for `--version`. */
const versionCode = "commander.version";

const [colorFlag, noColorFlag, helpFlag] = commonFlags;

/** A command line that is being read. */
interface Reading {
  readonly argv: readonly string[];
  readonly io: Io;
  readonly terminal: Terminal;
  readonly program: Command;
  /** Commands that are loaded and declared only before they run. */
  readonly undeclared: Map<Commander, CommandRow>;
  /** Help and the version, which commander prints. */
  output: string;
  exitCode: number;
  end?: CommandLineEnd;
}

/**
 * Runs the command of a command line.
 *
 * @param program the declaration of `plantstore`
 * @returns the exit code
 * @throws CommandError for a wrong command line, and every error of the command
 */
export async function runProgram(
  argv: readonly string[],
  io: Io,
  terminal: Terminal,
  program: Command = plantstoreCommand,
): Promise<number> {
  const exitCode = exitCodes.done.code;
  const undeclared = new Map<Commander, CommandRow>();
  const reading: Reading = { argv, io, terminal, program, undeclared, output: "", exitCode };
  try {
    await createProgram(reading).parseAsync(argv, { from: "user" });
    return reading.exitCode;
  } catch (thrown) {
    const error = await toEnd(thrown, reading);
    // Commander throws after it has printed help or the version.
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === versionCode) {
      await writeText(io.stdout, `${(await import("./version.ts")).toVersionLine(io)}\n`);
    } else if (error.exitCode === 0) await writeText(io.stdout, reading.output);
    // The exit code reports the error even if stderr cannot be written.
    else await writeText(io.stderr, reading.output).catch(() => undefined);
    return error.exitCode;
  }
}

/** The error for a command line that commander has rejected; other errors do not change. */
async function toEnd(error: unknown, { end, argv }: Reading): Promise<unknown> {
  if (end === undefined || end.error !== error || end.error.exitCode === 0) return error;
  return (await import("./usage-advice.ts")).toUsageError(end, argv);
}

function createProgram(reading: Reading): Commander {
  const { io } = reading;
  const print = (text: string): void => {
    reading.output += text;
  };
  const program = new Commander(reading.program.name).configureHelp(helpFormat).configureOutput({
    writeOut: print,
    writeErr: print,
    outputError: () => {},
    getOutHelpWidth: () => toHelpWidth(io.stdout),
    getErrHelpWidth: () => toHelpWidth(io.stderr),
  });
  program.addOption(new Flag(allFlag).hideHelp());
  declare(program.summary(reading.program.summary), reading.program, reading);
  return program.option(...versionFlag).on("option:version", () => {
    throw new CommanderError(exitCodes.done.code, versionCode, "");
  });
}

/** Loads and declares a command that is a row in the list of its group so far. */
async function complete(commander: Commander, reading: Reading): Promise<void> {
  const row = reading.undeclared.get(commander);
  reading.undeclared.delete(commander);
  if (row !== undefined) declare(commander, await loadCommand(row), reading);
}

/** Declares a command, and for a group the rows of its commands. */
function declare(commander: Commander, command: Command, reading: Reading): void {
  const { commands, tokenAdvice } = command;
  const paragraphs = toParagraphs(command.description);
  commander
    .description([...paragraphs, toExamples(command)].join("\n\n"))
    .addHelpText(
      "after",
      () => `\n${toHelpEnd(command, commander, reading.argv, toHelpWidth(reading.io.stdout))}`,
    )
    .exitOverride((error) => {
      reading.end = { error, commander, hints: command.hints };
      throw error;
    });
  const flagNames = declareFlags(commander, command, reading.argv);
  if (tokenAdvice !== undefined) rejectTokenFlag(commander, tokenAdvice);
  const [color, noColor] = [new Flag(...colorFlag), new Flag(...noColorFlag)];
  if (hasShortHelp(command, reading.argv)) furtherFlags.add(color).add(noColor);
  commander
    .optionsGroup("Options:")
    .addOption(color)
    .addOption(noColor)
    .on("option:color", () => (reading.terminal.colorChoice = true))
    .on("option:no-color", () => (reading.terminal.colorChoice = false));
  if (commands !== undefined) {
    declareGroup(commander, commands, reading);
    return;
  }
  commander.helpOption(...helpFlag).action(async () => {
    if (isHelp(command)) {
      const { help } = await import("./commands/help/command.ts");
      return help(commander, reading.io, (each) => complete(each, reading));
    }
    return run(command, commander, readFlags(commander, flagNames), reading);
  });
}

/** Declares the commands of a group. Each command reads the flags after its name. */
function declareGroup(commander: Commander, rows: readonly CommandRow[], reading: Reading): void {
  commander
    .enablePositionalOptions()
    .helpCommand(false)
    // An option like others, so that `--help serve` prints help of serve, and `creat --help` is an error.
    .helpOption(false)
    .option(...helpFlag)
    .hook("preSubcommand", async (_, child) => {
      await complete(child, reading);
      if (isHelpAsked(commander) && child.commands.length === 0) throw showHelp(child);
    });
  const isRoot = commander.parent === null;
  for (const row of isRoot ? rows : [...rows, helpRow]) {
    if (row.group !== undefined) commander.commandsGroup(row.group);
    const hidden = row.isHidden === true || (row === helpRow && !isRoot);
    const child = commander.command(row.name, { hidden }).summary(row.summary);
    for (const argument of row.arguments ?? []) child.argument(argument.name, argument.help);
    reading.undeclared.set(child, row);
  }
}

/** Runs a command that commander has read. */
async function run(
  command: Command,
  commander: Commander,
  flags: Flags,
  reading: Reading,
): Promise<void> {
  const { io, terminal, program } = reading;
  const [operand, ...others] = commander.args;
  const isHelpWord = command.name === "create" && operand === "help" && others.length === 0;
  if (isHelpWord && !existsSync(operand)) throw showHelp(commander);
  try {
    const exitCode = await command.run?.({
      io,
      terminal,
      operands: commander.args,
      flags,
      program,
    });
    if (typeof exitCode === "number") reading.exitCode = exitCode;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw wrongUsage(error.message, commander);
  }
}

/** The names of options, each with commander's name for its flag. */
type FlagNames = readonly (readonly [name: string, attribute: string])[];

/** Declares the flags of a command. */
function declareFlags(commander: Commander, command: Command, argv: readonly string[]): FlagNames {
  const { options = {}, isGrouped } = command;
  const isShort = hasShortHelp(command, argv);
  const longest = Math.max(...Object.values(options).map(({ flags }) => flags.length));
  // Help has two spaces before the flags and two after them.
  const noteColumns = maxColumns - longest - 4;
  return Object.entries(options).map(([name, option]) => {
    const flag = createFlag(option, noteColumns, commander, argv);
    if (isGrouped && !isShort && option.group !== undefined) flag.helpGroup(option.group);
    commander.addOption(flag);
    if (isShort && option.isFirst !== true) furtherFlags.add(flag);
    return [name, flag.attributeName()] as const;
  });
}

/** A flag of an option; its help names the default and the environment variable. */
function createFlag(
  option: Option<unknown>,
  noteColumns: number,
  commander: Commander,
  argv: readonly string[],
): Flag {
  const { flags, help: description, isRepeatable } = option;
  const sources = listValueSources(option);
  const line = `(${sources.join(", ")})`;
  const note = line.length <= noteColumns ? line : `(${sources.join(",\n")})`;
  const flag = new Flag(flags, sources.length === 0 ? description : `${description}\n${note}`);
  if (!flag.required) return flag;
  return flag.argParser((value: string, previous: string | undefined) => {
    const joined = `${flag.long}=${value}`;
    if (
      commander.options.some(({ short, long }) => value === short || value === long) &&
      !argv.includes(joined)
    ) {
      const message = `${flag.long} has no value: add one before ${value}, or write ${joined}`;
      throw wrongUsage(message, commander);
    }
    if (previous === undefined) return value;
    if (isRepeatable) return previous + valueSeparator + value;
    throw wrongUsage(`${flag.long} is given twice: remove one of them`, commander);
  });
}

/** The flags of a command line. */
function readFlags(commander: Commander, names: FlagNames): Flags {
  const given = names.filter(
    ([, attribute]) => commander.getOptionValueSource(attribute) === "cli",
  );
  return Object.fromEntries(
    given.map(([name, attribute]) => {
      const value: unknown = commander.getOptionValue(attribute);
      return [name, typeof value === "string" ? value : "1"];
    }),
  );
}

/** Rejects `--token`, because other users of the machine can read command lines. */
function rejectTokenFlag(commander: Commander, advice: string): void {
  commander.addOption(new Flag("--token [token]").hideHelp()).on("option:token", () => {
    throw wrongUsage(
      `there is no --token, because other users of this machine can read its command lines: ${advice}`,
      commander,
    );
  });
}
