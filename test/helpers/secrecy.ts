/**
 * Asserts in every test that tokens do not leak. The helpers that run the command check its output, and the helpers that
 * remove its files check these.
 */
import { open, readdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { isMistypedToken } from "../../src/auth/token.ts";

/** Inputs and outputs of a run of the command. */
export interface SeenRun {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdout: string;
  readonly stderr: string;
}

const tokenLength = 53;
const tokenLike = new RegExp(`pst_[0-9A-Za-z]{${tokenLength - 4}}`, "g");
/** A shorter token that a test chose may be an ordinary word. */
const minChosenLength = 8;

/** Finds the issued tokens in a text. */
function findTokens(text: string): readonly string[] {
  return (text.match(tokenLike) ?? []).filter((token) => !isMistypedToken(token));
}

/** @throws Error when the output of a run contains a token that was not requested */
export function checkOutput({ argv, env = {}, stdout, stderr }: SeenRun): void {
  const isIssue = argv[0] === "token" && argv[1] === "issue";
  const isServe = argv[0] === "serve";
  const printed = isIssue ? /^(?:\{"token":")?pst_\w+/ : /^\{"url":"[^"]*","token":"pst_\w+/;
  const isAsked = isIssue || (isServe && argv.includes("--json"));
  const outputs = {
    stdout: isAsked ? stdout.replace(printed, "") : stdout,
    // Printed on a terminal only, which the tests of serve check.
    stderr: isServe
      ? stderr.replace(/^ +(?:export PLANTSTORE_TOKEN=|https?:\S+\/#)?pst_\w+/gm, "")
      : stderr,
  };
  const chosen = env["PLANTSTORE_TOKEN"] ?? "";
  for (const [name, text] of Object.entries(outputs)) {
    const isThere = chosen.length >= minChosenLength && text.includes(chosen);
    if (isThere || findTokens(text).length > 0) throw new Error(`a token is on ${name}: ${text}`);
  }
}

/** @throws Error when the arguments of a process, which every user can read, contain a token */
export function checkArguments(argv: readonly string[]): void {
  const commandLine = argv.join(" ");
  if (findTokens(commandLine).length > 0) throw new Error(`a token is in argv: ${commandLine}`);
}

/**
 * Checks every file below a directory, except saved tokens and the tokens of tests for `--token-file`.
 *
 * @throws Error when a file contains a token
 */
export async function checkFiles(directory: string): Promise<void> {
  // Some tests remove the permission to read.
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      // Without readdir's `recursive`, which follows a link to node_modules on Node 26.
      await checkFiles(path);
    } else if (entry.isFile() && !mayHoldToken(path) && (await holdsToken(path))) {
      throw new Error(`a token is in the file ${path}`);
    }
  }
}

function mayHoldToken(path: string): boolean {
  return path.includes(`${sep}credentials${sep}`) || path.endsWith(`${sep}token`);
}

async function holdsToken(path: string): Promise<boolean> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return false;
  try {
    let end = "";
    for await (const chunk of file.createReadStream({ highWaterMark: 2 ** 20 })) {
      const text = end + (chunk as Buffer).toString("latin1");
      if (findTokens(text).length > 0) return true;
      // A token may be split between two chunks.
      end = text.slice(1 - tokenLength);
    }
    return false;
  } finally {
    await file.close();
  }
}
