/** The manual page, made of the command tree that also reads the command line: roff with the macros of man(7). */
import type { Command, Option } from "commander";
import { findConfigDirectory, findDataDirectory } from "../src/cli/settings/directories.ts";
import { exitCodes } from "../src/cli/exit-codes.ts";
import { packageVersion } from "../src/cli/version.ts";

type Item = readonly [term: string, meaning: string];

/** Where a text of help is divided: a line that is a heading. */
const heading = /^([A-Z][^\n]*):\n/m;

/**
 * The page of `plantstore`, with a part for each of its commands.
 *
 * @param program the tree
 */
export function toManPage(program: Command): string {
  const { text, examples } = readDescription(program);
  const commands = listCommands(program);
  return [
    `.TH PLANTSTORE 1 "" "plantstore ${packageVersion}" "User Commands"`,
    // Neither hyphens nor wide gaps in the names of options.
    ".nh",
    ".ad l",
    ".SH NAME",
    `plantstore \\- ${escape(toClause(text))}`,
    ".SH SYNOPSIS",
    ...commands.map((command) => `.B ${escape(toName(command))}\n${escape(command.usage())}\n.br`),
    ".SH DESCRIPTION",
    ...toParagraphs(text),
    "What each command is for, by its name:",
    ...toList(commands.map((command) => [toName(command), command.summary()])),
    ".SH EXAMPLES",
    ...toExample(examples),
    ".SH COMMANDS",
    ...commands.flatMap(toSection),
    ".SH EXIT STATUS",
    ...toList(Object.values(exitCodes).map(({ code, meaning }) => [`${code}`, meaning])),
    ".SH ENVIRONMENT",
    "A flag wins over its variable, and that over what was saved. An empty variable counts as none.",
    ...toList(listVariables([program, ...commands])),
    ".SH FILES",
    "On Linux, where nothing else is named:",
    ...toList(listFiles()),
    ".SH SEE ALSO",
    ".BR curl (1),\n.BR jq (1),\n.BR sqlite3 (1)",
    "",
  ].join("\n");
}

/** The commands that do something, each below the one that it belongs to, in the order of help. */
function listCommands(command: Command): readonly Command[] {
  const visible = command.createHelp().visibleCommands(command);
  const own = visible.filter((each) => each.name() !== "help");
  return own.flatMap((each) => (each.commands.length === 0 ? [each] : listCommands(each)));
}

function toName(command: Command): string {
  return command.parent === null ? command.name() : `${toName(command.parent)} ${command.name()}`;
}

function toSection(command: Command): readonly string[] {
  const { text, examples } = readDescription(command);
  const args = command.registeredArguments;
  return [
    `.SS ${escape(toName(command))} ${escape(command.usage())}`,
    ...toParagraphs(text),
    ".PP\nExamples:",
    ...toExample(examples),
    ".PP\nOptions:",
    ...toList(args.map((argument) => [argument.name(), argument.description])),
    ...toList(
      listOptions(command).map(({ flags, description }) => [flags, toSentence(description)]),
    ),
    ...toParagraphs(
      `Exit codes: ${readItems(command, "Exit codes")
        .map(([code]) => code)
        .join(", ")}.`,
    ),
  ];
}

/** The text of a description, and the examples in it. */
function readDescription(command: Command): { readonly text: string; readonly examples: string } {
  const [text = "", , examples = ""] = command.description().split(heading);
  return { text: text.trim(), examples };
}

/** What help says below a heading that begins so. */
function readItems(command: Command, title: string): readonly Item[] {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const parts = help.split(heading);
  const body = parts[parts.findIndex((part) => part.startsWith(title)) + 1] ?? "";
  const items = body.matchAll(/^ {2}(\S+(?: \S+)*) {2,}(\S.*)$/gm);
  return Array.from(items, ([, term = "", meaning = ""]) => [term, meaning]);
}

/** Every variable, once: those of options first. */
function listVariables(commands: readonly Command[]): readonly Item[] {
  const ofOptions = commands.flatMap(listOptions).flatMap(({ long, description }): Item[] => {
    const [, meaning = "", variable] = /^(.*?)\n\(.*\benv: (\w+)\)$/s.exec(description) ?? [];
    return variable === undefined ? [] : [[variable, `${meaning} (${long})`]];
  });
  /** What each of the others means to which commands. */
  const others = new Map<string, Map<string, readonly string[]>>();
  for (const command of commands) {
    for (const [variable, meaning] of readItems(command, "Environment")) {
      const meanings = others.get(variable) ?? new Map<string, readonly string[]>();
      others.set(
        variable,
        meanings.set(meaning, [...(meanings.get(meaning) ?? []), command.name()]),
      );
    }
  }
  others.delete("PLANTSTORE_*");
  const ofOthers = [...others].map(([variable, meanings]): Item => {
    const [first = ""] = meanings.keys();
    const each = [...meanings].map(([meaning, names]) => `${meaning} (${names.join(", ")})`);
    return [variable, meanings.size === 1 ? first : each.join("; ")];
  });
  // Of several meanings the first is the widest: serve also has memory: stores.
  const all = [...ofOptions, ...ofOthers];
  return all.filter(([name], index) => all.findIndex(([other]) => other === name) === index);
}

function listOptions(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

function listFiles(): readonly Item[] {
  const place = { env: {}, platform: "linux", homeDirectory: "~" } as const;
  const config = findConfigDirectory(place);
  return [
    [`${findDataDirectory(place)}/plants.db`, "the store"],
    [`${config}/credentials/`, "saved tokens, a file for each plant store"],
    [`${config}/settings.json`, "the URL of the last login"],
  ];
}

/** A first sentence as the clause that NAME wants. */
function toClause(text: string): string {
  const [sentence = ""] = text.split(/\.(?:\s|$)/);
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

function toSentence(text: string): string {
  return text.replaceAll("\n", " ");
}

function toParagraphs(text: string): readonly string[] {
  return text.split("\n\n").flatMap((paragraph) => [".PP", escape(toSentence(paragraph))]);
}

function toList(items: readonly Item[]): readonly string[] {
  return items.flatMap(([term, meaning]) => [".TP", `.B ${escape(term)}`, escape(meaning)]);
}

/** As it stands, line by line. */
function toExample(text: string): readonly string[] {
  const lines = text.trimEnd().split("\n");
  return [
    ".PP",
    ".RS 4",
    ".nf",
    ...lines.map((line) => escape(line.replace(/^ {2}/, ""))),
    ".fi",
    ".RE",
  ];
}

/** Characters that roff, or the fonts of a terminal, would make something else of (groff_char(7), man-pages(7)). */
const glyphs: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  '"': "\\(dq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};

function escape(text: string): string {
  const escaped = text.replaceAll(/[\\\-'"`^~]|[^\0-\x7F]/gu, (character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    return glyphs[character] ?? `\\[u${codePoint.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
  // At the start of a line it would be a request.
  return escaped.replace(/^\./, "\\&.");
}
