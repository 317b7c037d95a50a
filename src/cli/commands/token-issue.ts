/** `plantstore token issue`: makes a token for a store, and prints it this once. */
import { toTokenPrefix } from "../../auth/token-format.ts";
import { digestToken, mintToken } from "../../auth/token.ts";
import type { TokenRecord } from "../../core/store.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Io, writeText } from "../io.ts";
import { describeToken } from "../tokens/issued-token.ts";
import { createReporter } from "../output/reporter.ts";
import { parseValue } from "../settings/setting.ts";
import { type ReaderFlags, resolveStoreUrl } from "../settings/reader-settings.ts";
import { changeStore } from "../store-access.ts";
import { parseTokenLifetime, parseTokenName } from "../tokens/token-values.ts";

/** The flags of `token issue`. */
export interface IssueFlags extends ReaderFlags {
  readonly name?: string;
  readonly expires?: string;
}

/** What `token issue` is to do. */
export interface IssueOptions {
  readonly storeUrl: string;
  /** Empty: none. */
  readonly name: string;
  /** undefined: for ever. */
  readonly lifetimeMs: number | undefined;
}

/**
 * What the flags of a command line ask for.
 *
 * @throws CommandError when that is nothing that can be done
 */
export function toIssueOptions(flags: IssueFlags, io: Io): IssueOptions {
  const { name, expires } = flags;
  return {
    storeUrl: resolveStoreUrl(flags, io),
    name: name === undefined ? "" : parseValue("--name", name, parseTokenName),
    lifetimeMs:
      expires === undefined ? undefined : parseValue("--expires", expires, parseTokenLifetime),
  };
}

/**
 * Issues a token and prints it, alone, on stdout.
 *
 * @returns the exit code, once it is printed
 * @throws CommandError when the store is not there or can't be changed
 * @throws OutputError; nobody has the token then, and it is revoked
 */
export async function issueToken(options: IssueOptions, io: Io): Promise<number> {
  const { storeUrl, name, lifetimeMs } = options;
  const token = mintToken();
  const issuedAtMs = Date.now();
  const record: TokenRecord = {
    digest: digestToken(token),
    prefix: toTokenPrefix(token),
    name,
    issuedAtMs,
    expiresAtMs: lifetimeMs === undefined ? undefined : issuedAtMs + lifetimeMs,
  };
  await changeStore(storeUrl, async (store) => {
    await store.addToken(record);
    try {
      await writeText(io.stdout, `${token}\n`);
    } catch (error) {
      await store.revokeToken(record.digest, Date.now());
      throw error;
    }
  });
  if (io.stderr.isTTY) {
    const reporter = createReporter(io, undefined);
    await reporter.note(`issued ${describeToken(record)}: keep the token, it is not shown again`);
  }
  return exitCodes.done.code;
}
