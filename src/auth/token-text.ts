/** What a token may look like, wherever it came from. */
import { isBearerToken } from "./credential.ts";
import { isMistypedToken } from "./token-format.ts";

/** Without the line break in which files and secrets end that were written by hand or with echo. */
export function trimToken(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** What is wrong with a token, in words that follow a name for it and hold nothing of it; undefined when nothing is. */
export function findTokenProblem(token: string): string | undefined {
  if (token === "") return "is empty";
  if (!isBearerToken(token)) {
    return "holds a character that no token has, such as a space or a line break: copy it again";
  }
  if (isMistypedToken(token)) return "is not complete or was mistyped: copy it again";
  return undefined;
}
