/** Text in roff. */

/** Characters that roff or the fonts of a terminal would replace (groff_char(7), man-pages(7)). */
const glyphs: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  '"': "\\(dq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};

/** Escapes text for a line of its own. */
export function escape(text: string): string {
  return protectLine(escapeSpan(text));
}

/** Escapes a part of a line. */
export function escapeSpan(text: string): string {
  return text.replaceAll(/[\\\-'"`^~]|[^\0-\x7F]/gu, (character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    return glyphs[character] ?? `\\[u${codePoint.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

/** A line that starts with a dot would be a request. */
export function protectLine(line: string): string {
  return line.replace(/^\./, "\\&.");
}

/** Lines that stay as they are, indented. */
export function toBlock(lines: readonly string[]): readonly string[] {
  return [".PP", ".RS 4", ".nf", ...lines.map(escape), ".fi", ".RE"];
}
