/** `plantstore token issue`, `list` and `revoke`: the tokens in a store. */
import { toTokenPrefix } from "../../../auth/token-format.ts";
import { digestToken, mintToken } from "../../../auth/token.ts";
import { quoteInput } from "../../../core/quote.ts";
import { type PlantStore, StoreError, type TokenRecord } from "../../../core/store.ts";
import { msPerUnit } from "../../../core/units.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { writeText } from "../../io.ts";
import { tokenIssueOptions, tokenListOptions, tokenRevokeOptions } from "../../store-options.ts";
import { readOptions, type Values } from "../../settings.ts";
import { changeStore, nameStore, readStore } from "../../store-access.ts";
import { printRows, selectStyle } from "../../terminal/rows.ts";
import {
  createTokenRows,
  describeToken,
  isActive,
  toDate,
  toMinute,
  toTokenReport,
} from "./token-rows.ts";

/** Time after the end of a token in which servers report it as expired; the next issue removes it. */
const retentionMs = 90 * msPerUnit.d;

/**
 * Issues a token and prints it, alone or with its details as JSON, on stdout. A token that cannot be printed is revoked.
 * Then removes tokens that ended long ago.
 *
 * @throws CommandError for an invalid option; StoreError if the store is missing or cannot be changed; OutputError
 */
export async function issueToken(run: Run): Promise<void> {
  const options = readOptions(tokenIssueOptions, run.flags, run.io);
  await changeStore(options.store, run, async (store) => {
    await nameStore(options.store, run);
    await addNewToken(store, options, run);
    await removeOldTokens(store);
  });
}

async function addNewToken(
  store: Pick<PlantStore, "addToken" | "endToken">,
  { name = "", lifetimeMs, json }: Values<typeof tokenIssueOptions>,
  { io, terminal }: Run,
): Promise<void> {
  const token = mintToken();
  const issuedAtMs = Date.now();
  const record: TokenRecord = {
    digest: digestToken(token),
    prefix: toTokenPrefix(token),
    name,
    issuedAtMs,
    expiresAtMs: lifetimeMs === undefined ? undefined : issuedAtMs + lifetimeMs,
  };
  const text = json ? JSON.stringify({ token, ...toTokenReport(record) }) : token;
  await store.addToken(record);
  try {
    await writeText(io.stdout, `${text}\n`);
  } catch (error) {
    await store.endToken({ digest: record.digest, revokedAtMs: Date.now() });
    throw error;
  }
  if (io.stderr.isTTY) {
    await terminal.note(
      `issued ${describeToken(record)}: save the token now; it is not shown again`,
    );
  }
}

/** Removes what it may: the role of a database may lack the privilege, and the next issue tries again. */
async function removeOldTokens(
  store: Pick<PlantStore, "listTokens" | "removeTokens">,
): Promise<void> {
  const latestMs = Date.now() - retentionMs;
  try {
    const old = (await store.listTokens()).filter((token) => findEnd(token) < latestMs);
    if (old.length > 0) await store.removeTokens(old.map(({ digest }) => digest));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

/**
 * Prints the valid tokens, or all of them, oldest first: as a table on a terminal, otherwise as one line of JSON per token.
 *
 * @throws StoreError if the store cannot be read; OutputError
 */
export async function listTokens(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const { store: url, json, isAll } = readOptions(tokenListOptions, flags, io);
  const tokens = await readStore(url, run, (store) => store.listTokens());
  const nowMs = Date.now();
  const shown = isAll ? tokens : tokens.filter((token) => isActive(token, nowMs));
  await printRows([shown], createTokenRows(nowMs), selectStyle({ json }, io.stdout), run);
  if (shown.length > 0 || !io.stderr.isTTY) return;
  const isEmpty = tokens.length === 0;
  await terminal.note(isEmpty ? "no tokens" : "no valid tokens: --all shows the others");
}

/**
 * Revokes the token with a name, a prefix, or the whole text of the token, or lets it expire after a time. A token that
 * ended already keeps its end.
 *
 * @throws CommandError if no token matches, or several do; StoreError
 */
export async function revokeToken(run: Run): Promise<void> {
  const { flags, operands, io, terminal } = run;
  const { store: url, json, afterMs } = readOptions(tokenRevokeOptions, flags, io);
  const token = await changeStore(url, run, async (store) => {
    await nameStore(url, run);
    const nowMs = Date.now();
    const found = findOne(await store.listTokens(), operands[0] ?? "", nowMs);
    if (found.revokedAtMs !== undefined) {
      await terminal.note(`${describeToken(found)} was revoked before`);
      return found;
    }
    const ended = toEnded(found, nowMs, afterMs);
    await store.endToken(ended);
    await terminal.note(describeEnd(ended, nowMs));
    return ended;
  });
  if (json) await terminal.printLines([JSON.stringify(toTokenReport(token))]);
}

/** @param afterMs undefined to revoke the token at once */
function toEnded(token: TokenRecord, nowMs: number, afterMs: number | undefined): TokenRecord {
  if (afterMs === undefined) return { ...token, revokedAtMs: nowMs };
  const { expiresAtMs = Number.POSITIVE_INFINITY } = token;
  return { ...token, expiresAtMs: Math.min(expiresAtMs, nowMs + afterMs) };
}

function describeEnd(token: TokenRecord, nowMs: number): string {
  const name = describeToken(token);
  const { revokedAtMs, expiresAtMs = 0 } = token;
  if (revokedAtMs !== undefined) return `revoked ${name}: servers reject it within one second`;
  if (expiresAtMs <= nowMs) return `${name} expired before`;
  return `${name} is valid until ${toMinute(expiresAtMs)}`;
}

/**
 * Finds the token to end: the only valid one that matches, or the last one if none of them is valid.
 *
 * @throws CommandError if no token matches, or several valid ones do
 */
function findOne(tokens: readonly TokenRecord[], wanted: string, nowMs: number): TokenRecord {
  const matches = findMatches(tokens, wanted);
  const active = matches.filter((token) => isActive(token, nowMs));
  const [token, ...others] = active.length > 0 ? active : matches.slice(-1);
  if (token === undefined) {
    throw new CommandError(
      "usage",
      `no token matches "${quoteInput(wanted)}": "plantstore token list" shows names and prefixes`,
    );
  }
  if (others.length > 0) {
    const issued = active.map(
      ({ prefix, issuedAtMs }) => `${prefix || "none"} of ${toDate(issuedAtMs)}`,
    );
    throw new CommandError(
      "usage",
      `${active.length} valid tokens match "${quoteInput(wanted)}": revoke one by its prefix (${issued.join(", ")})`,
    );
  }
  return token;
}

/** Returns the tokens with a name, a prefix, or the whole text of a token; none for an empty word. */
function findMatches(tokens: readonly TokenRecord[], wanted: string): readonly TokenRecord[] {
  if (wanted === "") return [];
  const digest = digestToken(wanted);
  return tokens.filter(
    (token) => token.name === wanted || token.prefix === wanted || token.digest === digest,
  );
}

/** The time at which a token became invalid, in milliseconds since the epoch; Infinity for one that never expires. */
function findEnd({ revokedAtMs, expiresAtMs }: TokenRecord): number {
  const never = Number.POSITIVE_INFINITY;
  return Math.min(revokedAtMs ?? never, expiresAtMs ?? never);
}
