/** Turns the errors of commander into wrong usage, with advice: the word or the flag that is probably meant. */
import { type Command as Commander, CommanderError, type Option as Flag } from "commander";
import { findClosestWord, toShellWord } from "../core/messages.ts";
import { type CommandError, exitCodes } from "./command-error.ts";
import { listTopics } from "./commands/help/topics.ts";
import { isHelpAsked, showHelp, wrongUsage } from "./help-page.ts";

/** How commander ended a command line. */
export interface CommandLineEnd {
  readonly error: CommanderError;
  readonly commander: Commander;
  /** Advice for words and flags of the command. */
  readonly hints: Readonly<Record<string, string>> | undefined;
}

/** The error for a command line that commander rejects; for one that asks for help in another way, the end after it. */
export function toUsageError(
  { error, commander, hints = {} }: CommandLineEnd,
  argv: readonly string[],
): CommandError | CommanderError {
  // After help of a group whose command is missing.
  if (error.code === "commander.help") {
    const isAsked = argv.length === 0 || isHelpAsked(commander);
    const { code } = isAsked ? exitCodes.done : exitCodes.usage;
    return new CommanderError(code, error.code, error.message);
  }
  const [problem = ""] = error.message.replace(/^error: /, "").split("\n");
  if (error.code === "commander.excessArguments") {
    const extra = commander.args[commander.registeredArguments.length] ?? "";
    if (extra === "help") return showHelp(commander);
    const advice = guessValue(extra, commander);
    return wrongUsage(`unexpected argument '${extra}'${advice ?? ": remove it"}`, commander);
  }
  const advice = findAdvice(error, commander, hints);
  const isTopic =
    commander.parent === null && argv.find((each) => !each.startsWith("-")) === "help";
  if (isTopic && error.code === "commander.unknownCommand" && advice === undefined) {
    const [name = ""] = commander.args;
    return wrongUsage(
      `no command or topic '${name}'; topics: ${listTopics().join(", ")}`,
      commander,
    );
  }
  return wrongUsage(problem + (advice ?? ""), commander);
}

/** Advice instead of an unknown command or a misplaced option. */
function findAdvice(
  { code, message }: CommanderError,
  commander: Commander,
  hints: Readonly<Record<string, string>>,
): string | undefined {
  const isOption = code === "commander.unknownOption";
  if (!isOption && code !== "commander.unknownCommand") return undefined;
  const { args, commands } = commander;
  const [, flag = ""] = /'(-[^'=]*)/.exec(message) ?? [];
  const word = isOption ? flag : (args[0] ?? "");
  if (Object.hasOwn(hints, word)) return `: ${hints[word]}`;
  const isMisplaced = commands.length > 0 && args.some((each) => !each.startsWith("-"));
  if (isOption && isMisplaced) return "; options of a command follow its name";
  const helper = commander.createHelp();
  if (isOption) return guessFlag(word, helper.visibleOptions(commander));
  const names = helper.visibleCommands(commander).map((each) => each.name());
  return toGuess(findClosestWord(word, names));
}

/** Flags of other programs, with flags or a sentence. The first flag that the command has is suggested. */
const flagSynonyms: Readonly<Record<string, readonly string[]>> = {
  "--key": ["--tls-key"],
  "--cert": ["--tls-cert", "--cacert"],
  "--ca": ["--cacert"],
  "--insecure": ["--cacert"],
  "-k": ["--cacert"],
  "--cors": ["--cors-origin"],
  "--unix": ["--socket"],
  "--listen": ["--host"],
  "--address": ["--host"],
  "--bind": ["--host"],
  "-p": ["--port"],
  "--prefix": ["--base-path"],
  "--workers": ["--reuse-port"],
  "--metrics-port": ["--metrics"],
  "--db": ["--store"],
  "--database": ["--store"],
  "--file": ["--store", "name the file without a flag"],
  "--output": ["> FILE writes the output to a file"],
  "-o": ["> FILE writes the output to a file"],
  "--format": ["--json", "--csv"],
  "--debug": ["--verbose"],
  "--trace": ["--verbose"],
  "-n": ["--limit"],
  "--force": ["--yes", "--on-conflict"],
  "--replace": ["--on-conflict", '"plantstore serve --on-conflict replace" replaces plants'],
  "--upsert": ["--on-conflict", '"plantstore serve --on-conflict replace" replaces plants'],
};

/** Guesses a flag: by a synonym, as the only one that contains the word, or as the closest one. */
function guessFlag(flag: string, options: readonly Flag[]): string | undefined {
  const flags = options.flatMap(({ long }) => long ?? []);
  const synonyms = Object.hasOwn(flagSynonyms, flag) ? (flagSynonyms[flag] ?? []) : [];
  const synonym = synonyms.find((each) => !each.startsWith("--") || flags.includes(each));
  if (synonym !== undefined) {
    return synonym.startsWith("--") ? toGuess(synonym) : `: ${synonym}`;
  }
  if (!flag.startsWith("--")) return undefined;
  const word = flag.slice(2);
  const [only, ...others] = word.length < 3 ? [] : flags.filter((each) => each.includes(word));
  if (only !== undefined && others.length === 0) return toGuess(only);
  const names = flags.map((each) => each.slice(2));
  const closest = findClosestWord(word, names);
  return closest === undefined ? undefined : toGuess(`--${closest}`);
}

/** Flags by the form of their values. */
const valueFlags: readonly (readonly [RegExp, string])[] = [
  [/^\d{1,5}$/, "--port"],
  [/^(https?|unix):/, "--url"],
  [/^(sqlite|postgres(ql)?|memory):|\.db$/, "--store"],
  [/\.(ndjson|jsonl|json|csv|tsv)$/, "--seed"],
  [/^[^-]/, "--name"],
];

/** Guesses the flag that is missing before a value; none that the command line has already. */
function guessValue(value: string, commander: Commander): string | undefined {
  const flags = commander
    .createHelp()
    .visibleOptions(commander)
    .filter((flag) => commander.getOptionValueSource(flag.attributeName()) !== "cli")
    .map(({ long }) => long);
  const [, flag] =
    valueFlags.find(([form, each]) => form.test(value) && flags.includes(each)) ?? [];
  return flag && toGuess(`${flag} ${toShellWord(value)}`);
}

function toGuess(word: string | undefined): string | undefined {
  return word === undefined ? undefined : ` (Did you mean ${word}?)`;
}
