/** `plantstore token issue`, `list`, `revoke` and `prune`: the tokens of a store. */
import { digestToken, mintToken, toTokenPrefix } from "../../../auth/token.ts";
import { quoteInput } from "../../../core/quote.ts";
import type { PlantStore, TokenRecord } from "../../../core/store.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { writeText } from "../../io.ts";
import { tokenIssueOptions, jsonStoreOptions, tokenPruneOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { changeStore, readStore } from "../../store-access.ts";
import { printRows, selectStyle } from "../../terminal/rows.ts";
import { createTokenRows, describeToken, toTokenReport } from "./token-rows.ts";

/**
 * Issues a token and prints it, alone or with its details as JSON, on stdout. A token that cannot be printed is revoked.
 *
 * @throws CommandError for an invalid option; StoreError if the store is missing or cannot be changed; OutputError
 */
export async function issueToken(run: Run): Promise<void> {
  const { flags, io } = run;
  const { store: url, name = "", lifetimeMs, json } = readOptions(tokenIssueOptions, flags, io);
  await changeStore(url, (store) => addNewToken(store, { name, lifetimeMs, json }, run));
}

/** A token to issue. */
interface NewToken {
  readonly name: string;
  /** Undefined for a token that never expires. */
  readonly lifetimeMs: number | undefined;
  /** True to print JSON with the details of the token. */
  readonly json: boolean | undefined;
  /** Further members of the JSON. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Stores a new token and prints it on stdout, alone or as JSON. A token that cannot be printed is revoked.
 *
 * @throws StoreError; OutputError
 */
export async function addNewToken(
  store: Pick<PlantStore, "addToken" | "endToken">,
  { name, lifetimeMs, json, details }: NewToken,
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
  const text = json ? JSON.stringify({ token, ...toTokenReport(record), ...details }) : token;
  await store.addToken(record);
  try {
    await writeText(io.stdout, `${text}\n`);
  } catch (error) {
    await store.endToken({ digest: record.digest, revokedAtMs: Date.now() });
    throw error;
  }
  if (io.stderr.isTTY) {
    await terminal.note(`issued ${describeToken(record)}: keep the token, it is not shown again`);
  }
}

/**
 * Prints all tokens, oldest first: as a table on a terminal, otherwise as one line of JSON per token.
 *
 * @throws StoreError if the store cannot be read; OutputError
 */
export async function listTokens(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const { store: url, json } = readOptions(jsonStoreOptions, flags, io);
  const tokens = await readStore(url, (store) => store.listTokens());
  await printRows([tokens], createTokenRows(Date.now()), selectStyle({ json }, io.stdout), run);
  if (tokens.length === 0 && io.stderr.isTTY) await terminal.note("no tokens");
}

/**
 * Revokes the token with a name, a prefix, or the whole text of the token. A revoked token stays revoked.
 *
 * @throws CommandError if no token matches, or several do; StoreError
 */
export async function revokeToken({ flags, operands, io, terminal }: Run): Promise<void> {
  const { store: url, json } = readOptions(jsonStoreOptions, flags, io);
  const token = await changeStore(url, async (store) => {
    const found = findOne(await store.listTokens(), operands[0] ?? "");
    if (found.revokedAtMs !== undefined) {
      await terminal.note(`${describeToken(found)} was revoked before`);
      return found;
    }
    const revokedAtMs = Date.now();
    await store.endToken({ digest: found.digest, revokedAtMs });
    await terminal.note(`revoked ${describeToken(found)}: servers reject it within one second`);
    return { ...found, revokedAtMs };
  });
  if (json) await terminal.printLines([JSON.stringify(toTokenReport(token))]);
}

function findOne(tokens: readonly TokenRecord[], wanted: string): TokenRecord {
  const matches = findMatches(tokens, wanted);
  const open = matches.filter(({ revokedAtMs }) => revokedAtMs === undefined);
  const [token, ...others] = open.length > 0 ? open : matches.slice(-1);
  if (token === undefined) throw noMatch(wanted);
  if (others.length > 0) {
    const prefixes = open.map(({ prefix, name }) => prefix || name).join(", ");
    throw new CommandError(
      "usage",
      `${open.length} tokens match "${quoteInput(wanted)}": revoke each by its prefix (${prefixes})`,
    );
  }
  return token;
}

/** Returns the tokens with a name, a prefix, or the whole text of a token; none for an empty word. */
export function findMatches(
  tokens: readonly TokenRecord[],
  wanted: string,
): readonly TokenRecord[] {
  if (wanted === "") return [];
  const digest = digestToken(wanted);
  return tokens.filter(
    (token) => token.name === wanted || token.prefix === wanted || token.digest === digest,
  );
}

/** The error for a word that names no token. */
export function noMatch(wanted: string): CommandError {
  return new CommandError(
    "usage",
    `no token matches "${quoteInput(wanted)}": "plantstore token list" shows names and prefixes`,
  );
}

/**
 * Removes the tokens, and prints those that it removed: as a table on a terminal, otherwise as one line of JSON per token.
 *
 * @throws StoreError if the store cannot be changed; OutputError
 */
export async function pruneTokens(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const { store: url, olderThanMs, json } = readOptions(tokenPruneOptions, flags, io);
  const nowMs = Date.now();
  const removed = await changeStore(url, async (store) => {
    const tokens = await store.listTokens();
    const ended = tokens.filter((token) => findEnd(token) <= nowMs - olderThanMs);
    if (ended.length > 0) await store.removeTokens(ended.map(({ digest }) => digest));
    return ended;
  });
  await printRows([removed], createTokenRows(nowMs), selectStyle({ json }, io.stdout), run);
  if (io.stderr.isTTY) {
    const count = `${removed.length} token${removed.length === 1 ? "" : "s"}`;
    await terminal.note(removed.length === 0 ? "nothing to remove" : `removed ${count}`);
  }
}

/** The time at which a token became invalid, in milliseconds since the epoch; Infinity for one that never expires. */
function findEnd({ revokedAtMs, expiresAtMs }: TokenRecord): number {
  const never = Number.POSITIVE_INFINITY;
  return Math.min(revokedAtMs ?? never, expiresAtMs ?? never);
}
