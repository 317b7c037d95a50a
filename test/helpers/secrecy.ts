/**
 * Sees to it that tokens are nowhere but where they belong: the helpers that run the command, and those that remove what
 * it left behind, look for them in every test.
 */
import { open, readdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { isMistypedToken } from "../../src/auth/token-format.ts";

/** What a run of the command was given, and what it gave. */
export interface SeenRun {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdout: string;
  readonly stderr: string;
}

const tokenLength = 53;
const tokenLike = new RegExp(`pst_[0-9A-Za-z]{${tokenLength - 4}}`, "g");
/** A shorter one, of a test's own choice, may be an ordinary word. */
const minChosenLength = 8;

/** The issued tokens that a text holds. */
function findTokens(text: string): readonly string[] {
  return (text.match(tokenLike) ?? []).filter((token) => !isMistypedToken(token));
}

/** @throws Error when the output of a run holds a token that nobody asked for */
export function checkOutput({ argv, env = {}, stdout, stderr }: SeenRun): void {
  const isIssue = argv[0] === "token" && (argv[1] === "issue" || argv[1] === "rotate");
  const isServe = argv[0] === "serve";
  const printed = isIssue ? /^(?:\{"token":")?pst_\w+/ : /^\{"url":"[^"]*","token":"pst_\w+/;
  const isAsked = isIssue || (isServe && argv.includes("--json"));
  const outputs = {
    stdout: isAsked ? stdout.replace(printed, "") : stdout,
    // On a terminal only, as the tests of serve have it.
    stderr: isServe ? stderr.replace(/^ +(?:PLANTSTORE_TOKEN=)?pst_\w+/gm, "") : stderr,
  };
  const chosen = env["PLANTSTORE_TOKEN"] ?? "";
  for (const [name, text] of Object.entries(outputs)) {
    const isThere = chosen.length >= minChosenLength && text.includes(chosen);
    if (isThere || findTokens(text).length > 0) throw new Error(`a token is on ${name}: ${text}`);
  }
}

/** @throws Error when the arguments of a process, which everybody can read, hold a token */
export function checkArguments(argv: readonly string[]): void {
  const commandLine = argv.join(" ");
  if (findTokens(commandLine).length > 0) throw new Error(`a token is in argv: ${commandLine}`);
}

/**
 * Looks into every file below a directory, except where tokens are saved, and where a test keeps one for `--token-file`.
 *
 * @throws Error when one of them holds a token
 */
export async function checkFiles(directory: string): Promise<void> {
  // Some tests take away the right to look.
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      // Not with readdir's own `recursive`: on Node 26 that follows a link to all of node_modules.
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
      // A token may lie across two chunks.
      end = text.slice(1 - tokenLength);
    }
    return false;
  } finally {
    await file.close();
  }
}
