/** Checks the text of a token from any source. */
import { isBearerToken } from "./credential.ts";
import { isMistypedToken } from "./token-format.ts";

/** Removes the line break at the end, which editors and echo add. */
export function trimToken(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** Returns the problem with a token, worded to follow its name (`is empty`), without quoting it; undefined for a valid token. */
export function findTokenProblem(token: string): string | undefined {
  if (token === "") return "is empty";
  if (!isBearerToken(token)) {
    return "contains an invalid character, such as a space or a line break: copy it again";
  }
  if (isMistypedToken(token)) return "is incomplete or mistyped: copy it again";
  return undefined;
}
