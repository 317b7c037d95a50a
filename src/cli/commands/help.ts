/** The command `help`. */
import { commonExitCodes } from "../command-error.ts";
import type { CommandBody, Run } from "../command.ts";
import { writeText } from "../io.ts";
import type { Palette } from "../terminal/terminal.ts";
import { listManualFiles, listTopics, readTopic } from "../topics.ts";

export const helpCommand: CommandBody = {
  description:
    'Prints the help of a command, or a topic or another file of the manual. On a terminal, a long topic is shown with PAGER, or less. Without a word, lists the commands and the topics. The manual page has all commands: man plantstore, or, since npm 12 links no manual pages, man "$(npm root --global)/plantstore/dist/plantstore.1".',
  listValues: async () => [
    ...listTopics(),
    ...listManualFiles().map((name) => [name, "File of the manual"] as const),
  ],
  examples: [
    "plantstore help",
    "plantstore help create",
    "plantstore help token issue",
    "plantstore help configuration",
    "plantstore help alerts.yaml > alerts.yaml",
  ],
  exitCodes: commonExitCodes,
  run: runHelp,
};

/** @throws CommanderError after the help of a command */
async function runHelp({ operands, io, terminal, help }: Run): Promise<void> {
  const [word = ""] = operands;
  const text = operands.length === 1 ? readTopic(word) : undefined;
  if (text === undefined) return help(operands);
  const topics = listTopics().map(([name]) => name);
  const isTopic = topics.includes(word.toLowerCase());
  if (!isTopic || io.stdout.isTTY !== true) return writeText(io.stdout, text);
  const shown = toTerminalText(text, await terminal.loadPalette(io.stdout), topics);
  const isLonger = shown.split("\n").length > (io.stdout.rows ?? Infinity);
  if (!isLonger || !(await io.showPages(shown))) await writeText(io.stdout, shown);
}

/** A link of Markdown, also across the end of a line: its text, and its target without a heading. */
const link = /\[([^\]]+)\]\(([^)#]*)(?:#[^)]*)?\)/g;
/** The name of a topic in the target of a link. */
const topicFile = /([\w-]+)\.md$/;

/**
 * Makes text for a terminal: headings are set off, code is indented, and a link to a topic becomes the words that show it.
 *
 * @param topics the names of all topics
 */
export function toTerminalText(
  markdown: string,
  { bold, dim }: Palette,
  topics: readonly string[],
): string {
  let isFenced = false;
  const lines = withoutLinks(markdown, topics).flatMap((line) => {
    if (line.startsWith("```")) {
      isFenced = !isFenced;
      return [];
    }
    if (isFenced) return line && dim(`    ${line}`);
    if (line.startsWith("    ")) return dim(line);
    const [, marks, heading = ""] = /^(#+) (.*)$/.exec(line) ?? [];
    if (marks === undefined) return line;
    return [bold(heading), (marks === "#" ? "=" : "-").repeat(heading.length)];
  });
  return lines.join("\n");
}

/** Replaces the links outside of code, and splits the text into lines. */
function withoutLinks(markdown: string, topics: readonly string[]): readonly string[] {
  const parts = markdown.split(/(^```[^]*?^```$|^ {4}.*$)/m);
  const texts = parts.map((part, index) =>
    index % 2 === 1
      ? part
      : part.replaceAll(link, (_, text: string, target: string) => {
          const name = topicFile.exec(target)?.[1]?.toLowerCase() ?? "";
          if (topics.includes(name)) {
            return text === name ? `"help ${name}"` : `${text} (help ${name})`;
          }
          return /^https?:/.test(target) ? `${text} (${target})` : text;
        }),
  );
  return texts.join("").split("\n");
}
