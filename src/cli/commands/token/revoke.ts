/** `plantstore token revoke`: revokes a token. */
import { quoteInput } from "../../../core/quote.ts";
import type { TokenRecord } from "../../../core/store.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { tokenListOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { changeStore } from "../../store-access.ts";
import { findMatches, noMatch } from "./find-tokens.ts";
import { describeToken, toTokenReport } from "./token-rows.ts";

/**
 * Revokes the token with a name, a prefix, or the whole text of the token. A revoked token stays revoked.
 *
 * @returns the exit code
 * @throws CommandError if no token matches, or several do
 */
export async function revokeToken({ flags, operands, io, terminal }: Run): Promise<number> {
  const { store: url, json } = readOptions(tokenListOptions, flags, io);
  const token = await changeStore(url, async (store) => {
    const found = findOne(await store.listTokens(), operands[0] ?? "");
    if (found.revokedAtMs !== undefined) {
      await terminal.note(`${describeToken(found)} was revoked before`);
      return found;
    }
    const revokedAtMs = Date.now();
    await store.revokeToken(found.digest, revokedAtMs);
    await terminal.note(`revoked ${describeToken(found)}: servers reject it within one second`);
    return { ...found, revokedAtMs };
  });
  if (json) await terminal.printJson([JSON.stringify(toTokenReport(token))]);
  return exitCodes.done.code;
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
