/** `plantstore token revoke`: revokes a token. */
import { digestToken } from "../../../auth/token.ts";
import { quoteInput } from "../../../core/quote.ts";
import type { TokenRecord } from "../../../core/store.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { storeOption } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { changeStore } from "../../store-access.ts";
import { describeToken } from "./token-text.ts";

/**
 * Revokes the token with a name, a prefix, or the whole text of the token. A revoked token stays revoked.
 *
 * @returns the exit code
 * @throws CommandError if no token matches, or several do
 */
export async function revokeToken({ flags, operands, io, terminal }: Run): Promise<number> {
  const { store: url } = readOptions(storeOption, flags, io);
  await changeStore(url, async (store) => {
    const token = findOne(await store.listTokens(), operands[0] ?? "");
    if (token.revokedAtMs !== undefined) {
      await terminal.note(`${describeToken(token)} was revoked before`);
      return;
    }
    await store.revokeToken(token.digest, Date.now());
    await terminal.note(`revoked ${describeToken(token)}: servers reject it within one second`);
  });
  return exitCodes.done.code;
}

function findOne(tokens: readonly TokenRecord[], wanted: string): TokenRecord {
  const digest = digestToken(wanted);
  const matches = tokens.filter(
    (token) =>
      wanted !== "" &&
      (token.name === wanted || token.prefix === wanted || token.digest === digest),
  );
  const open = matches.filter(({ revokedAtMs }) => revokedAtMs === undefined);
  const [token, ...others] = open.length > 0 ? open : matches.slice(-1);
  if (token === undefined) {
    throw new CommandError(
      "usage",
      `no token matches "${quoteInput(wanted)}": "plantstore token list" shows names and prefixes`,
    );
  }
  if (others.length > 0) {
    const prefixes = open.map(({ prefix, name }) => prefix || name).join(", ");
    throw new CommandError(
      "usage",
      `${open.length} tokens match "${quoteInput(wanted)}": revoke each by its prefix (${prefixes})`,
    );
  }
  return token;
}
