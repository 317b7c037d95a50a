/** Makes the manual page of a topic from its Markdown. */
import { lexer, type Token, type Tokens } from "marked";
import { packageVersion } from "../src/cli/version.ts";
import { escape, escapeSpan, protectLine, toBlock } from "./roff.ts";

/**
 * The page of a topic.
 *
 * @throws Error for Markdown that has no counterpart here
 */
export function toTopicPage(topic: string, markdown: string): string {
  const [title, ...tokens] = lexer(markdown);
  if (title?.type !== "heading") throw new Error(`${topic}: expected a heading at the start`);
  return [
    `.TH PLANTSTORE\\-${topic.toUpperCase()} 7 "" "plantstore ${packageVersion}" "Manual of plantstore"`,
    // No hyphens and no wide gaps in the names of options.
    ".nh",
    ".ad l",
    ".SH NAME",
    `plantstore\\-${escape(topic)} \\- ${toText(title.tokens)}`,
    ".SH DESCRIPTION",
    ...tokens.flatMap(toLines),
    ".SH SEE ALSO",
    ".BR plantstore (1)",
    "",
  ].join("\n");
}

function toLines(token: Token): readonly string[] {
  switch (token.type) {
    case "space":
      return [];
    case "heading":
      return toHeading(token as Tokens.Heading);
    case "paragraph":
    case "text":
      return [".PP", toText(token.tokens)];
    case "code":
      return toBlock((token as Tokens.Code).text.split("\n"));
    case "list":
      return toList(token as Tokens.List);
    case "table":
      return toTable(token as Tokens.Table);
    default:
      throw unknown(token);
  }
}

function toHeading({ depth, tokens }: Tokens.Heading): readonly string[] {
  if (depth === 2) return [`.SH ${toText(tokens)}`];
  if (depth === 3) return [`.SS ${toText(tokens)}`];
  throw new Error(`expected a heading of depth 2 or 3, but found ${depth}`);
}

function toList({ ordered, start, items }: Tokens.List): readonly string[] {
  return items.flatMap(({ tokens: [first, ...others] }, index) => [
    ordered ? `.IP ${Number(start) + index}. 4` : ".IP \\(bu 2",
    toText(first && "tokens" in first ? first.tokens : []),
    ...(others.length === 0 ? [] : [".RS", ...others.flatMap(toLines), ".RE"]),
  ]);
}

/** A table as a list, because a row is often wider than a terminal. */
function toTable({ header, rows }: Tokens.Table): readonly string[] {
  return rows.flatMap((cells) => {
    const [term = "", ...values] = cells.map(({ tokens }) => toText(tokens));
    const heads = header.slice(1).map(({ tokens }) => toText(tokens));
    const lines = values.map((value, index) =>
      values.length === 1 ? value : `${heads[index]}: ${value}`,
    );
    return [".TP", term, lines.join("\n.br\n")];
  });
}

/** Text in one line. @param font the font around it */
function toText(tokens: readonly Token[] | undefined, font = "R"): string {
  return protectLine((tokens ?? []).map((token) => toSpan(token, font)).join(""));
}

function toSpan(token: Token, font: string): string {
  switch (token.type) {
    case "text":
    case "escape":
      return "tokens" in token
        ? toText(token.tokens, font)
        : escapeSpan((token as Tokens.Text).text.replaceAll("\n", " "));
    case "codespan":
      return `\\fB${escapeSpan((token as Tokens.Codespan).text)}\\f${font}`;
    case "strong":
      return `\\fB${toText(token.tokens, "B")}\\f${font}`;
    case "em":
      return `\\fI${toText(token.tokens, "I")}\\f${font}`;
    case "link":
      return toLink(token as Tokens.Link, font);
    default:
      throw unknown(token);
  }
}

function toLink({ href, tokens }: Tokens.Link, font: string): string {
  const [, topic] = /^([\w-]+)\.md(?:#.*)?$/.exec(href) ?? [];
  if (topic !== undefined) return `\\fBplantstore\\-${escapeSpan(topic)}\\f${font}(7)`;
  const text = toText(tokens, font);
  return href.startsWith("#") ? text : `${text} (${escapeSpan(href)})`;
}

function unknown({ type, raw }: Token): Error {
  return new Error(`the manual pages have no counterpart for Markdown of type ${type}: ${raw}`);
}
