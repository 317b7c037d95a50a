/** The commands `token issue`, `token list` and `token revoke`. */
import { digestToken, mintToken } from "../../auth/authenticator.ts";
import { toTokenPrefix } from "../../auth/token.ts";
import { quoteInput } from "../../core/messages.ts";
import { type TokenRecord, useAndClose } from "../../core/store.ts";
import { msPerUnit } from "../../library/option-types.ts";
import { adviseCommand, CommandError, storeExitCodes } from "../command-error.ts";
import { type CommandBody, type Run, storeCommand } from "../command.ts";
import { writeText } from "../io.ts";
import { parseStoreUrl } from "../../store/store-url.ts";
import {
  storeOption,
  tokenIssueOptions,
  tokenListOptions,
  tokenRevokeOptions,
} from "../options/local.ts";
import { readOptions } from "../options/values.ts";
import { changeStore, readStore, toStoreCommand } from "../store-access.ts";
import { printRows, type RowType, selectStyle } from "../terminal/rows.ts";

const issueCommand: CommandBody = {
  description: `Issues a token for a store and prints it on standard output. It is not shown
again: the store keeps only its digest. Running servers accept the token within
one second. With --allow, it may do only that: a client that only sends plants
needs create. If another valid token has the same name, a warning says how to
revoke it.`,
  options: tokenIssueOptions,
  examples: [
    "plantstore token issue",
    "plantstore token issue --name ci --expires 30d > ci.token",
    "plantstore token issue --name nightly --allow create > nightly.token",
    "plantstore token issue --json | jq -r .token",
    "plantstore token issue | plantstore login",
  ],
  ...storeCommand,
  exitCodes: storeExitCodes,
  run: runTokenIssue,
};

const listCommand: CommandBody = {
  description: `Shows the name and the first characters of each valid token, its times, the day
of its last use, what it allows, and its state: active, or with --all also expired
and revoked.
Prints a table on a terminal, otherwise one line of JSON per token.`,
  options: tokenListOptions,
  examples: [
    "plantstore token list",
    `plantstore token list --all --json | jq 'select(.state == "expired")'`,
  ],
  ...storeCommand,
  exitCodes: storeExitCodes,
  run: printTokens,
};

const revokeCommand: CommandBody = {
  description: `Revokes the token with a name or a prefix. Running servers reject the token
within one second. With --in, the token expires then, or earlier if it would
anyway, so that its users have time to change to another one. If several valid
tokens have one name, the prefix selects one of them.`,
  options: tokenRevokeOptions,
  listValues: (run) => listTokenWords(run).catch(() => []),
  examples: ["plantstore token revoke ci", "plantstore token revoke pst_4fGh --in 24h"],
  ...storeCommand,
  exitCodes: { ...storeExitCodes, noSuchPlant: "No such token" },
  run: runTokenRevoke,
};

export const tokenCommand: CommandBody = {
  description: `Manages the tokens in a store, which decide who may do what. Opens the
store itself, without a server. Running servers follow within one second.`,
  examples: [
    "plantstore token issue --name ci --expires 30d",
    "plantstore token list",
    "plantstore token revoke ci",
  ],
  exitCodes: storeExitCodes,
  commands: [
    { name: "issue", summary: "Issue a token", load: async () => issueCommand },
    {
      name: "list",
      summary: "Show the valid tokens in a store",
      load: async () => listCommand,
    },
    {
      name: "revoke",
      summary: "Revoke a token",
      arguments: [{ name: "<token>", help: "Token name or prefix" }],
      load: async () => revokeCommand,
    },
  ],
  otherNames: { create: "issue" },
};

/** Issues a token and prints it, alone or with its details as JSON. A token that cannot be printed is revoked. */
async function runTokenIssue(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const { name = "", lifetimeMs, allow, json } = readOptions(tokenIssueOptions, flags, io);
  const token = mintToken();
  const issuedAtMs = Date.now();
  const record: TokenRecord = {
    digest: digestToken(token),
    prefix: toTokenPrefix(token),
    name,
    allow,
    issuedAtMs,
    expiresAtMs: lifetimeMs === undefined ? undefined : issuedAtMs + lifetimeMs,
  };
  await changeStore(run, async (store) => {
    const tokens = name === "" ? [] : await store.listTokens();
    const other = tokens.find((each) => each.name === name && isActive(each, issuedAtMs));
    if (other !== undefined) {
      const command = toStoreCommand(`token revoke ${other.prefix}`, run);
      const advice = adviseCommand("Revoke it", command);
      await terminal.warning(`another valid token is named ${name}`, ...advice);
    }
    const text = json ? JSON.stringify({ token, ...toTokenReport(record) }) : token;
    await store.addToken(record);
    try {
      await writeText(io.stdout, `${text}\n`);
    } catch (error) {
      await store.endToken({ digest: record.digest, revokedAtMs: Date.now() });
      throw error;
    }
    if (!io.stderr.isTTY) return;
    const advice = io.stdout.isTTY ? ": save the token now; it is not shown again" : "";
    await terminal.success(`issued ${describeToken(record)}${advice}`);
  });
}

async function printTokens(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const { json, isAll } = readOptions(tokenListOptions, flags, io);
  const tokens = await readStore(run, (store) => store.listTokens());
  const nowMs = Date.now();
  const shown = isAll ? tokens : tokens.filter((token) => isActive(token, nowMs));
  await printRows([shown], createTokenRows(nowMs), selectStyle({ json }, io.stdout), run);
  if (shown.length > 0 || !io.stderr.isTTY) return;
  const isEmpty = tokens.length === 0;
  await terminal.note(isEmpty ? "no tokens" : "no valid tokens: --all shows the others");
}

/** A token that ended already keeps its end. */
async function runTokenRevoke(run: Run): Promise<void> {
  const { flags, operands, io, terminal } = run;
  const { json, delayMs } = readOptions(tokenRevokeOptions, flags, io);
  const token = await changeStore(run, async (store) => {
    const nowMs = Date.now();
    const found = findOne(await store.listTokens(), operands[0] ?? "", nowMs, run);
    if (found.revokedAtMs !== undefined) {
      await terminal.success(`${describeToken(found)} was revoked before`);
      return found;
    }
    const { expiresAtMs = Number.POSITIVE_INFINITY } = found;
    const ended =
      delayMs === undefined
        ? { ...found, revokedAtMs: nowMs }
        : { ...found, expiresAtMs: Math.min(expiresAtMs, nowMs + delayMs) };
    await store.endToken(ended);
    await terminal.success(describeEnd(ended, nowMs));
    return ended;
  });
  if (json) await terminal.printLines([JSON.stringify(toTokenReport(token))]);
}

function describeEnd(token: TokenRecord, nowMs: number): string {
  const name = describeToken(token);
  const { revokedAtMs, expiresAtMs = 0 } = token;
  if (revokedAtMs !== undefined) return `revoked ${name}: servers reject it within one second`;
  if (expiresAtMs <= nowMs) return `${name} expired before`;
  return `${name} is valid until ${toMinute(expiresAtMs)}`;
}

/** Finds the token to end: the only valid one that matches, or the last one if none of them is valid. */
function findOne(
  tokens: readonly TokenRecord[],
  wanted: string,
  nowMs: number,
  run: Run,
): TokenRecord {
  const matches = findMatches(tokens, wanted);
  const active = matches.filter((token) => isActive(token, nowMs));
  const [token, ...others] = active.length > 0 ? active : matches.slice(-1);
  if (token === undefined) {
    const hints = adviseCommand("List names and prefixes", toStoreCommand("token list", run));
    throw new CommandError("noSuchPlant", `no token matches "${quoteInput(wanted)}"`, { hints });
  }
  if (others.length === 0) return token;
  const prefixes = active.map(({ prefix, issuedAtMs }) => `${prefix} of ${toDate(issuedAtMs)}`);
  throw new CommandError(
    "usage",
    `${active.length} valid tokens match "${quoteInput(wanted)}": revoke one by its prefix (${prefixes.join(", ")})`,
  );
}

/** The words that select each valid token, for completion: its name, or its prefix if others have that name too. */
async function listTokenWords({ flags, io }: Pick<Run, "flags" | "io">) {
  const { store: url } = readOptions(storeOption, flags, io);
  const tokens = await useAndClose(await parseStoreUrl(url).openReader(), (store) =>
    store.listTokens(),
  );
  const active = tokens.filter((token) => isActive(token, Date.now()));
  return active.map(({ name, prefix, issuedAtMs }) => {
    const isName = /^[\w.-]+$/.test(name) && findMatches(active, name).length === 1;
    return [isName ? name : prefix, `Issued ${toDate(issuedAtMs)}`] as const;
  });
}

/** Returns the tokens with a name, a prefix, or the whole text of a token; none for an empty word. */
function findMatches(tokens: readonly TokenRecord[], wanted: string): readonly TokenRecord[] {
  if (wanted === "") return [];
  const digest = digestToken(wanted);
  return tokens.filter(
    (token) => token.name === wanted || token.prefix === wanted || token.digest === digest,
  );
}

function describeToken({ name, prefix }: TokenRecord): string {
  if (name === "" || prefix === "") return name || prefix || "a token without a name";
  return `${name} (${prefix})`;
}

/** Tokens as rows. Times are in UTC; the last use is a day. @param nowMs milliseconds since the epoch */
function createTokenRows(nowMs: number): RowType<TokenRecord> {
  return {
    columns: [
      { name: "name", read: ({ name }) => name || undefined },
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
      { name: "allows", read: ({ allow }) => allow?.join() ?? "all" },
      { name: "state", read: (token) => toState(token, nowMs) },
    ],
    toJson: (token) => JSON.stringify({ ...toTokenReport(token), state: toState(token, nowMs) }),
  };
}

function toTokenReport(token: TokenRecord) {
  const { allow, expiresAtMs, revokedAtMs, lastUsedDay } = token;
  return {
    name: token.name || undefined,
    prefix: token.prefix || undefined,
    issued: toTime(token.issuedAtMs),
    expires: expiresAtMs === undefined ? undefined : toTime(expiresAtMs),
    revoked: revokedAtMs === undefined ? undefined : toTime(revokedAtMs),
    lastUsed: lastUsedDay === undefined ? undefined : toDay(lastUsedDay),
    allow,
  };
}

/** Checks whether a token is neither expired nor revoked. @param nowMs milliseconds since the epoch */
export function isActive(token: TokenRecord, nowMs: number): boolean {
  return toState(token, nowMs) === "active";
}

function toState({ expiresAtMs, revokedAtMs }: TokenRecord, nowMs: number): string {
  if (revokedAtMs !== undefined) return "revoked";
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? "expired" : "active";
}

function toTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function toDate(timeMs: number): string {
  return toTime(timeMs).slice(0, 10);
}

function toDay(day: number): string {
  return toDate(day * msPerUnit.d);
}

function toMinute(timeMs: number): string {
  return `${toTime(timeMs).slice(0, 16).replace("T", " ")} UTC`;
}
