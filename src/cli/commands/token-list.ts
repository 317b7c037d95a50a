/** `plantstore token list`: shows the tokens of a store, and nothing that lets anybody in. */
import { exitCodes } from "../exit-codes.ts";
import { type Io, writeText } from "../io.ts";
import { toTokenJson, toTokenTable } from "../tokens/issued-token.ts";
import { printJson } from "../output/json-output.ts";
import { createReporter } from "../output/reporter.ts";
import { type ReaderFlags, resolveStoreUrl } from "../settings/reader-settings.ts";
import { readStore } from "../store-access.ts";

/** The flags of `token list`. */
export interface TokenListFlags extends ReaderFlags {
  readonly json?: boolean;
}

/**
 * Prints every token that was issued, the oldest first: for a person a table, for a program one as JSON on each line.
 *
 * @returns the exit code, once they are printed
 * @throws CommandError when the store can't be read
 * @throws OutputError
 */
export async function listTokens(flags: TokenListFlags, io: Io): Promise<number> {
  const tokens = await readStore(resolveStoreUrl(flags, io), (store) => store.listTokens());
  const nowMs = Date.now();
  if (flags.json || !io.stdout.isTTY) {
    const lines = tokens.map((token) => toTokenJson(token, nowMs));
    await printJson(io.stdout, lines);
  } else if (tokens.length > 0) {
    await writeText(io.stdout, toTokenTable(tokens, io.stdout.columns, nowMs));
  }
  if (tokens.length === 0 && io.stderr.isTTY) {
    await createReporter(io, undefined).note("no tokens");
  }
  return exitCodes.done.code;
}
