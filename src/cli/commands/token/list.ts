/** `plantstore token list`: shows the tokens of a store, without their secrets. */
import type { Run } from "../../command.ts";
import { exitCodes } from "../../exit-codes.ts";
import { tokenListOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";
import { readStore } from "../../store-access.ts";
import { printRows, selectStyle } from "../../terminal/rows.ts";
import { createTokenRows } from "./token-rows.ts";

/**
 * Prints all tokens, oldest first: as a table on a terminal, otherwise as one line of JSON per token.
 *
 * @returns the exit code
 * @throws CommandError if the store cannot be read; OutputError
 */
export async function listTokens({ flags, io, terminal }: Run): Promise<number> {
  const { store: url, json } = readOptions(tokenListOptions, flags, io);
  const tokens = await readStore(url, (store) => store.listTokens());
  await printRows([tokens], createTokenRows(Date.now()), selectStyle({ json }, io.stdout), io);
  if (tokens.length === 0 && io.stderr.isTTY) await terminal.note("no tokens");
  return exitCodes.done.code;
}
