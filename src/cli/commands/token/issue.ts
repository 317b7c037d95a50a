/** `plantstore token issue`: issues a token for a store, and prints it once. */
import { toTokenPrefix } from "../../../auth/token-format.ts";
import { digestToken, mintToken } from "../../../auth/token.ts";
import type { TokenRecord } from "../../../core/store.ts";
import type { Run } from "../../command.ts";
import { exitCodes } from "../../exit-codes.ts";
import { writeText } from "../../io.ts";
import { tokenIssueOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { changeStore } from "../../store-access.ts";
import { describeToken, toTokenReport } from "./token-text.ts";

/**
 * Issues a token and prints it, alone or with its details as JSON, on stdout. A token that cannot be printed is revoked.
 *
 * @returns the exit code
 * @throws CommandError for an invalid option, or if the store is missing or cannot be changed; OutputError
 */
export async function issueToken({ flags, io, terminal }: Run): Promise<number> {
  const { store: url, name = "", lifetimeMs, json } = readOptions(tokenIssueOptions, flags, io);
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
  await changeStore(url, async (store) => {
    await store.addToken(record);
    try {
      await writeText(io.stdout, `${text}\n`);
    } catch (error) {
      await store.revokeToken(record.digest, Date.now());
      throw error;
    }
  });
  if (io.stderr.isTTY) {
    await terminal.note(`issued ${describeToken(record)}: keep the token, it is not shown again`);
  }
  return exitCodes.done.code;
}
