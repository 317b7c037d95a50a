/** `plantstore token revoke`: a token lets nobody in any more. */
import { digestToken } from "../../auth/token.ts";
import { quoteInput } from "../../core/quote.ts";
import type { TokenRecord } from "../../core/store.ts";
import { CommandError } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { describeToken } from "../tokens/issued-token.ts";
import { createReporter } from "../output/reporter.ts";
import { type ReaderFlags, resolveStoreUrl } from "../settings/reader-settings.ts";
import { changeStore } from "../store-access.ts";

/**
 * Revokes the token that a name or a prefix names. Running servers refuse it within a second. One that is revoked
 * already stays so.
 *
 * @param wanted a name or a prefix; whoever has found a token somewhere may give all of it
 * @returns the exit code, once it is revoked
 * @throws CommandError when that names no token, or several
 */
export async function revokeToken(flags: ReaderFlags, wanted: string, io: Io): Promise<number> {
  const reporter = createReporter(io, undefined);
  await changeStore(resolveStoreUrl(flags, io), async (store) => {
    const token = findOne(await store.listTokens(), wanted);
    if (token.revokedAtMs !== undefined) {
      await reporter.note(`${describeToken(token)} was revoked before`);
      return;
    }
    await store.revokeToken(token.digest, Date.now());
    await reporter.note(`revoked ${describeToken(token)}: servers refuse it within a second`);
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
      `no token is "${quoteInput(wanted)}": "plantstore token list" shows their names and prefixes`,
    );
  }
  if (others.length > 0) {
    const prefixes = open.map(({ prefix, name }) => prefix || name).join(", ");
    throw new CommandError(
      "usage",
      `${open.length} tokens are "${quoteInput(wanted)}": revoke each by its prefix (${prefixes})`,
    );
  }
  return token;
}
