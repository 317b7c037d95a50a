/** What may come next on a command line, read off the command tree: the answer to the Tab key. */
import type { Command, Option } from "commander";

/** One way to go on. */
export interface Candidate {
  readonly value: string;
  /** One line; may be empty. */
  readonly description: string;
}

/** The values that an option or an argument takes, by the option's long flag, or `command argument`. */
export type ValueSources = Readonly<Record<string, () => Promise<readonly Candidate[]>>>;

/**
 * The candidates for the last of the words.
 *
 * @param words what follows the program's name, up to the cursor; the last one may be empty
 * @returns none where nobody but the person knows, or the file system
 */
export async function findCandidates(
  program: Command,
  words: readonly string[],
  sources: ValueSources,
): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? "";
  const place = findPlace(program, words.slice(0, -1));
  const candidates = await listCandidates(place, current, sources);
  return candidates.filter(({ value }) => value.startsWith(current));
}

/** Where the words before the cursor lead to. */
interface Place {
  readonly command: Command;
  /** How many arguments of the command there are. */
  readonly argumentCount: number;
  /** The option whose value comes next. */
  readonly openOption: Option | undefined;
  /** After `--` nothing is an option or a command. */
  readonly isOptionsEnd: boolean;
}

function findPlace(program: Command, words: readonly string[]): Place {
  let command = program;
  let argumentCount = 0;
  let openOption: Option | undefined;
  let isOptionsEnd = false;
  for (const word of words) {
    const subcommand = isOptionsEnd ? undefined : command.commands.find((c) => c.name() === word);
    if (openOption !== undefined) {
      openOption = undefined;
    } else if (isOptionsEnd) {
      argumentCount += 1;
    } else if (word === "--") {
      isOptionsEnd = true;
    } else if (word.startsWith("-")) {
      const option = command.options.find(({ long, short }) => word === long || word === short);
      if (option?.required === true) openOption = option;
    } else if (subcommand === undefined) {
      // After `help` comes a command, too.
      if (word !== "help" || command.commands.length === 0) argumentCount += 1;
    } else {
      command = subcommand;
      argumentCount = 0;
    }
  }
  return { command, argumentCount, openOption, isOptionsEnd };
}

async function listCandidates(
  { command, argumentCount, openOption, isOptionsEnd }: Place,
  current: string,
  sources: ValueSources,
): Promise<readonly Candidate[]> {
  const listValues = async (name: string): Promise<readonly Candidate[]> =>
    (await sources[name]?.()) ?? [];
  if (openOption !== undefined) return listValues(openOption.long ?? "");
  if (current.startsWith("-") && !isOptionsEnd) {
    const equals = current.indexOf("=");
    if (equals < 0) return listOptions(command);
    const flag = current.slice(0, equals);
    const values = await listValues(flag);
    return values.map(({ value, description }) => ({ value: `${flag}=${value}`, description }));
  }
  const argument = command.registeredArguments[argumentCount];
  const values = await listValues(`${command.name()} ${argument?.name()}`);
  return argumentCount > 0 || isOptionsEnd ? values : [...listCommands(command), ...values];
}

function listOptions(command: Command): readonly Candidate[] {
  const options = command.createHelp().visibleOptions(command);
  return options.map(({ long, short, description }) => ({
    value: long ?? short ?? "",
    description: toFirstLine(description),
  }));
}

function listCommands(command: Command): readonly Candidate[] {
  const help = command.createHelp();
  return help.visibleCommands(command).map((subcommand) => ({
    value: subcommand.name(),
    description: toFirstLine(help.subcommandDescription(subcommand)),
  }));
}

/** The rest are defaults and variables. */
function toFirstLine(text: string): string {
  return text.replace(/\n.*/s, "");
}
