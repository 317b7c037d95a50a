/** A token of a store as its owner sees it, in a sentence, as a table and as JSON. */
import type { TokenRecord } from "../../core/store.ts";
import { fitText, toTextWidth } from "../output/text-width.ts";

/** Whether a token lets anybody in. */
type TokenState = "active" | "expired" | "revoked";

const gap = "  ";
/** Of a terminal that does not tell. */
const usualColumns = 80;
/** In less room a name says nothing: then the terminal had better break the line. */
const minNameWidth = 8;
const dayMs = 86_400_000;

/** What to call a token in a sentence: its name, its prefix, or both. */
export function describeToken({ name, prefix }: TokenRecord): string {
  if (name === "" || prefix === "") return name || prefix || "a token without a name";
  return `${name} (${prefix})`;
}

/**
 * A token as one line of JSON; what it does not have is left out. Times are in UTC, the last use is a day.
 *
 * @param nowMs milliseconds since the epoch
 */
export function toTokenJson(token: TokenRecord, nowMs: number): string {
  const { name, prefix, issuedAtMs, expiresAtMs, revokedAtMs, lastUsedDay } = token;
  return JSON.stringify({
    name: name || undefined,
    prefix: prefix || undefined,
    issued: toTime(issuedAtMs),
    expires: expiresAtMs === undefined ? undefined : toTime(expiresAtMs),
    revoked: revokedAtMs === undefined ? undefined : toTime(revokedAtMs),
    lastUsed: lastUsedDay === undefined ? undefined : toDate(lastUsedDay * dayMs),
    state: toState(token, nowMs),
  });
}

/**
 * A line of headings, and one for each token. A name that is too long for the terminal is cut.
 *
 * @param columns of the terminal; 0 or undefined where it does not tell
 * @param nowMs milliseconds since the epoch
 */
export function toTokenTable(
  tokens: readonly TokenRecord[],
  columns: number | undefined,
  nowMs: number,
): string {
  const rows = tokens.map((token): readonly [name: string, ...others: string[]] => [
    token.name,
    token.prefix,
    toDate(token.issuedAtMs),
    token.expiresAtMs === undefined ? "never" : toMinute(token.expiresAtMs),
    token.lastUsedDay === undefined ? "never" : toDate(token.lastUsedDay * dayMs),
    toState(token, nowMs),
  ]);
  const [nameHeading, ...headings] = ["NAME", "PREFIX", "ISSUED", "EXPIRES", "LAST USED", "STATE"];
  const table = [[nameHeading, ...headings], ...rows];
  const widths = headings.map((_, index) => widthOf(table, index + 1));
  const others = widths.reduce((sum, width) => sum + gap.length + width, 0);
  const room = Math.max((columns || usualColumns) - others, minNameWidth);
  const fitted = table.map(([name = "", ...cells]) => [fitText(name, room), ...cells]);
  const nameWidth = widthOf(fitted, 0);

  const lines = fitted.map((cells) =>
    cells.map((cell, index) => pad(cell, [nameWidth, ...widths][index] ?? 0)).join(gap),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

/**
 * Whether a token lets anybody in.
 *
 * @param nowMs milliseconds since the epoch
 */
export function isActive(token: TokenRecord, nowMs: number): boolean {
  return toState(token, nowMs) === "active";
}

function toState({ expiresAtMs, revokedAtMs }: TokenRecord, nowMs: number): TokenState {
  if (revokedAtMs !== undefined) return "revoked";
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? "expired" : "active";
}

function widthOf(table: readonly (readonly string[])[], column: number): number {
  return Math.max(...table.map((row) => toTextWidth(row[column] ?? "")));
}

function pad(text: string, width: number): string {
  return text + " ".repeat(width - toTextWidth(text));
}

function toTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function toDate(timeMs: number): string {
  return toTime(timeMs).slice(0, 10);
}

function toMinute(timeMs: number): string {
  return `${toTime(timeMs).slice(0, 16).replace("T", " ")} UTC`;
}
