/** The token that plants are sent with. */
import { findToken, type FoundToken } from "../tokens/token-source.ts";
import { warnOfEavesdroppers } from "../tokens/eavesdroppers.ts";
import { showWhile } from "../output/progress.ts";
import type { CreateRun } from "./run.ts";

/**
 * Finds it, and warns when others can read it on its way. Nobody waits for input without knowing of it.
 *
 * @throws CommandError when there is none that could be sent
 * @throws the reason with which the run was cut off
 */
export async function findTokenToSend(run: CreateRun): Promise<FoundToken> {
  const { options, io, colorChoice, reporter, cutOff } = run;
  const { tokenFile, baseUrl } = options;
  const read = () => findToken(tokenFile, baseUrl, io, cutOff.signal);
  let found: FoundToken;
  if (tokenFile === "-" && io.stdin.isTTY) {
    await reporter.note("reading the token from the terminal: end it with Ctrl-D");
    found = await read();
  } else {
    found = await showWhile(() => "waiting for input", read, io, colorChoice);
  }
  await warnOfEavesdroppers(baseUrl, reporter);
  cutOff.signal.throwIfAborted();
  return found;
}
