/** Finds long sentences and phrases that are hard to read in comments, in texts of the code, and in Markdown. */
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

/** A text and the line at which it starts, counted from 1. */
export interface Prose {
  readonly text: string;
  readonly line: number;
}

/** Finds the problems of a program's comments and strings, or of a Markdown file. */
export function findProblems(path: string, source: string): Prose[] {
  const texts = path.endsWith(".md") ? [{ text: source, line: 1 }] : readProgram(path, source);
  return texts.flatMap(({ text, line }) =>
    readMarkdown(text).flatMap((paragraph) =>
      splitSentences(paragraph.text)
        .flatMap(checkSentence)
        .map((problem) => ({ text: problem, line: line + paragraph.line - 1 })),
    ),
  );
}

/** Finds the comments of a program, and its strings of several words. */
function readProgram(path: string, source: string): Prose[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const found = new Map<number, Prose>();
  const add = (position: number, text: string): void => {
    const { line } = file.getLineAndCharacterOfPosition(position);
    found.set(position, { text, line: line + 1 });
  };
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of [
      ...joinLines(source, ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []),
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

/** Joins comments that begin with two slashes on successive lines. */
function joinLines(source: string, ranges: readonly ts.TextRange[]): ts.TextRange[] {
  const joined: ts.TextRange[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    const isNext = last !== undefined && /^\n *$/.test(source.slice(last.end, range.pos));
    const isLine = [last, range].every((each) => each && source.startsWith("//", each.pos));
    if (isNext && isLine) joined.splice(-1, 1, { pos: last.pos, end: range.end });
    else joined.push(range);
  }
  return joined;
}

/** Removes the marks of a comment. Each tag of a doc comment becomes an item of a list. */
function toMarkdown(comment: string): string {
  return comment
    .replace(/\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*(?:\/\/|\/\*\*?|\*)? ?/, ""))
    .join("\n")
    .replaceAll(/ (?=@\w)/g, "\n")
    .replaceAll(/^@(?:param \S+|\w+) ?/gm, "- ")
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

/** Splits Markdown into its paragraphs, list items and cells of tables. Omits headings and blocks of code. */
function readMarkdown(markdown: string): Prose[] {
  const found: Prose[] = [];
  let paragraph: string[] = [];
  /** Indentation of the text of a list. A block of code has four more spaces. */
  let indent = 0;
  const lines = removeCode(markdown).split("\n");
  for (const [index, line] of [...lines, ""].entries()) {
    const [start = "", mark = ""] = /^[\s>]*((?:[-*+]|\d{1,2}[.)])\s+)?/.exec(line) ?? [];
    const text = line.slice(start.length);
    const isRow = text.startsWith("|");
    if (paragraph.length > 0 && (text === "" || mark !== "" || isRow)) {
      found.push({ text: paragraph.join("\n"), line: index + 1 - paragraph.length });
      paragraph = [];
    }
    if (text === "") continue;
    if (paragraph.length === 0) {
      if (start.length - mark.length >= indent + 4) continue;
      if (mark !== "" || start.length < indent) indent = start.length;
    }
    if (isRow) {
      found.push(...text.split(/(?<!\\)\|/).map((cell) => ({ text: cell, line: index + 1 })));
    } else {
      paragraph.push(text);
    }
  }
  return found;
}

/** Empties the lines of headings, and of code between fences. */
function removeCode(markdown: string): string {
  return markdown.replaceAll(
    /^[ >]*(?:#+ .*|(`{3,}|~{3,})[^`\n]*\n(?:[^]*?^[ >]*\1.*|[^]*))$/gm,
    (lines) => lines.replaceAll(/[^\n]/g, ""),
  );
}

/** Splits a paragraph after each full stop that is not in brackets, and that is not part of "e.g." or "i.e." */
function splitSentences(paragraph: string): string[] {
  return paragraph
    .replaceAll(/`[^`]*`|"[^"]*"/g, "code")
    .replaceAll(/\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}/g, (group) =>
      group.replaceAll(/[?!]|\.(?=\s)/g, ""),
    )
    .split(/(?<=[?!]|(?<!e\.g|i\.e|etc|vs)\.(?=\s))/);
}

/** Lists the problems of a sentence. */
function checkSentence(sentence: string): string[] {
  const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const text = words.join(" ").replaceAll("*", "");
  const problems = phrases.flatMap(([pattern, advice]) => {
    const [found] = pattern.exec(text) ?? [];
    return found === undefined ? [] : [`"${found}": ${advice}`];
  });
  if (words.length <= maxWords) return problems;
  return [...problems, `${words.length} words in "${text.slice(0, 50)}…": at most ${maxWords}`];
}
