/** What `status` found, as lines for a person. */
import { escapeUnprintable, redactTokens } from "../../core/quote.ts";
import type { FileReaders } from "../tokens/credentials.ts";

/** As JSON it is printed just so. */
export interface StatusReport {
  readonly url: string;
  /** As `--url`, `PLANTSTORE_URL` or `the default`. */
  readonly urlSource: string;
  /** Absent when there is no token. */
  readonly tokenSource?: string | undefined;
  /** Absent when it is no token of plantstore's own making. */
  readonly tokenPrefix?: string | undefined;
  /** The file of the token that is saved for this URL, used or not. */
  readonly savedIn?: string | undefined;
  /** Who can read that file beside its owner; absent where the system does not tell. */
  readonly readableBy?: FileReaders | undefined;
  /** Of the other plant stores for which a token is saved. */
  readonly otherOrigins?: readonly string[] | undefined;
  /** Whether the plant store takes the token. */
  readonly works: boolean;
  /** The number with which it refused it. */
  readonly error?: number | undefined;
  /** Why it does not work. */
  readonly problem?: string | undefined;
}

const describedReaders: Readonly<Record<FileReaders, string>> = {
  nobody: "nobody else",
  group: "others of its group",
  everybody: "everybody",
};

/** The report as lines, each with a heading. */
export function toStatusLines(report: StatusReport): string {
  const { url, urlSource, tokenSource, savedIn, readableBy, otherOrigins = [] } = report;
  const prefix = report.tokenPrefix === undefined ? "" : `${report.tokenPrefix}… `;
  const readers = readableBy === undefined ? "" : ` (${describedReaders[readableBy]} can read it)`;
  const shownSource = tokenSource === savedIn ? "where it is saved" : tokenSource;
  const lines: readonly (readonly [heading: string, text: string])[] = [
    ["URL", `${url} (from ${urlSource})`],
    ["Token", tokenSource === undefined ? "none" : `${prefix}from ${shownSource}`],
    ["Saved", savedIn === undefined ? "none for this URL" : savedIn + readers],
    ["Works", report.works ? "yes" : `no: ${toReason(report)}`],
    ...(otherOrigins.length > 0 ? [["Others", otherOrigins.join(", ")] as const] : []),
  ];
  return lines
    .map(([heading, text]) => `${heading.padEnd(6)}  ${escapeUnprintable(redactTokens(text))}\n`)
    .join("");
}

function toReason({ error, problem = "unknown" }: StatusReport): string {
  return error === undefined ? problem : `error ${error}: ${problem}`;
}
