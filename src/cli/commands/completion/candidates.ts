/** Finds the candidates for the last word of a command line, for the Tab key. */
import { type Candidate, type Command, findCommand, isHelp } from "../../command.ts";
import { commonFlags, type Option, versionFlag, toLongFlag } from "../../options.ts";

/** Candidates for a word. */
export interface Candidates {
  readonly values: readonly Candidate[];
  /** True if paths of files are candidates too. */
  readonly withFiles: boolean;
}

const none: Candidates = { values: [], withFiles: false };

/** @param words the words after `plantstore`, up to the cursor; the last one may be empty */
export async function findCandidates(
  program: Command,
  words: readonly string[],
): Promise<Candidates> {
  const current = words.at(-1) ?? "";
  const context = await readWords(program, words.slice(0, -1));
  const { values, withFiles } = await listCandidates(context, current, program);
  return { values: values.filter(({ value }) => value.startsWith(current)), withFiles };
}

/** The words before the cursor. */
interface CompletionContext {
  readonly command: Command;
  readonly operands: readonly string[];
  /** The option whose value comes next. */
  readonly openOption: Option<unknown> | undefined;
  /** After `--`, words are neither options nor commands. */
  readonly isOptionsEnd: boolean;
}

async function readWords(program: Command, words: readonly string[]): Promise<CompletionContext> {
  let command = program;
  let operands: string[] = [];
  let openOption: Option<unknown> | undefined;
  let isOptionsEnd = false;
  for (const word of words) {
    const child = isOptionsEnd ? undefined : await findCommand(command, [word]);
    if (openOption !== undefined) {
      openOption = undefined;
    } else if (isOptionsEnd) {
      operands.push(word);
    } else if (word === "--") {
      isOptionsEnd = true;
    } else if (word.startsWith("-")) {
      // The value of --option=value is in the same word, which is the name of no option.
      const option = findOption(command, word);
      if (option?.flags.endsWith(">")) openOption = option;
    } else if (child === undefined) {
      operands.push(word);
    } else {
      command = child;
      operands = [];
    }
  }
  return { command, operands, openOption, isOptionsEnd };
}

async function listCandidates(
  { command, operands, openOption, isOptionsEnd }: CompletionContext,
  current: string,
  program: Command,
): Promise<Candidates> {
  if (openOption !== undefined) return listValues(openOption, "");
  if (current.startsWith("-") && !isOptionsEnd) {
    const [flag = "", ...value] = current.split("=");
    if (value.length === 0) return { values: listFlags(command, program), withFiles: false };
    const option = findOption(command, flag);
    return option === undefined ? none : listValues(option, `${flag}=`);
  }
  const group = isHelp(command) ? await findCommand(program, operands) : command;
  const commands = isOptionsEnd || (group === command && operands.length > 0) ? undefined : group;
  const args = command.arguments ?? [];
  const isVariadic = args.at(-1)?.name.includes("...") === true;
  const argument = args[isVariadic ? Math.min(operands.length, args.length - 1) : operands.length];
  const values = operands.length === 0 ? ((await command.listValues?.()) ?? []) : [];
  return {
    values: [...listCommands(commands), ...values],
    withFiles: argument?.isFile === true,
  };
}

function listValues({ type, isFile }: Option<unknown>, prefix: string): Candidates {
  const { choices = [] } = type;
  return {
    values: choices.map((value) => ({ value: prefix + value, description: "" })),
    withFiles: isFile === true,
  };
}

function listFlags(command: Command, program: Command): readonly Candidate[] {
  const options = Object.values(command.options ?? {});
  const flags = [
    ...options.map(({ flags: text, help }) => [text, help] as const),
    ...commonFlags,
    ...(command === program ? [versionFlag] : []),
  ];
  return flags.map(([text, help]) => ({ value: toLongFlag(text), description: help }));
}

function listCommands(group: Command | undefined): readonly Candidate[] {
  const commands = group?.commands?.filter(({ isHidden }) => isHidden !== true) ?? [];
  return commands.map(({ name, summary }) => ({ value: name, description: summary }));
}

function findOption(command: Command, flag: string): Option<unknown> | undefined {
  return Object.values(command.options ?? {}).find(({ flags }) =>
    flags.split(/[ ,]+/).includes(flag),
  );
}
