/** Text of the manual for a terminal, made of its Markdown. */
import type { Palette } from "./terminal.ts";

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
