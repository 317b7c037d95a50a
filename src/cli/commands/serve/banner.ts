/** Prints the banner of `serve` on a terminal. */
import { escapeUnprintable } from "../../../core/quote.ts";
import { type Io, writeText } from "../../io.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { wrapText } from "../../terminal/text-width.ts";
import { packageVersion } from "../../version.ts";

/** A row of the banner. */
export interface BannerRow {
  readonly label: string;
  readonly text?: string;
  /** A line below the text, which is not broken, so that it can be copied. */
  readonly line?: string | undefined;
}

const indent = "  ";

/** Prints rows on stderr. A stdout on the same terminal continues the last one with the URL. */
export async function printBanner(
  rows: readonly BannerRow[],
  url: string,
  { io, terminal }: { readonly io: Io; readonly terminal: Terminal },
): Promise<void> {
  const { stderr, stdout } = io;
  const { bold, dim } = await terminal.loadPalette(stderr);
  const width = Math.max(...rows.map(({ label }) => label.length));
  const column = indent.length + width + indent.length;
  const start = ({ label }: BannerRow): string => `${indent}${dim(label.padEnd(width))}${indent}`;
  const lines = rows.map((row) => {
    const text = wrapText(escapeUnprintable(row.text ?? ""), stderr.columns, column, column);
    const below = row.line === undefined ? [] : [" ".repeat(column) + escapeUnprintable(row.line)];
    return [start(row) + text, ...below].join("\n");
  });
  const end = start({ label: "URL" }) + (stdout.isTTY ? "" : `${url}\n`);
  const banner = [bold(`plantstore ${packageVersion} is ready`), ...lines, end].join("\n");
  await writeText(stderr, banner).catch(() => {
    // Nothing is left to report a closed stderr to.
  });
}
