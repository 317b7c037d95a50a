/** Makes the manual page from the declarations of the commands: roff with the macros of man(7). */
import {
  type Command,
  describeDefault,
  type Item,
  loadCommand,
  toExitCodeItems,
  toParagraphs,
} from "../src/cli/command.ts";
import { listTopics } from "../src/cli/topics.ts";
import { plantstoreCommand } from "../src/cli/commands/plantstore.ts";
import { findConfigDirectory, findDataDirectory } from "../src/cli/config/saved-settings.ts";
import { exitCodes } from "../src/cli/command-error.ts";
import { commonFlags, type Option, otherVariables, toLongFlag } from "../src/cli/options/remote.ts";
import { settings } from "../src/cli/options/local.ts";
import { packageVersion } from "../src/cli/version.ts";

/** A command and the words that call it. */
interface Entry {
  readonly words: readonly string[];
  readonly command: Command;
}

/** The page of `plantstore`, with a section for each command. */
export async function toManPage(): Promise<string> {
  const program = plantstoreCommand;
  const entries = (await listCommands()).filter(
    ({ command }) => command.isHidden !== true && command.commands === undefined,
  );
  return [
    `.TH PLANTSTORE 1 "" "plantstore ${packageVersion}" "User Commands"`,
    // No hyphens and no wide gaps in the names of options.
    ".nh",
    ".ad l",
    ".SH NAME",
    `${program.name} \\- ${escape(program.summary.toLowerCase())}`,
    ".SH SYNOPSIS",
    ...entries.map((entry) => `.B ${escape(toName(entry))}\n${escape(toUsage(entry))}\n.br`),
    ".SH DESCRIPTION",
    ...toText(program.description),
    ...toList(entries.map((entry) => [toName(entry), entry.command.summary])),
    ".SH EXAMPLES",
    ...toBlock(program.examples),
    ".SH COMMANDS",
    ...entries.flatMap(toSection),
    ".SH EXIT STATUS",
    ...toList(Object.values(exitCodes).map(({ code, meaning }) => [`${code}`, meaning])),
    ".SH ENVIRONMENT",
    "A flag wins over its variable, which wins over a saved setting. An empty variable counts as unset.",
    ...toList(listVariables(program)),
    ".SH FILES",
    "The defaults on Linux:",
    ...toList(listFiles()),
    ".SH TOPICS",
    '"plantstore help TOPIC" prints a topic of the manual:',
    ...toList(listTopics()),
    ".SH SEE ALSO",
    ".BR curl (1),\n.BR jq (1),\n.BR sqlite3 (1)",
    "",
  ].join("\n");
}

/** Loads all commands of a group, and theirs, in the order of help. */
export async function listCommands(
  { commands = [] }: Command = plantstoreCommand,
  prefix: readonly string[] = [],
): Promise<readonly Entry[]> {
  const entries = commands.map(async (row): Promise<readonly Entry[]> => {
    const words = [...prefix, row.name];
    const command = await loadCommand(row);
    return [{ words, command }, ...(await listCommands(command, words))];
  });
  return (await Promise.all(entries)).flat();
}

function toName({ words }: Entry): string {
  return ["plantstore", ...words].join(" ");
}

function toUsage({ command: { arguments: args = [] } }: Entry): string {
  return ["[options]", ...args.map(({ name }) => name)].join(" ");
}

function toSection(entry: Entry): readonly string[] {
  const { command } = entry;
  const { arguments: args = [], options = {} } = command;
  const codes = toExitCodeItems(command).map(([code]) => code);
  return [
    `.SS ${escape(toName(entry))} ${escape(toUsage(entry))}`,
    ...toText(command.description),
    ".PP\nExamples:",
    ...toBlock(command.examples),
    ".PP\nOptions:",
    ...toList(args.map((argument) => [argument.name.replaceAll(/[^\w-]/g, ""), argument.help])),
    ...toList(Object.values(options).map((option) => [option.flags, describeOption(option)])),
    ...toList(commonFlags),
    ...toText(`Exit codes: ${codes.join(", ")}.`),
  ];
}

function describeOption(option: Option<unknown>): string {
  const sources = listValueSources(option);
  return sources.length === 0 ? option.help : `${option.help} (${sources.join(", ")})`;
}

/** Every variable: those of options first. */
function listVariables({ environment = [] }: Command): readonly Item[] {
  const ofOptions = Object.values(settings).map(({ env = "", help, flags }): Item => [
    env,
    `${help} (${toLongFlag(flags)})`,
  ]);
  return [...ofOptions, ...Object.entries(otherVariables), ...environment];
}

function listFiles(): readonly Item[] {
  const io = { env: {}, platform: "linux", homeDirectory: "~" } as const;
  const config = findConfigDirectory(io);
  return [
    [`${findDataDirectory(io)}/plants.db`, "The store"],
    [`${config}/credentials/`, "Saved tokens: one file for each origin"],
    [`${config}/settings.json`, "The URL of the last login"],
  ];
}

function toText(text: string): readonly string[] {
  return toParagraphs(text).flatMap((paragraph) => [".PP", escape(paragraph)]);
}

function toList(items: readonly Item[]): readonly string[] {
  return items.flatMap(([term, meaning]) => [".TP", `.B ${escape(term)}`, escape(meaning)]);
}

/** Lines that stay as they are, indented. */
function toBlock(lines: readonly string[]): readonly string[] {
  return [".PP", ".RS 4", ".nf", ...lines.map(escape), ".fi", ".RE"];
}

/** Characters that roff or the fonts of a terminal would replace (groff_char(7), man-pages(7)). */
const glyphs: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  '"': "\\(dq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};

/** Escapes text for a line of its own. A line that starts with a dot would be a request. */
function escape(text: string): string {
  const escaped = text.replaceAll(/[\\\-'"`^~]|[^\0-\x7F]/gu, (character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    return glyphs[character] ?? `\\[u${codePoint.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
  return escaped.replace(/^\./, "\\&.");
}

/** The default and the environment variable of an option. */
function listValueSources(option: Option<unknown>): readonly string[] {
  const shownDefault = describeDefault(option);
  return [
    ...(shownDefault === undefined ? [] : [`default: ${shownDefault}`]),
    ...(option.env === undefined ? [] : [`env: ${option.env}`]),
  ];
}
