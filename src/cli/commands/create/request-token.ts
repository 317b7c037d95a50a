/** Finds the token to send. */
import { warnAboutPlaintext } from "../../server-access.ts";
import { findToken, type FoundToken } from "../../config/token-source.ts";
import type { CreateRun } from "./create-run.ts";

/**
 * Finds the token, and warns if the connection is not encrypted.
 *
 * @throws CommandError without a token
 * @throws the reason of the run's cut-off
 */
export async function findTokenToSend(run: CreateRun): Promise<FoundToken> {
  const { options, io, terminal, cutOff } = run;
  const { tokenFile, url } = options;
  const read = () => findToken(tokenFile, url, io, cutOff.signal);
  let found: FoundToken;
  if (tokenFile === "-" && io.stdin.isTTY) {
    await terminal.note("reading the token from the terminal: end with Ctrl-D");
    found = await read();
  } else if (tokenFile === undefined && !io.env["PLANTSTORE_TOKEN_FILE"]) {
    // A spinner would disturb a token command that asks the user for a password.
    found = await read();
  } else {
    found = await terminal.showWhile(() => "waiting for input", read);
  }
  await warnAboutPlaintext(url, terminal);
  cutOff.signal.throwIfAborted();
  return found;
}
