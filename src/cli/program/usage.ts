/** Errors of wrong usage, in one format. */
import { type Command as Commander, CommanderError } from "commander";
import { quoteInput } from "../../core/quote.ts";
import type { Command } from "../command.ts";
import { CommandError } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";

/** The error to throw when commander wants to exit. */
export function toExit(
  error: CommanderError,
  commander: Commander,
  { hints = {} }: Command,
  argv: readonly string[],
): Error {
  // After help of a group whose command is missing.
  if (error.code === "commander.help") {
    const isAsked = argv.length === 0 || isHelpAsked(commander);
    const { code } = isAsked ? exitCodes.done : exitCodes.usage;
    return new CommanderError(code, error.code, error.message);
  }
  if (error.exitCode === 0) return error;
  const [problem = "", suggestion = ""] = error.message.replace(/^error: /, "").split("\n");
  const advice = findAdvice(error.code, commander, hints) ?? ` ${suggestion}`.trimEnd();
  return wrongUsage(problem + advice, commander);
}

/** Advice instead of an unknown command or a misplaced option. */
function findAdvice(
  code: string,
  { args, commands }: Commander,
  hints: Readonly<Record<string, string>>,
): string | undefined {
  const [word = ""] = args;
  if (code === "commander.unknownCommand" && Object.hasOwn(hints, word)) return `: ${hints[word]}`;
  const hasCommand = commands.length > 0 && args.some((each) => !each.startsWith("-"));
  const isMisplaced = code === "commander.unknownOption" && hasCommand;
  return isMisplaced ? "; options of a command follow its name" : undefined;
}

/** The one format of wrong usage: what is wrong, how the command is called, and where to read more. */
export function wrongUsage(message: string, commander: Commander, cause?: unknown): CommandError {
  const usage = commander.createHelp().commandUsage(commander);
  const hints = [`Usage: ${usage}`, `See "${toPath(commander)} --help"`];
  return new CommandError("usage", quoteInput(message, maxMessage), { hints, cause });
}

/** UTF-16 code units of a message that quotes the command line. */
const maxMessage = 1000;

export function toPath(commander: Commander): string {
  const { parent } = commander;
  return parent === null ? commander.name() : `${toPath(parent)} ${commander.name()}`;
}

/** Checks whether `--help` was passed to a command or before it. */
export function isHelpAsked(commander: Commander): boolean {
  return commander.optsWithGlobals()["help"] === true;
}
