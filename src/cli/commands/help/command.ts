/** The command `help`. */
import type { Command as Commander } from "commander";
import { quoteInput } from "../../../core/messages.ts";
import { CommandError } from "../../command-error.ts";
import type { Candidate, CommandBody } from "../../command.ts";
import { maxMessage, showHelp, toHelpWidth, wrongUsage } from "../../help-page.ts";
import { type Io, type OutputStream, writeText } from "../../io.ts";
import { helpOptions } from "../../options/remote.ts";
import { findSections, listManualFiles, listTopics, readManualFile, readTopic } from "./topics.ts";

/** `plantstore help`. */
export const helpCommand: CommandBody = {
  description:
    'Prints the help of a command, or a topic or another file of the manual. For another word, it names the sections that have it; the word topics lists all with their sections. On a terminal, topics are shown by the program in PAGER. The manual page has all commands: man plantstore, or, since npm 12 links no manual pages, man "$(npm root --global)/plantstore/dist/plantstore.1".',
  options: helpOptions,
  listValues: listCandidates,
  examples: [
    "plantstore help create",
    "plantstore help create --all",
    "plantstore help token issue",
    "plantstore help topics",
    "plantstore help alerts.yaml > alerts.yaml",
  ],
  exitCodes: ["done", "internal", "usage"],
};

async function listCandidates(): Promise<readonly Candidate[]> {
  return [
    ...listTopics().map((value) => ({ value, description: "Topic" })),
    { value: topicList, description: "List of topics" },
    ...listManualFiles().map((value) => ({ value, description: "File of the manual" })),
  ];
}

/**
 * Prints the help of the command, or the topic, that the words name.
 *
 * @param complete loads and declares a command
 * @throws CommandError for unknown words; CommanderError after help
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
      const error = wrongUsage(`unexpected word '${extra}': remove it`, commander);
      throw findWords(words, found !== parent) ?? error;
    }
    if (topic !== undefined) return show(topic, io);
    if (next === undefined && index === 0 && /^\d+$/.test(word)) {
      const { explainErrors } = await import("../explain.ts");
      return writeText(io.stdout, explainErrors([word]));
    }
    if (next === undefined) {
      const error = findWords(words, found !== parent);
      if (error !== undefined) throw error;
      return rejectWord(word, found, index === 0 ? listTopics() : []);
    }
    found = next;
    await complete(found);
  }
  throw showHelp(found);
}

/** The word for the list of topics. */
const topicList = "topics";

/** The topics in Markdown, each with its title and its sections. */
function describeTopics(): string {
  const items = listTopics().map((topic) => {
    const headings = (readTopic(topic) ?? "").match(/^##? .*$/gm) ?? [];
    const [title = topic, ...sections] = headings.map((each) => each.replace(/^#+ /, ""));
    return `- ${topic}: ${[title, sections.join("; ")].filter(Boolean).join(". ")}\n`;
  });
  return `# Topics\n\n${items.join("")}`;
}

/** Finds a topic by its name or a part of it that no other topic has. */
async function findTopic(word: string, stdout: OutputStream): Promise<string | undefined> {
  const names = [...listTopics(), topicList];
  const matches = word.length < 3 ? [] : names.filter((each) => each.includes(word));
  const name = matches.length === 1 ? (matches[0] ?? word) : word;
  const topic = name === topicList ? describeTopics() : readTopic(name);
  if (topic === undefined || !stdout.isTTY) return topic ?? readManualFile(word);
  const { fitMarkdown } = await import("./fit-markdown.ts");
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

/**
 * Finds the sections of the manual that have the words.
 *
 * @param isCommand true if the first word is a command, so that the others may be superfluous
 * @returns the error that names them; undefined if no section has them
 */
function findWords(words: readonly string[], isCommand: boolean): CommandError | undefined {
  const sections = findSections(words.join(" "), isCommand);
  if (sections.length === 0) return undefined;
  const width = Math.max(...sections.map(({ topic }) => topic.length));
  const hints = sections.map(
    ({ topic, heading }) => `  plantstore help ${topic.padEnd(width)}  ${heading}`,
  );
  const message = `no command or topic '${words.join(" ")}'; it is in these topics:`;
  return new CommandError("usage", quoteInput(message, maxMessage), { hints });
}

/** Lets commander report an unknown word, with the closest command or topic. */
async function rejectWord(
  word: string,
  group: Commander,
  topics: readonly string[],
): Promise<void> {
  for (const topic of topics) group.command(topic);
  await group.parseAsync([word], { from: "user" });
}
