/** Prints help and topics of the manual, and turns wrong usage into errors that name the help. */
import {
  type Command as Commander,
  CommanderError,
  Help,
  type HelpConfiguration,
  type Option as Flag,
} from "commander";
import { findClosestWord, quoteInput } from "../core/messages.ts";
import { CommandError, exitCodes } from "./command-error.ts";
import { type Command, type Item, toExitCodeItems } from "./command.ts";
import { findTopics, listTopics, readManualFile, readTopic } from "./commands/help/topics.ts";
import { type Io, type OutputStream, writeText } from "./io.ts";
import { commonFlags, versionFlag } from "./options/remote.ts";

/** Longer lines of help are hard to read. */
export const maxColumns = 80;

/**
 * Runs `help`: prints the help of a command, or a topic.
 *
 * @param complete loads and declares a command
 * @throws CommandError for unknown words
 */
export async function help(
  commander: Commander,
  io: Io,
  complete: (commander: Commander) => Promise<void>,
): Promise<void> {
  const { args: words, parent } = commander;
  let found = parent ?? commander;
  for (const [index, word] of words.entries()) {
    const next = found.commands.find((each) => each.name() === word);
    const topic = index === 0 && next === undefined ? await findTopic(word, io.stdout) : undefined;
    if (words.length > 1 && (topic !== undefined || found.commands.length === 0)) {
      const extra = words[topic === undefined ? index : 1] ?? "";
      throw wrongUsage(`unexpected word '${extra}': remove it`, commander);
    }
    if (topic !== undefined) return show(topic, io);
    if (next === undefined && index === 0 && /^\d+$/.test(word)) {
      const { explainErrors } = await import("./commands/explain.ts");
      return writeText(io.stdout, explainErrors([word]));
    }
    if (next === undefined) return rejectWord(word, found, index === 0 ? listTopics() : []);
    found = next;
    await complete(found);
  }
  showHelp(found);
}

/** Finds a topic by its name or a part of it that no other topic has. */
async function findTopic(word: string, stdout: OutputStream): Promise<string | undefined> {
  const matches = word.length < 3 ? [] : listTopics().filter((each) => each.includes(word));
  const name = matches.length === 1 ? (matches[0] ?? word) : word;
  const topic = readTopic(name);
  if (topic === undefined || !stdout.isTTY) return topic ?? readManualFile(word);
  const { fitMarkdown } = await import("./commands/help/fit-markdown.ts");
  return fitMarkdown(topic, toHelpWidth(stdout));
}

/** Values of `PAGER` that mean none, as for git. */
const noPagers: readonly (string | undefined)[] = ["", "cat"];

/** Shows text in the pager of the user, or prints it: not on a terminal, without a pager, or if it cannot start. */
async function show(text: string, io: Io): Promise<void> {
  const { PAGER: pager } = io.env;
  const hasPager = io.stdout.isTTY && !noPagers.includes(pager);
  if (!hasPager || !(await io.runPager(text, pager))) await writeText(io.stdout, text);
}

/** Lets commander report an unknown word; {@link toExit} suggests another one. */
async function rejectWord(
  word: string,
  group: Commander,
  topics: readonly string[],
): Promise<void> {
  for (const topic of topics) group.command(topic);
  await group.parseAsync([word], { from: "user" });
}

/** Lets commander print help. */
export function showHelp(commander: Commander): never {
  commander.outputHelp();
  throw new CommanderError(exitCodes.done.code, "commander.helpDisplayed", "");
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
export function toHelpWidth({ columns }: OutputStream): number {
  return Math.min(columns || maxColumns, maxColumns);
}

/** With `--help`, shows every option, variable and exit code. */
export const allFlag = "--all";

/** Checks whether help shows only the options that people use first. */
export function hasShortHelp({ isGrouped }: Command, argv: readonly string[]): boolean {
  return isGrouped === true && !argv.includes(allFlag);
}

/** Flags that help shows only with `--all`. */
export const furtherFlags = new WeakSet<Flag>();

/** Below this width, the meaning of a term is under it. */
const minMeaningWidth = 20;

/** How help looks, where it differs from commander. */
export const helpFormat: HelpConfiguration = {
  subcommandTerm: toTerm,
  minWidthToWrap: minMeaningWidth,
  styleUsage(this: Help, usage) {
    const label = "Usage: ";
    return this.boxWrap(label + usage, this.helpWidth ?? maxColumns).slice(label.length);
  },
  /** Help omits some; suggestions, which have no width, do not. The options of `plantstore` itself are at its end. */
  visibleOptions(this: Help, commander) {
    const flags = Help.prototype.visibleOptions.call(this, commander);
    if (this.helpWidth === undefined) return flags;
    return flags.filter((flag) => commander.parent !== null && !furtherFlags.has(flag));
  },
  formatItem(term, termWidth, meaning, helper) {
    const { helpWidth = maxColumns } = helper;
    if (meaning === "" || helpWidth - termWidth - 4 >= minMeaningWidth) {
      return Help.prototype.formatItem.call(helper, term, termWidth, meaning, helper);
    }
    const lines = helper.boxWrap(meaning.replaceAll("\n", " "), helpWidth - 6).split("\n");
    return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join("\n");
  },
};

/** The lists after the options, wrapped as commander wraps its own. */
export function toHelpEnd(
  command: Command,
  commander: Commander,
  argv: readonly string[],
  helpWidth: number,
): string {
  const { environment = [], environmentNote = "", exitCodesNote = "" } = command;
  const helper = commander.createHelp();
  helper.prepareContext({ helpWidth });
  const isRoot = commander.parent === null;
  const isAll = argv.includes(allFlag);
  const isShort = hasShortHelp(command, argv);
  const lists: string[] = [];
  if (isShort) {
    const note = `${toPath(commander)} --help ${allFlag}`;
    lists.push(toList("More options, and environment variables:", [], note, helper));
  }
  if (isRoot) {
    const note = `${listTopics().join(", ")}\nSee "plantstore help TOPIC".`;
    lists.push(
      toList("Topics:", [], note, helper),
      toList("Options:", rootItems(isAll), "", helper),
    );
  }
  if (environment.length > 0 && (isAll || !(isRoot || isShort))) {
    const heading = "Environment (empty means unset):";
    lists.push(toList(heading, environment, environmentNote, helper));
  }
  if (isAll || !isRoot) {
    lists.push(toList("Exit codes:", toExitCodeItems(command), exitCodesNote, helper));
  }
  return lists.join("\n\n");
}

function rootItems(isAll: boolean): readonly Item[] {
  const [color, noColor, [helpFlags]] = commonFlags;
  return [
    [`${helpFlags} [${allFlag}]`, "Print this help; with --all, all of it"],
    versionFlag,
    ...(isAll ? [color, noColor] : []),
  ];
}

function toList(heading: string, items: readonly Item[], note: string, helper: Help): string {
  const { helpWidth = maxColumns } = helper;
  const width = Math.max(0, ...items.map(([term]) => term.length));
  const lines = items.map(([term, meaning]) => helper.formatItem(term, width, meaning, helper));
  const notes = note === "" ? [] : helper.boxWrap(note, helpWidth - 2).split("\n");
  return [heading, ...lines, ...notes.map((line) => `  ${line}`)].join("\n");
}

/** The error to throw when commander wants to exit. @throws CommanderError after the help of `COMMAND help` */
export function toExit(
  error: CommanderError,
  commander: Commander,
  { hints = {} }: Command,
  argv: readonly string[],
): Error {
  // After help of a group whose command is missing.
  if (error.code === "commander.help") {
    const isAsked = argv.length === 0 || isHelpAsked(commander);
    const { code } = isAsked ? exitCodes.done : exitCodes.usage;
    return new CommanderError(code, error.code, error.message);
  }
  if (error.exitCode === 0) return error;
  const [problem = ""] = error.message.replace(/^error: /, "").split("\n");
  if (error.code === "commander.excessArguments") {
    const extra = commander.args[commander.registeredArguments.length] ?? "";
    if (extra === "help") showHelp(commander);
    const advice = guessValue(extra, commander.createHelp().visibleOptions(commander));
    return wrongUsage(`unexpected argument '${extra}'${advice ?? ": remove it"}`, commander);
  }
  const advice = findAdvice(error, commander, hints);
  const isTopic =
    commander.parent === null && argv.find((each) => !each.startsWith("-")) === "help";
  if (isTopic && error.code === "commander.unknownCommand") {
    const [name = ""] = commander.args;
    const found = findTopics(name).join(", ");
    const text = found ? `topics with this word: ${found}` : `topics: ${listTopics().join(", ")}`;
    if (found || advice === undefined) {
      return wrongUsage(`no command or topic '${name}'; ${text}`, commander);
    }
  }
  return wrongUsage(problem + (advice ?? ""), commander);
}

/** Advice instead of an unknown command or a misplaced option. */
function findAdvice(
  { code, message }: CommanderError,
  commander: Commander,
  hints: Readonly<Record<string, string>>,
): string | undefined {
  const isOption = code === "commander.unknownOption";
  if (!isOption && code !== "commander.unknownCommand") return undefined;
  const { args, commands } = commander;
  const [, flag = ""] = /'(-[^'=]*)/.exec(message) ?? [];
  const word = isOption ? flag : (args[0] ?? "");
  if (Object.hasOwn(hints, word)) return `: ${hints[word]}`;
  const isMisplaced = commands.length > 0 && args.some((each) => !each.startsWith("-"));
  if (isOption && isMisplaced) return "; options of a command follow its name";
  const helper = commander.createHelp();
  if (isOption) return guessFlag(word, helper.visibleOptions(commander));
  const names = helper.visibleCommands(commander).map((each) => each.name());
  return toGuess(findClosestWord(word, names));
}

/** Flags of other programs, with flags or a sentence. The first flag that the command has is suggested. */
const flagSynonyms: Readonly<Record<string, readonly string[]>> = {
  "--key": ["--tls-key"],
  "--cert": ["--tls-cert", "--cacert"],
  "--ca": ["--cacert"],
  "--insecure": ["--cacert"],
  "-k": ["--cacert"],
  "--cors": ["--cors-origin"],
  "--unix": ["--socket"],
  "--listen": ["--host"],
  "--address": ["--host"],
  "--bind": ["--host"],
  "-p": ["--port"],
  "--prefix": ["--base-path"],
  "--workers": ["--reuse-port"],
  "--metrics-port": ["--metrics"],
  "--db": ["--store"],
  "--database": ["--store"],
  "--file": ["--store", "name the file without a flag"],
  "--output": ["> FILE writes the output to a file"],
  "-o": ["> FILE writes the output to a file"],
  "--format": ["--json", "--csv"],
  "--debug": ["--verbose"],
  "--trace": ["--verbose"],
  "-n": ["--limit"],
  "--force": ["--yes", "--on-conflict"],
  "--replace": ["--on-conflict", '"plantstore serve --on-conflict replace" replaces plants'],
  "--upsert": ["--on-conflict", '"plantstore serve --on-conflict replace" replaces plants'],
};

/** Guesses a flag: by a synonym, as the only one that contains the word, or as the closest one. */
function guessFlag(flag: string, options: readonly Flag[]): string | undefined {
  const flags = options.flatMap(({ long }) => long ?? []);
  const synonyms = Object.hasOwn(flagSynonyms, flag) ? (flagSynonyms[flag] ?? []) : [];
  const synonym = synonyms.find((each) => !each.startsWith("--") || flags.includes(each));
  if (synonym !== undefined) {
    return synonym.startsWith("--") ? toGuess(synonym) : `: ${synonym}`;
  }
  if (!flag.startsWith("--")) return undefined;
  const word = flag.slice(2);
  const [only, ...others] = word.length < 3 ? [] : flags.filter((each) => each.includes(word));
  if (only !== undefined && others.length === 0) return toGuess(only);
  const names = flags.map((each) => each.slice(2));
  const closest = findClosestWord(word, names);
  return closest === undefined ? undefined : toGuess(`--${closest}`);
}

/** Flags by the form of their values. */
const valueFlags: readonly (readonly [RegExp, string])[] = [
  [/^\d+$/, "--port"],
  [/^(https?|unix):/, "--url"],
  [/^(sqlite|postgres(ql)?|memory):|\.db$/, "--store"],
  [/\.(ndjson|jsonl|json|csv|tsv)$/, "--seed"],
  [/^[^-]/, "--name"],
];

/** Guesses the flag that is missing before a value. */
function guessValue(value: string, options: readonly Flag[]): string | undefined {
  const flags = options.map(({ long }) => long);
  const [, flag] =
    valueFlags.find(([form, each]) => form.test(value) && flags.includes(each)) ?? [];
  return flag && toGuess(`${flag} ${value}`);
}

function toGuess(word: string | undefined): string | undefined {
  return word === undefined ? undefined : ` (Did you mean ${word}?)`;
}

/** The one format of wrong usage: what is wrong, how the command is called, and where to read more. */
export function wrongUsage(message: string, commander: Commander): CommandError {
  const usage = commander.createHelp().commandUsage(commander);
  const hints = [`Usage: ${usage}`, `See "${toPath(commander)} --help"`];
  return new CommandError("usage", quoteInput(message, maxMessage), { hints });
}

/** UTF-16 code units of a message that quotes the command line. */
const maxMessage = 1000;

function toPath(commander: Commander): string {
  const { parent } = commander;
  return parent === null ? commander.name() : `${toPath(parent)} ${commander.name()}`;
}

/** Checks whether `--help` was passed to a command or before it. */
export function isHelpAsked(commander: Commander): boolean {
  return commander.optsWithGlobals()["help"] === true;
}
