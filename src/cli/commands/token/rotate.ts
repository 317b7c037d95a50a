/** `plantstore token rotate`: issues the successor of a token, and ends the old one after an overlap. */
import { quoteInput } from "../../../core/quote.ts";
import type { TokenRecord } from "../../../core/store.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { tokenRotateOptions } from "../../options.ts";
import { readOptions, type Values } from "../../settings.ts";
import { changeStore } from "../../store-access.ts";
import { describeToken, isActive, toMinute, toTokenReport } from "./token-rows.ts";
import { addNewToken, findMatches, noMatch } from "./token.ts";

type Options = Values<typeof tokenRotateOptions>;

/**
 * Issues a token with the name of another one and prints it. Every active token that the name or the prefix matches
 * expires after the overlap, or earlier if it would anyway. They do not change if the new token cannot be printed.
 *
 * @throws CommandError if no token matches, or none is active; StoreError, OutputError
 */
export async function rotateToken(run: Run): Promise<void> {
  const { flags, operands, io, terminal } = run;
  const options = readOptions(tokenRotateOptions, flags, io);
  const [wanted = ""] = operands;
  const ended = await changeStore(options.store, async (store) => {
    const nowMs = Date.now();
    const old = findActive(await store.listTokens(), wanted, nowMs);
    const replaced = old.map((token) => toEnded(token, nowMs, options.overlapMs));
    const { lifetimeMs = findLifetime(old), json } = options;
    const details = { replaces: replaced.map(toTokenReport) };
    const name = old[0]?.name ?? "";
    await addNewToken(store, { name, lifetimeMs, json, details }, run);
    for (const token of replaced) await store.endToken(token);
    return replaced;
  });
  for (const token of ended) await terminal.note(describeEnd(token));
}

/** @throws CommandError if no token matches, or none is active */
function findActive(
  tokens: readonly TokenRecord[],
  wanted: string,
  nowMs: number,
): readonly TokenRecord[] {
  const matches = findMatches(tokens, wanted);
  const active = matches.filter((token) => isActive(token, nowMs));
  const [last] = matches.slice(-1);
  if (last === undefined) throw noMatch(wanted);
  if (active.length > 0) return active;
  const state = last.revokedAtMs === undefined ? "expired" : "was revoked";
  const advice = 'issue a new one with "plantstore token issue"';
  throw new CommandError("usage", `"${quoteInput(wanted)}" ${state}: ${advice}`);
}

/** The token after its end was set. */
function toEnded(token: TokenRecord, nowMs: number, overlapMs: Options["overlapMs"]): TokenRecord {
  if (overlapMs === 0) return { ...token, revokedAtMs: nowMs };
  const { expiresAtMs = Number.POSITIVE_INFINITY } = token;
  return { ...token, expiresAtMs: Math.min(expiresAtMs, nowMs + overlapMs) };
}

/** The lifetime of the token that was issued last; undefined if it never expires. */
function findLifetime(old: readonly TokenRecord[]): number | undefined {
  const last = old.at(-1);
  return last?.expiresAtMs === undefined ? undefined : last.expiresAtMs - last.issuedAtMs;
}

function describeEnd(token: TokenRecord): string {
  const { revokedAtMs, expiresAtMs = 0 } = token;
  const name = describeToken(token);
  if (revokedAtMs !== undefined) return `revoked ${name}: servers reject it within one second`;
  return `${name} is valid until ${toMinute(expiresAtMs)}`;
}
