/**
 * Checks the English of comments, of texts in the code, and of the Markdown files: short sentences, and no phrases that are
 * hard to read. Prints each problem and its place.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { TextlintKernel } from "@textlint/kernel";
import markdown from "@textlint/textlint-plugin-markdown";
import type { TextlintRuleModule } from "@textlint/types";
import { SentenceSplitterSyntax, split } from "sentence-splitter";
import ts from "typescript";

const maxWords = 30;

/** Phrases to avoid, and what to write instead. */
const phrases: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /^(?:What(?!.*\?$)|Whoever|Whom|Nobody|Those|That which|Of|Beside|Else)\b/,
    "start with the thing that the sentence is about",
  ],
  [/\b(?:whoever|nobody|somebody)\b/i, "name the user, the client or the operator"],
  [/\bof which\b/i, "write two sentences"],
  [/\bin place of\b/i, '"instead of"'],
  [/\bbeside\b/i, '"next to"'],
  [/\banew\b/i, '"again"'],
  [/\bmends?\b/i, '"repair"'],
  [/\b(?:comes?|came) (?:about|of)\b/i, '"happen"'],
  [/\bis (?:told|said)\b/i, '"is reported"'],
  [/\bpass(?:es|ed)? over\b/i, '"skip"'],
  [/\bat the most\b/i, '"at most"'],
  [/\b(?:no|any) more\b(?! than| \w+s\b)(?=[.,;:]|$)/i, '"no longer", or "not again"'],
  [/\bstands (?:for|in|at|behind|there)\b/i, '"is"'],
  [
    /(?<!there )\b(?:is|are|was|were) no (?!longer|more|less|later)\w+/i,
    '"is not", or "is invalid"',
  ],
  [/\bthere (?:is|are) none\b/i, '"None"'],
];

/** A rule of textlint for long sentences and the phrases above. Each report names the start of the paragraph. */
const plainEnglish: TextlintRuleModule = ({ getSource, report, RuleError }) => ({
  Paragraph(node) {
    // Code and quotes count as one word. The splitter does not end a sentence after a digit.
    const text = getSource(node).replaceAll(/`[^`]*`|"[^"]*"|\d(?=\.\s)/g, "code");
    const sentences = split(text).filter(({ type }) => type === SentenceSplitterSyntax.Sentence);
    for (const problem of sentences.flatMap(({ raw }) => findProblems(raw))) {
      report(node, new RuleError(problem));
    }
  },
});

function findProblems(sentence: string): readonly string[] {
  const problems = phrases.flatMap(([pattern, advice]) => {
    const [found] = pattern.exec(sentence) ?? [];
    return found === undefined ? [] : [`"${found}": ${advice}`];
  });
  const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  if (words <= maxWords) return problems;
  return [...problems, `${words} words in "${sentence.slice(0, 50)}…": at most ${maxWords}`];
}

/** A text in Markdown. */
interface Prose {
  readonly text: string;
  /** Line of its file at which it starts, counted from 1. */
  readonly line: number;
}

const kernel = new TextlintKernel();
const options = {
  ext: ".md",
  plugins: [{ pluginId: "markdown", plugin: markdown.default }],
  rules: [{ ruleId: "plain-english", rule: plainEnglish }],
};

/** Finds the comments of a program, and its strings of several words. */
function readProgram(path: string, source: string): readonly Prose[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const found = new Map<number, Prose>();
  const add = (position: number, text: string): void => {
    const { line } = file.getLineAndCharacterOfPosition(position);
    found.set(position, { text, line: line + 1 });
  };
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of [
      ...(ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.getEnd()) ?? []),
    ]) {
      add(pos, toMarkdown(source.slice(pos, end)));
    }
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const text = ts.isStringLiteralLike(node) ? node.text : toText(node);
      if (isProse(text)) add(node.getStart(), text);
    }
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  return [...found.values()];
}

/** Removes the marks of a comment. Each tag of a doc comment becomes a paragraph. */
function toMarkdown(comment: string): string {
  return comment
    .replace(/\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*(?:\/\/|\/\*\*?|\*)? ?/, ""))
    .join("\n")
    .replaceAll(/(?:^|\s)@(?:param \S+|\w+) ?/g, "\n\n")
    .replaceAll(/\{@link ([^}]+)\}/g, "`$1`");
}

function toText({ head, templateSpans }: ts.TemplateExpression): string {
  return head.text + templateSpans.map(({ literal }) => `X${literal.text}`).join("");
}

/** True for a text of four words or more that is not SQL or a shell script. */
function isProse(text: string): boolean {
  return (
    /(?:[A-Za-z]+[^A-Za-z]+){4}/.test(text) &&
    !/\b(?:SELECT|INSERT|UPDATE|CREATE|ALTER|function|local)\b/.test(text)
  );
}

const paths = execFileSync("git", ["ls-files", "src", "test", "bin", ".build", ".github", "*.md"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => /\.(?:[jt]s|md)$/.test(path));
let count = 0;
for (const path of paths) {
  const source = readFileSync(path, "utf8");
  const texts = path.endsWith(".md") ? [{ text: source, line: 1 }] : readProgram(path, source);
  for (const { text, line } of texts) {
    const { messages } = await kernel.lintText(text, { ...options, filePath: path });
    for (const message of messages) {
      process.stderr.write(
        `${path}:${line + message.loc.start.line - 1} ${message.message.replaceAll("\n", " ")}\n`,
      );
      count++;
    }
  }
}
process.stderr.write(`${count} problems in ${paths.length} files\n`);
process.exitCode = count === 0 ? 0 : 1;
