/** Prints help, and topics of the manual. */
import { type Command as Commander, CommanderError } from "commander";
import { listTopics, readManualFile, readTopic } from "../commands/help/topics.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Io, type OutputStream, writeText } from "../io.ts";
import { wrongUsage } from "./usage.ts";

/** Longer lines of help are hard to read. */
export const maxColumns = 80;

/** Runs `help`: prints the help of a command, or a topic. @throws CommandError for unknown words */
export async function help(commander: Commander, io: Io): Promise<void> {
  const { args: words, parent } = commander;
  let found = parent ?? commander;
  for (const [index, word] of words.entries()) {
    const next = found.commands.find((each) => each.name() === word);
    const topic = index === 0 && next === undefined ? await findTopic(word, io.stdout) : undefined;
    if (words.length > 1 && (topic !== undefined || found.commands.length === 0)) {
      const extra = words[topic === undefined ? index : 1] ?? "";
      throw wrongUsage(`unexpected word '${extra}': remove it`, commander);
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
  const { fitMarkdown } = await import("../commands/help/fit-markdown.ts");
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

/** Lets commander print help. */
export function showHelp(commander: Commander): never {
  commander.outputHelp();
  throw new CommanderError(exitCodes.done.code, "commander.helpDisplayed", "");
}

/** A command in a list of commands: its name and its arguments. */
export function toTerm(commander: Commander): string {
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
