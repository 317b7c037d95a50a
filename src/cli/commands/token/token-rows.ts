/** Formats the tokens in a store for their owner: in a sentence, and as rows. */
import type { TokenRecord } from "../../../core/store.ts";
import { msPerUnit } from "../../../core/units.ts";
import type { RowType } from "../../terminal/rows.ts";

/** The state of a token. */
type TokenState = "active" | "expired" | "revoked";

/** A token in a sentence: its name, its prefix, or both. */
export function describeToken({ name, prefix }: TokenRecord): string {
  if (name === "" || prefix === "") return name || prefix || "a token without a name";
  return `${name} (${prefix})`;
}

/**
 * Tokens as rows. Times are in UTC; the last use is a day.
 *
 * @param nowMs milliseconds since the epoch
 */
export function createTokenRows(nowMs: number): RowType<TokenRecord> {
  return {
    columns: [
      { name: "name", read: ({ name }) => name || undefined, cut: { share: 1, minWidth: 8 } },
      { name: "prefix", read: ({ prefix }) => prefix || undefined },
      { name: "issued", read: ({ issuedAtMs }) => toDate(issuedAtMs) },
      {
        name: "expires",
        read: ({ expiresAtMs }) => (expiresAtMs === undefined ? "never" : toMinute(expiresAtMs)),
      },
      {
        name: "last used",
        read: ({ lastUsedDay }) => (lastUsedDay === undefined ? "never" : toDay(lastUsedDay)),
      },
      { name: "state", read: (token) => toState(token, nowMs) },
    ],
    toJson: (token) => JSON.stringify({ ...toTokenReport(token), state: toState(token, nowMs) }),
  };
}

/** Returns a token for JSON; absent members are undefined. */
export function toTokenReport({
  name,
  prefix,
  issuedAtMs,
  expiresAtMs,
  revokedAtMs,
  lastUsedDay,
}: TokenRecord) {
  return {
    name: name || undefined,
    prefix: prefix || undefined,
    issued: toTime(issuedAtMs),
    expires: expiresAtMs === undefined ? undefined : toTime(expiresAtMs),
    revoked: revokedAtMs === undefined ? undefined : toTime(revokedAtMs),
    lastUsed: lastUsedDay === undefined ? undefined : toDay(lastUsedDay),
  };
}

/**
 * Checks whether a token is neither expired nor revoked.
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

function toTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** The day of a time in UTC. */
export function toDate(timeMs: number): string {
  return toTime(timeMs).slice(0, 10);
}

function toDay(day: number): string {
  return toDate(day * msPerUnit.d);
}

/** A time in UTC, to the minute. */
export function toMinute(timeMs: number): string {
  return `${toTime(timeMs).slice(0, 16).replace("T", " ")} UTC`;
}
