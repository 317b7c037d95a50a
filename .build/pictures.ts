/** Draws the picture of the README: a session on a terminal. */

/** Width of a terminal in the picture, in characters. */
export const pictureColumns = 104;

const characterWidth = 7.8;
const lineHeight = 19;
const padding = 16;
/** Codes of SGR (ECMA-48), and the classes of the text after them. */
const classes: Readonly<Record<string, string>> = {
  1: "bold",
  2: "dim",
  31: "red",
  32: "green",
  36: "cyan",
};
const styleSheet = [
  "svg { --back: #f6f8fa; --text: #1f2328; --dim: #59636e; --red: #cf222e }",
  "svg { --green: #116329; --cyan: #1b7c83 }",
  "@media (prefers-color-scheme: dark) {",
  "  svg { --back: #161b22; --text: #e6edf3; --dim: #9198a1; --red: #ff7b72 }",
  "  svg { --green: #3fb950; --cyan: #39c5cf }",
  "}",
  "rect { fill: var(--back) }",
  "text { fill: var(--text); font: 13px ui-monospace, Menlo, Consolas, monospace; white-space: pre }",
  ".bold { font-weight: bold }",
  ...["dim", "red", "green", "cyan"].map((name) => `.${name} { fill: var(--${name}) }`),
].join("\n");

/**
 * Draws the output of a terminal.
 *
 * @param output lines with codes of SGR for colours, and no other control characters; long lines are wrapped
 */
export function drawSession(title: string, output: string): string {
  const lines = output.split("\n").flatMap(wrapLine);
  const drawn = lines.map((spans, index) => {
    const length = spans.reduce((sum, { text }) => sum + text.length, 0);
    const tspans = spans.map(({ text, names }) =>
      names === "" ? escape(text) : `<tspan class="${names}">${escape(text)}</tspan>`,
    );
    // The length keeps columns aligned in every font.
    return length === 0
      ? ""
      : `<text x="${padding}" y="${padding + 14 + index * lineHeight}" textLength="${(length * characterWidth).toFixed(1)}">${tspans.join("")}</text>\n`;
  });
  return toSvg(title, pictureColumns * characterWidth, lines.length * lineHeight, drawn.join(""));
}

interface Span {
  readonly text: string;
  readonly names: string;
}

/** Splits a line into pieces of one style each, and into as many lines as a terminal needs. */
function wrapLine(line: string): readonly (readonly Span[])[] {
  const rows: Span[][] = [[]];
  let room = pictureColumns;
  let codes: readonly string[] = [];
  for (const [, code, character = ""] of line.matchAll(/\p{Cc}\[(\d*)m|([^])/gu)) {
    if (code !== undefined) {
      codes = toCodes(codes, code);
      continue;
    }
    if (room === 0) {
      rows.push([]);
      room = pictureColumns;
    }
    room--;
    const names = codes.map((style) => classes[style] ?? "").join(" ");
    const row = rows.at(-1) ?? [];
    const last = row.at(-1);
    if (last?.names === names) row[row.length - 1] = { text: last.text + character, names };
    else row.push({ text: character, names });
  }
  return rows;
}

/** Applies a code: a style, 39 for the default colour, 22 for neither bold nor dim, or 0 for all of these. */
function toCodes(codes: readonly string[], code: string): readonly string[] {
  if (code in classes) return [...codes, code];
  if (code === "39") return codes.filter((style) => style.length === 1);
  return code === "22" ? codes.filter((style) => style.length > 1) : [];
}

function toSvg(title: string, innerWidth: number, innerHeight: number, content: string): string {
  const [width, height] = [innerWidth + 2 * padding, innerHeight + 2 * padding];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escape(title)}</title>
<style>
${styleSheet}
</style>
<rect width="${width}" height="${height}" rx="8"/>
${content}</svg>
`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
