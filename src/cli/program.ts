/** Reads a command line with commander, and runs its command. */
import { Command as Commander, CommanderError, Option as Flag } from "commander";
import { findClosestWord, quoteInput } from "../core/messages.ts";
import { valueSeparator } from "../library/option-types.ts";
import { adviseCommand, CommandError, exitCodes, UsageError } from "./command-error.ts";
import {
  type Command,
  type CommandRow,
  describeDefault,
  type Item,
  loadCommand,
  toExitCodeItems,
  toParagraphs,
} from "./command.ts";
import { helpRow, plantstoreCommand } from "./commands/plantstore.ts";
import { type Io, writeText } from "./io.ts";
import { commonFlags, type Option, versionFlag } from "./options/remote.ts";
import type { Flags } from "./options/values.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { listGuides, listReference, listTopics } from "./topics.ts";

/** Code of the error that ends the parsing for `--version`. */
const versionCode = "commander.version";
/** Longer lines of help are hard to read. */
const maxColumns = 80;
/** With fewer columns beside the flags, the texts are not wrapped. */
const minTextColumns = 20;
const topicNote = '"plantstore help TOPIC" prints a topic.';
/** UTF-16 code units of a message that quotes the command line. */
const maxMessage = 1000;

const [colorFlag, noColorFlag, helpFlag] = commonFlags;

interface ParseState {
  readonly argv: readonly string[];
  readonly io: Io;
  readonly terminal: Terminal;
  readonly program: Command;
  /** Commands that are loaded and declared only before they run. */
  readonly undeclared: Map<Commander, CommandRow>;
  /** Help, which commander prints. */
  output: string;
  exitCode: number;
}

/** @param program the declaration of `plantstore`. @returns the exit code */
export async function runProgram(
  argv: readonly string[],
  io: Io,
  terminal: Terminal,
  program: Command = plantstoreCommand,
): Promise<number> {
  const start = { undeclared: new Map<Commander, CommandRow>(), output: "", exitCode: 0 };
  const state: ParseState = { argv, io, terminal, program, ...start };
  try {
    await createProgram(state).parseAsync(argv, { from: "user" });
    return state.exitCode;
  } catch (error) {
    // Commander throws after it has printed help or the version.
    if (!(error instanceof CommanderError)) throw error;
    const version = async () => `${(await import("./version.ts")).toVersionLine(io)}\n`;
    await writeText(io.stdout, error.code === versionCode ? await version() : state.output);
    return exitCodes.done.code;
  }
}

function createProgram(state: ParseState): Commander {
  const { stdout } = state.io;
  const print = (text: string): void => {
    state.output += text;
  };
  // A terminal that does not report its width has 0 columns.
  const toWidth = (): number => Math.min(stdout.columns || maxColumns, maxColumns);
  const program = new Commander(state.program.name).configureOutput({
    writeOut: print,
    writeErr: print,
    outputError: () => {},
    getOutHelpWidth: toWidth,
    getErrHelpWidth: toWidth,
  });
  program.configureHelp({ minWidthToWrap: minTextColumns });
  declare(program.summary(state.program.summary), state.program, state);
  return program.option(...versionFlag).on("option:version", () => {
    throw new CommanderError(exitCodes.done.code, versionCode, "");
  });
}

async function load(commander: Commander, state: ParseState): Promise<void> {
  const row = state.undeclared.get(commander);
  state.undeclared.delete(commander);
  if (row !== undefined) declare(commander, await loadCommand(row), state);
}

function declare(commander: Commander, command: Command, state: ParseState): void {
  const { commands, environment = [], environmentNote, exitCodesNote } = command;
  const isRoot = commander.parent === null;
  commander
    .description(toParagraphs(command.description).join("\n\n"))
    .addHelpText("after", () =>
      [
        isRoot ? toList("Guides:", listGuides(), undefined, commander) : "",
        isRoot ? toList("Reference:", listReference(), topicNote, commander) : "",
        toList("Environment (empty means unset):", environment, environmentNote, commander),
        toList("Exit codes:", toExitCodeItems(command), exitCodesNote, commander),
        ["\nExamples:", ...command.examples, ""].join("\n  ").trimEnd(),
      ].join(""),
    )
    .showSuggestionAfterError(false)
    .exitOverride((error) => {
      const [word = "-"] = commander.args;
      // Commander prints the help of the group for an unknown command with --help. Without the flag, it throws its error.
      if (error.code === "commander.helpDisplayed" && commands !== undefined && word[0] !== "-") {
        commander.parse([word], { from: "user" });
      }
      throw error.exitCode === 0 || error.code === "commander.help"
        ? error
        : toUsageError(error, commander, command, state.argv);
    });
  const readFlags = declareFlags(commander, command, state.argv);
  // Every command has these flags. Only the help of `plantstore` lists them.
  commander
    .addOption(new Flag(...colorFlag).hideHelp(!isRoot))
    .addOption(new Flag(...noColorFlag).hideHelp(!isRoot))
    .addHelpOption(new Flag(...helpFlag).hideHelp(!isRoot))
    .on("option:color", () => (state.terminal.colorChoice = true))
    .on("option:no-color", () => (state.terminal.colorChoice = false));
  if (commands === undefined) {
    commander.action(() => runCommand(command, commander, readFlags(), state));
    return;
  }
  // Each command reads the flags after its name.
  commander
    .enablePositionalOptions()
    .helpCommand(false)
    .hook("preSubcommand", (_, child) => load(child, state));
  for (const row of commander.parent === null ? commands : [...commands, helpRow]) {
    if (row.group !== undefined) commander.commandsGroup(row.group);
    const child = commander.command(row.name, { hidden: row.isHidden === true });
    for (const argument of row.arguments ?? []) child.argument(argument.name, argument.help);
    state.undeclared.set(child.summary(row.summary), row);
  }
}

/** A list at the end of help, in the format of commander. */
function toList(
  heading: string,
  items: readonly Item[],
  note: string | undefined,
  commander: Commander,
): string {
  if (items.length === 0 && note === undefined) return "";
  const helper = commander.createHelp();
  const helpWidth = commander.configureOutput().getOutHelpWidth?.() ?? maxColumns;
  helper.prepareContext({ helpWidth });
  const width = Math.max(0, ...items.map(([term]) => term.length));
  const lines = items.map(([term, meaning]) => helper.formatItem(term, width, meaning, helper));
  if (note !== undefined) {
    lines.push(helper.boxWrap(note, helpWidth - 2).replaceAll(/^/gm, "  "));
  }
  return `\n${[heading, ...lines].join("\n")}\n`;
}

async function runCommand(
  command: Command,
  commander: Commander,
  flags: Flags,
  state: ParseState,
): Promise<void> {
  const { io, terminal, program } = state;
  const { args: operands } = commander;
  const help = async (words: readonly string[]): Promise<void> => {
    const group = commander.parent ?? commander;
    // A new one, which lists `help` as it lists the others: without its options.
    let found = group.parent === null && words.length === 0 ? createProgram(state) : group;
    for (const word of words) {
      const next = found.commands.find((each) => each.name() === word);
      if (next === undefined) {
        const topics = words.length === 1 ? listTopics().map(([name]) => name) : [];
        const known = [...listNames(found), ...topics];
        const completions = known.filter((name) => name.startsWith(word.toLowerCase()));
        const closest = completions.length === 1 ? completions[0] : findClosestWord(word, known);
        const hints = closest
          ? suggest(`${toCommandPath(found)} help ${closest}`)
          : adviseCommand("List commands and topics", "plantstore help");
        throw new UsageError(`unknown command or topic '${word}'`, hints);
      }
      await load((found = next), state);
    }
    // Its own help() exits with process.exitCode, which is 1 until the end.
    found.outputHelp();
    throw new CommanderError(exitCodes.done.code, "commander.helpDisplayed", "");
  };
  try {
    const exitCode = await command.run?.({ io, terminal, operands, flags, command, program, help });
    if (typeof exitCode === "number") state.exitCode = exitCode;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw wrongUsage(error.message, commander, error.hints);
  }
}

/** Declares the flags of a command. @returns a function that reads those of the command line */
function declareFlags(
  commander: Commander,
  { options = {} }: Command,
  argv: readonly string[],
): () => Flags {
  const names = Object.entries(options).map(([name, option]) => {
    const flag = createFlag(option, commander, argv);
    commander.addOption(flag);
    return [name, flag.attributeName()] as const;
  });
  return () => {
    const given = names.filter(([, each]) => commander.getOptionValueSource(each) === "cli");
    return Object.fromEntries(
      given.map(([name, attribute]) => {
        const value: unknown = commander.getOptionValue(attribute);
        return [name, typeof value === "string" ? value : "1"];
      }),
    );
  };
}

function createFlag(option: Option<unknown>, commander: Commander, argv: readonly string[]): Flag {
  const { flags, help, group, conflicts = [], isRepeatable, isHidden } = option;
  const shownDefault = describeDefault(option);
  const note = shownDefault === undefined ? "" : ` (default: ${shownDefault})`;
  const flag = new Flag(flags, help + note).hideHelp(isHidden === true).conflicts([...conflicts]);
  if (group !== undefined) flag.helpGroup(group);
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

/** The error of commander, or advice for a word or a flag. Never the value of a flag, which may be a token. */
function toUsageError(
  { code, message }: CommanderError,
  commander: Commander,
  { flagAdvice = {}, otherNames = {}, tokenAdvice, operandAdvice }: Command,
  argv: readonly string[],
): CommandError {
  const problem = message.replace(/^error: /, "");
  if (code === "commander.excessArguments") {
    const extra = commander.args[commander.registeredArguments.length];
    const [sentence = `unexpected argument '${extra}': remove it`, ...hints] = operandAdvice ?? [];
    return wrongUsage(sentence, commander, hints);
  }
  if (code === "commander.unknownCommand") {
    const [word = ""] = commander.args;
    const isKnown = Object.hasOwn(otherNames, word);
    const name = isKnown ? otherNames[word] : findClosestWord(word, listNames(commander));
    const hints = name === undefined ? [] : suggest(`${toCommandPath(commander)} ${name}`);
    return wrongUsage(problem, commander, hints);
  }
  if (code !== "commander.unknownOption") return wrongUsage(problem, commander);
  const words = argv.map((word) => word.split("=", 1).join()).filter((word) => word[0] === "-");
  const known = tokenAdvice === undefined ? flagAdvice : { ...flagAdvice, "--token": tokenAdvice };
  const foreign = words.find((word) => Object.hasOwn(known, word));
  if (foreign !== undefined) return wrongUsage(`no '${foreign}': ${known[foreign]}`, commander);
  const names = commander.options.flatMap(({ long, short }) => [long ?? "", short ?? ""]);
  const unknown = words.find((word) => !names.includes(word));
  const closest = unknown && findClosestWord(unknown, names);
  return wrongUsage(problem + (closest ? ` (Did you mean ${closest}?)` : ""), commander);
}

function listNames(commander: Commander): readonly string[] {
  return commander
    .createHelp()
    .visibleCommands(commander)
    .map((each) => each.name());
}

function suggest(command: string): readonly string[] {
  return adviseCommand("Did you mean", command);
}

/** The name of a command with those of its groups. */
function toCommandPath(commander: Commander): string {
  const usage = commander.createHelp().commandUsage(commander);
  return usage.replace(/ \[options\].*/, "");
}

/** The one format of wrong usage: what is wrong, what to do, and where to read more. */
function wrongUsage(
  message: string,
  commander: Commander,
  hints: readonly string[] = [],
): CommandError {
  const help = `See "${toCommandPath(commander)} --help"`;
  return new CommandError("usage", quoteInput(message, maxMessage), { hints: [...hints, help] });
}
