/** Messages of `serve` for people: the banner of a terminal, and the log as text. */
import { escapeUnprintable } from "../../../core/messages.ts";
import { type LineFormat, type LogLevel, toShownPath } from "../../../server/log.ts";
import type { RequestRecord } from "../../../server/request.ts";
import { type OutputStream, writeText } from "../../io.ts";
import { toItem } from "../../terminal/table.ts";
import type { Palette } from "../../terminal/terminal.ts";
import { packageVersion } from "../../version.ts";
import type { ServerRun } from "./serve-options.ts";

export interface BannerRow {
  readonly label: string;
  readonly text: string;
  /** Lines below the text, to copy. */
  readonly lines: readonly string[];
}

const indent = "  ";

/** Prints rows on stderr. A stdout on the same terminal continues the last one with the URL. */
export async function printBanner(
  rows: readonly BannerRow[],
  url: string,
  { io, terminal, options }: ServerRun,
): Promise<void> {
  const { stderr, stdout } = io;
  const { bold, dim } = await terminal.loadPalette(stderr);
  const width = Math.max(...rows.map(({ label }) => label.length));
  const toRowText = (label: string, text: string): string =>
    toItem(indent + dim(label), indent.length + width, text);
  // With a token, they fit a line of 80 columns, so that the terminal does not break a link.
  const toCopiedLine = (line: string): string => `${indent}${escapeUnprintable(line)}\n`;
  const shown = rows.flatMap(({ label, text, lines }) => [
    toRowText(label, text),
    ...lines.map(toCopiedLine),
  ]);
  const end = toRowText("URL", url);
  const shownEnd = stdout.isTTY && !options.json ? end.slice(0, -`${url}\n`.length) : end;
  const title = bold(`plantstore ${packageVersion} is ready`);
  const banner = [`${title}\n`, ...shown, shownEnd].join("");
  await writeText(stderr, banner).catch(() => {
    // Nothing is left to report a closed stderr to.
  });
}

const timeLength = "00:00:00".length;

/**
 * Creates the format of log lines as text. A terminal shows the local time of day. Elsewhere a line begins with date and time
 * in UTC.
 */
export function createTextFormat(
  palette: Palette,
  screen: Pick<OutputStream, "isTTY">,
): LineFormat {
  const { dim } = palette;
  const labels: Readonly<Record<LogLevel, string>> = {
    error: `${palette.error("error")}: `,
    warn: `${palette.warning("warning")}: `,
    info: "",
    debug: dim("debug: "),
  };

  function toLogLine(text: string): string {
    const now = new Date();
    const time =
      screen.isTTY === true ? now.toTimeString().slice(0, timeLength) : now.toISOString();
    return `${dim(time)} ${text}\n`;
  }

  return {
    message: (level, text) =>
      text
        .split("\n")
        .map((line, index) =>
          toLogLine((index === 0 ? labels[level] : "") + escapeUnprintable(line)),
        )
        .join(""),
    request(level, record) {
      const { method, path = "", status, error, durationMs, requestId } = record;
      const paint = level === "error" ? palette.error : palette.warning;
      const shownStatus = status < 400 ? palette.success(String(status)) : paint(String(status));
      const request = method === undefined ? "unreadable" : `${method} ${toShownPath(path)}`;
      const words = [shownStatus, request, ...toOutcome(level, record)];
      words.push(dim(`${durationMs.toFixed(1)} ms`));
      if (error !== undefined) words.push(dim(`id ${requestId}`));
      return toLogLine(words.join(" "));
    },
  };
}

function toOutcome(level: LogLevel, record: RequestRecord): readonly string[] {
  const { error, result = "", isDropped, isAborted } = record;
  const outcome = error === undefined ? result : `${outcomes[level]} ${error}`;
  const lost = isDropped ? "dropped on purpose" : isAborted ? "client left" : "";
  return [outcome, lost].filter((word) => word !== "");
}

/** A client causes a rejection; everything else is a failure of the server. */
const outcomes: Readonly<Record<LogLevel, string>> = {
  error: "failed",
  warn: "unavailable",
  info: "rejected",
  debug: "error",
};
