/** `plantstore token issue`: issues a token for a store, and prints it once. */
import type { Run } from "../../command.ts";
import { exitCodes } from "../../exit-codes.ts";
import { tokenIssueOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { changeStore } from "../../store-access.ts";
import { addNewToken } from "./new-token.ts";
import { describeToken } from "./token-rows.ts";

/**
 * Issues a token and prints it, alone or with its details as JSON, on stdout. A token that cannot be printed is revoked.
 *
 * @returns the exit code
 * @throws CommandError for an invalid option, or if the store is missing or cannot be changed; OutputError
 */
export async function issueToken({ flags, io, terminal }: Run): Promise<number> {
  const { store: url, name = "", lifetimeMs, json } = readOptions(tokenIssueOptions, flags, io);
  const record = await changeStore(url, (store) =>
    addNewToken(store, { name, lifetimeMs, json }, io),
  );
  if (io.stderr.isTTY) {
    await terminal.note(`issued ${describeToken(record)}: keep the token, it is not shown again`);
  }
  return exitCodes.done.code;
}
