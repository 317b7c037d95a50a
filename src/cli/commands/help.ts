/** The command `help`. */
import { commonExitCodes } from "../command-error.ts";
import type { CommandBody, Run } from "../command.ts";
import { writeText } from "../io.ts";
import { listManualFiles, listTopics, readTopic } from "../topics.ts";

export const helpCommand: CommandBody = {
  description:
    'Prints the help of a command, or a topic or another file of the manual. On a terminal, a long topic is shown with PAGER, or less. Without a word, lists the commands and the topics; "topics" lists the topics alone. The manual page has all commands: man plantstore, or, since npm 12 links no manual pages, man "$(npm root --global)/plantstore/dist/plantstore.1".',
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

/** @throws UsageError for an unknown word; CommanderError after the help of a command */
async function runHelp({ operands, io, terminal, help }: Run): Promise<void> {
  const [word = ""] = operands;
  if (operands.length === 1 && word === "topics") {
    const names = listTopics().map(([name]) => `${name}\n`);
    return writeText(io.stdout, names.join(""));
  }
  const text = operands.length === 1 ? readTopic(word) : undefined;
  if (text === undefined) return help(operands);
  const topics = listTopics().map(([name]) => name);
  const isTopic = topics.includes(word.toLowerCase());
  if (!isTopic || io.stdout.isTTY !== true) return writeText(io.stdout, text);
  const { toTerminalText } = await import("../terminal/manual-text.ts");
  const shown = toTerminalText(text, await terminal.loadPalette(io.stdout), topics);
  const isLonger = shown.split("\n").length > (io.stdout.rows ?? Infinity);
  if (!isLonger || !(await io.showPages(shown))) await writeText(io.stdout, shown);
}
