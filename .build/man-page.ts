/** Writes the manual pages. That of the command is made from the declarations of the commands: roff with the macros of man(7). */
import { writeFileSync } from "node:fs";
import {
  type Command,
  type Item,
  listValueSources,
  toExitCodeItems,
  toParagraphs,
} from "../src/cli/command.ts";
import { listTopics, readTopic } from "../src/cli/commands/help/topics.ts";
import { plantstoreCommand } from "../src/cli/commands/plantstore.ts";
import { findConfigDirectory, findDataDirectory } from "../src/cli/config/directories.ts";
import { exitCodes } from "../src/cli/exit-codes.ts";
import {
  commonFlags,
  type Option,
  otherVariables,
  settings,
  toLongFlag,
} from "../src/cli/options.ts";
import { packageVersion } from "../src/cli/version.ts";
import { escape, toBlock } from "./roff.ts";
import { toTopicPage } from "./topic-page.ts";

/** A command and the words that call it. */
interface Entry {
  readonly name: string;
  readonly command: Command;
}

/** Writes the page of the command, and a page for each topic of the manual. */
export function writeManPages(directory: string): void {
  const topics = listTopics();
  writeFileSync(`${directory}/plantstore.1`, toManPage(plantstoreCommand, topics));
  for (const topic of topics) {
    const page = toTopicPage(topic, readTopic(topic) ?? "");
    writeFileSync(`${directory}/plantstore-${topic}.7`, page);
  }
}

/**
 * The page of `plantstore`, with a section for each command.
 *
 * @param topics the names of the topics of the manual
 */
export function toManPage(program: Command, topics: readonly string[]): string {
  const entries = listEntries(program);
  return [
    `.TH PLANTSTORE 1 "" "plantstore ${packageVersion}" "User Commands"`,
    // No hyphens and no wide gaps in the names of options.
    ".nh",
    ".ad l",
    ".SH NAME",
    `${program.name} \\- ${escape(program.summary.toLowerCase())}`,
    ".SH SYNOPSIS",
    ...entries.map((entry) => `.B ${escape(entry.name)}\n${escape(toUsage(entry))}\n.br`),
    ".SH DESCRIPTION",
    ...toText(program.description),
    ...toList(entries.map(({ name, command }) => [name, command.summary])),
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
    ...(topics.length === 0
      ? []
      : [
          ".SH TOPICS",
          ...toList(topics.map((topic) => [`plantstore help ${topic}`, `plantstore-${topic}(7)`])),
        ]),
    ".SH SEE ALSO",
    ".BR curl (1),\n.BR jq (1),\n.BR sqlite3 (1)",
    "",
  ].join("\n");
}

/** The commands below a command, in the order of help. */
function listEntries({ commands = [] }: Command, prefix = "plantstore"): readonly Entry[] {
  return commands.flatMap((command): readonly Entry[] => {
    const name = `${prefix} ${command.name}`;
    if (command.isHidden) return [];
    return command.commands === undefined ? [{ name, command }] : listEntries(command, name);
  });
}

function toUsage({ command: { arguments: args = [] } }: Entry): string {
  return ["[options]", ...args.map(({ name }) => name)].join(" ");
}

function toSection(entry: Entry): readonly string[] {
  const { name, command } = entry;
  const { arguments: args = [], options = {} } = command;
  const codes = toExitCodeItems(command).map(([code]) => code);
  return [
    `.SS ${escape(name)} ${escape(toUsage(entry))}`,
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
  const place = { env: {}, platform: "linux", homeDirectory: "~" } as const;
  const config = findConfigDirectory(place);
  return [
    [`${findDataDirectory(place)}/plants.db`, "The store"],
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
