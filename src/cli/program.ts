/** Reads a command line with commander, and runs its command. */
import { Command as Commander, CommanderError, Option as Flag } from "commander";
import { quoteInput } from "../core/quote.ts";
import { type Command, describeDefault, toExamples, toHelpEnd, toParagraphs } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { helpCommand } from "./commands/help/command.ts";
import { listTopics, readManualFile, readTopic } from "./commands/help/topics.ts";
import { plantstoreCommand } from "./commands/plantstore.ts";
import { exitCodes } from "./exit-codes.ts";
import { type Io, type OutputStream, writeText } from "./io.ts";
import { commonFlags, type Option, toLongFlag, versionFlag } from "./options.ts";
import type { Flags } from "./settings.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { toVersionLine } from "./version.ts";

/** Longer lines of help are hard to read. */
const maxColumns = 80;
const [colorFlag, noColorFlag, helpFlag] = commonFlags;

/** A command line that is being read. */
interface Reading {
  readonly argv: readonly string[];
  readonly io: Io;
  readonly terminal: Terminal;
  readonly program: Command;
  /** Help and the version, which commander prints. */
  output: string;
  exitCode: number;
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
  const reading: Reading = { argv, io, terminal, program, output: "", exitCode };
  try {
    await createProgram(reading).parseAsync(argv, { from: "user" });
    return reading.exitCode;
  } catch (error) {
    // Commander throws after it has printed help or the version.
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) await writeText(io.stdout, reading.output);
    // The exit code reports the error even if stderr cannot be written.
    else await writeText(io.stderr, reading.output).catch(() => undefined);
    return error.exitCode;
  }
}

function createProgram(reading: Reading): Commander {
  const { io } = reading;
  const print = (text: string): void => {
    reading.output += text;
  };
  const program = new Commander(reading.program.name)
    .configureHelp({ subcommandTerm: toTerm, minWidthToWrap: 20 })
    .configureOutput({
      writeOut: print,
      writeErr: print,
      outputError: () => {},
      getOutHelpWidth: () => toHelpWidth(io.stdout),
      getErrHelpWidth: () => toHelpWidth(io.stderr),
    });
  declare(program, reading.program, reading);
  return program.version(toVersionLine(io), ...versionFlag);
}

/** Declares a command, and the commands below it. */
function declare(commander: Commander, command: Command, reading: Reading): void {
  const { arguments: args = [], options = {}, commands, tokenAdvice, isGrouped = false } = command;
  const paragraphs = toParagraphs(command.description);
  commander
    .summary(command.summary)
    .description([...paragraphs, toExamples(command)].join("\n\n"))
    .addHelpText("after", () => `\n${toHelpEnd(command)}`)
    .exitOverride((error) => {
      throw toExit(error, commander, command, reading);
    });
  for (const argument of args) commander.argument(argument.name, argument.help);
  const longest = Math.max(...Object.values(options).map(({ flags: text }) => text.length));
  // Help has two spaces before the flags and two after them.
  const noteColumns = maxColumns - longest - 4;
  const flags = Object.entries(options).map(([name, option]) => {
    const flag = createFlag(option, noteColumns, commander, reading);
    if (isGrouped && option.group !== undefined) flag.helpGroup(option.group);
    commander.addOption(flag);
    return [name, flag.attributeName()] as const;
  });
  if (tokenAdvice !== undefined) rejectTokenFlag(commander, tokenAdvice);
  commander
    .optionsGroup("Options:")
    .option(...colorFlag)
    .option(...noColorFlag)
    .on("option:color", () => (reading.terminal.colorChoice = true))
    .on("option:no-color", () => (reading.terminal.colorChoice = false));
  if (commands !== undefined) {
    declareGroup(commander, commands, reading);
    return;
  }
  commander.helpOption(...helpFlag).action(async () => {
    if (command === helpCommand) await help(commander, reading);
    else await run(command, commander, readFlags(command, commander, flags, reading), reading);
  });
}

/** Declares the commands of a group. Each command reads the flags after its name. */
function declareGroup(commander: Commander, commands: readonly Command[], reading: Reading): void {
  commander
    .enablePositionalOptions()
    .helpCommand(false)
    // An option like others, so that `--help serve` prints help of serve, and `creat --help` is an error.
    .helpOption(false)
    .option(...helpFlag)
    .hook("preSubcommand", (_, child) => {
      if (isHelpAsked(commander) && child.commands.length === 0) showHelp(child);
    });
  const isRoot = commander.parent === null;
  for (const child of isRoot ? commands : [...commands, helpCommand]) {
    if (child.group !== undefined) commander.commandsGroup(child.group);
    const hidden = child.isHidden === true || (child === helpCommand && !isRoot);
    declare(commander.command(child.name, { hidden }), child, reading);
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
  const { args: operands } = commander;
  try {
    const exitCode = await command.run?.({
      io,
      terminal,
      operands,
      flags,
      program,
    });
    if (exitCode !== undefined) reading.exitCode = exitCode;
  } catch (error) {
    throw error instanceof UsageError ? withUsage(error, commander) : error;
  }
}

/** Runs `help`: prints the help of a command, or a topic. @throws CommandError for unknown words */
async function help(commander: Commander, { io }: Reading): Promise<void> {
  const { args: words, parent } = commander;
  let found = parent ?? commander;
  for (const [index, word] of words.entries()) {
    const next = found.commands.find((each) => each.name() === word);
    const topic = index === 0 && next === undefined ? await findTopic(word, io.stdout) : undefined;
    if (words.length > 1 && (topic !== undefined || found.commands.length === 0)) {
      const extra = words[topic === undefined ? index : 1] ?? "";
      throw withUsage(new UsageError(`unexpected word '${extra}': remove it`), commander);
    }
    if (topic !== undefined) return writeText(io.stdout, topic);
    if (next === undefined) return rejectWord(word, found, index === 0 ? listTopics() : []);
    found = next;
  }
  showHelp(found);
}

async function findTopic(name: string, stdout: OutputStream): Promise<string | undefined> {
  const topic = readTopic(name);
  if (topic === undefined || !stdout.isTTY) return topic ?? readManualFile(name);
  const { fitMarkdown } = await import("./commands/help/fit-markdown.ts");
  return fitMarkdown(topic, toHelpWidth(stdout));
}

/** Lets commander report an unknown word, and suggest another one. */
async function rejectWord(
  word: string,
  group: Commander,
  topics: readonly string[],
): Promise<void> {
  for (const topic of topics) group.command(topic);
  await group.parseAsync([word], { from: "user" });
}

function showHelp(commander: Commander): never {
  commander.outputHelp();
  throw new CommanderError(exitCodes.done.code, "commander.helpDisplayed", "");
}

function isHelpAsked(commander: Commander): boolean {
  return commander.optsWithGlobals()["help"] === true;
}

/** The error to throw when commander wants to exit. */
function toExit(
  error: CommanderError,
  commander: Commander,
  { hints = {} }: Command,
  { argv }: Reading,
): Error {
  // After help of a group whose command is missing.
  if (error.code === "commander.help") {
    const isAsked = argv.length === 0 || isHelpAsked(commander);
    const { code } = isAsked ? exitCodes.done : exitCodes.usage;
    return new CommanderError(code, error.code, error.message);
  }
  if (error.exitCode === 0) return error;
  const [problem = "", suggestion = ""] = error.message.replace(/^error: /, "").split("\n");
  const advice = findAdvice(error.code, commander, hints) ?? ` ${suggestion}`.trimEnd();
  return withUsage(new UsageError(problem + advice), commander);
}

/** Advice instead of an unknown command or a misplaced option. */
function findAdvice(
  code: string,
  { args, commands }: Commander,
  hints: Readonly<Record<string, string>>,
): string | undefined {
  const [word = ""] = args;
  if (code === "commander.unknownCommand" && Object.hasOwn(hints, word)) return `: ${hints[word]}`;
  const hasCommand = commands.length > 0 && args.some((each) => !each.startsWith("-"));
  const isMisplaced = code === "commander.unknownOption" && hasCommand;
  return isMisplaced ? "; options of a command follow its name" : undefined;
}

/** The one format of wrong usage: what is wrong, how the command is called, and where to read more. */
function withUsage({ message, cause }: UsageError, commander: Commander): CommandError {
  const usage = commander.createHelp().commandUsage(commander);
  const hints = [`Usage: ${usage}`, `See "${toPath(commander)} --help"`];
  return new CommandError("usage", quoteInput(message, maxMessage), { hints, cause });
}

/** UTF-16 code units of a message that quotes the command line. */
const maxMessage = 1000;

function toPath(commander: Commander): string {
  const { parent } = commander;
  return parent === null ? commander.name() : `${toPath(parent)} ${commander.name()}`;
}

/** A flag of an option; its help names the default and the environment variable. */
function createFlag(
  option: Option<unknown>,
  noteColumns: number,
  commander: Commander,
  { argv }: Reading,
): Flag {
  const { flags, help: description, env, isRepeatable, separator = " " } = option;
  const shownDefault = describeDefault(option);
  const origins = [
    ...(shownDefault === undefined ? [] : [`default: ${shownDefault}`]),
    ...(env === undefined ? [] : [`env: ${env}`]),
  ];
  const line = `(${origins.join(", ")})`;
  const note = line.length <= noteColumns ? line : `(${origins.join(",\n")})`;
  const flag = new Flag(flags, origins.length === 0 ? description : `${description}\n${note}`);
  if (!flag.required) return flag;
  return flag.argParser((value: string, previous: string | undefined) => {
    const joined = `${flag.long}=${value}`;
    if (
      commander.options.some(({ short, long }) => value === short || value === long) &&
      !argv.includes(joined)
    ) {
      const message = `${flag.long} has no value: add one before ${value}, or write ${joined}`;
      throw withUsage(new UsageError(message), commander);
    }
    if (previous === undefined) return value;
    if (isRepeatable) return previous + separator + value;
    const error = new UsageError(`${flag.long} is given twice: remove one of them`);
    throw withUsage(error, commander);
  });
}

/** The flags of a command, and those before it, such as `plantstore --profile prod create`. */
function readFlags(
  command: Command,
  commander: Commander,
  names: Parameters<typeof toFlags>[1],
  { program }: Reading,
): Flags {
  const own = toFlags(commander, names);
  let root = commander;
  while (root.parent !== null) root = root.parent;
  const options = Object.entries(program.options ?? {});
  const outer = toFlags(
    root,
    options.map(([name]) => [name, name]),
  );
  for (const [name, option] of options) {
    if (outer[name] === undefined) continue;
    const flag = toLongFlag(option.flags);
    const isKnown = Object.hasOwn(command.options ?? {}, name);
    const problem = isKnown ? `${flag} is given twice` : `${toPath(commander)} has no ${flag}`;
    if (isKnown && own[name] === undefined) continue;
    throw withUsage(new UsageError(`${problem}: remove it`), commander);
  }
  return { ...own, ...outer };
}

function toFlags(
  commander: Commander,
  names: readonly (readonly [name: string, attribute: string])[],
): Flags {
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
    throw withUsage(
      new UsageError(
        `there is no --token, because other users of this machine can read its command lines: ${advice}`,
      ),
      commander,
    );
  });
}

/** A command in a list of commands: its name and its arguments. */
function toTerm(commander: Commander): string {
  const words = commander.registeredArguments.map((each) => {
    const name = `${each.name()}${each.variadic ? "..." : ""}`;
    return each.required ? `<${name}>` : `[${name}]`;
  });
  return [commander.name(), ...words].join(" ");
}

/** A terminal that does not report its width has 0 columns. */
function toHelpWidth({ columns }: OutputStream): number {
  return Math.min(columns || maxColumns, maxColumns);
}
