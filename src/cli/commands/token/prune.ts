/** `plantstore token prune`: removes expired and revoked tokens from a store. */
import type { TokenRecord } from "../../../core/store.ts";
import type { Run } from "../../command.ts";
import { exitCodes } from "../../exit-codes.ts";
import { tokenPruneOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { changeStore } from "../../store-access.ts";
import { printRows, selectStyle } from "../../terminal/rows.ts";
import { createTokenRows } from "./token-rows.ts";

/**
 * Removes the tokens, and prints those that it removed: as a table on a terminal, otherwise as one line of JSON per token.
 *
 * @returns the exit code
 * @throws CommandError if the store cannot be changed; OutputError
 */
export async function pruneTokens({ flags, io, terminal }: Run): Promise<number> {
  const { store: url, olderThanMs, json } = readOptions(tokenPruneOptions, flags, io);
  const nowMs = Date.now();
  const removed = await changeStore(url, async (store) => {
    const tokens = await store.listTokens();
    const ended = tokens.filter((token) => findEnd(token) <= nowMs - olderThanMs);
    if (ended.length > 0) await store.removeTokens(ended.map(({ digest }) => digest));
    return ended;
  });
  await printRows([removed], createTokenRows(nowMs), selectStyle({ json }, io.stdout), io);
  if (io.stderr.isTTY) {
    const count = `${removed.length} token${removed.length === 1 ? "" : "s"}`;
    await terminal.note(removed.length === 0 ? "nothing to remove" : `removed ${count}`);
  }
  return exitCodes.done.code;
}

/** The time at which a token became invalid, in milliseconds since the epoch; Infinity for one that never expires. */
function findEnd({ revokedAtMs, expiresAtMs }: TokenRecord): number {
  const never = Number.POSITIVE_INFINITY;
  return Math.min(revokedAtMs ?? never, expiresAtMs ?? never);
}
