/** Finds the candidates for the last word of a command line, for the Tab key. */
import { type Candidate, type Command, findCommand, isHelp } from "../../command.ts";
import type { Io } from "../../io.ts";
import { commonFlags, type Option, versionFlag, toLongFlag } from "../../options.ts";
import type { Flags } from "../../settings.ts";

/** Candidates for a word. */
export interface Candidates {
  readonly values: readonly Candidate[];
  /** True if paths of files are candidates too. */
  readonly withFiles: boolean;
}

/** No candidates. */
export const none: Candidates = { values: [], withFiles: false };

/** @param words the words after `plantstore`, up to the cursor; the last one may be empty */
export async function findCandidates(
  program: Command,
  words: readonly string[],
  io: Io,
): Promise<Candidates> {
  const current = words.at(-1) ?? "";
  const { values, withFiles } = await listCandidates(
    await readWords(program, words.slice(0, -1)),
    current,
    program,
    io,
  );
  return { values: values.filter(({ value }) => value.startsWith(current)), withFiles };
}

/** The words before the cursor. */
interface Place {
  readonly command: Command;
  readonly operands: readonly string[];
  /** The values of options, by their names. */
  readonly flags: Flags;
  /** The option whose value comes next. */
  readonly openOption: Option<unknown> | undefined;
  /** After `--`, words are neither options nor commands. */
  readonly isOptionsEnd: boolean;
}

async function readWords(program: Command, words: readonly string[]): Promise<Place> {
  let command = program;
  let operands: string[] = [];
  const flags: Record<string, string> = {};
  let openOption: Option<unknown> | undefined;
  let isOptionsEnd = false;
  const setFlag = (option: Option<unknown>, value: string): void => {
    const names = Object.entries(command.options ?? {}).filter(([, each]) => each === option);
    for (const [name] of names) flags[name] = value;
  };
  for (const word of words) {
    const child = isOptionsEnd ? undefined : await findCommand(command, [word]);
    if (openOption !== undefined) {
      setFlag(openOption, word);
      openOption = undefined;
    } else if (isOptionsEnd) {
      operands.push(word);
    } else if (word === "--") {
      isOptionsEnd = true;
    } else if (word.startsWith("-")) {
      const [flag = "", ...value] = word.split("=");
      const option = findOption(command, flag);
      if (option !== undefined && value.length > 0) setFlag(option, value.join("="));
      else if (option !== undefined && hasValue(option)) openOption = option;
    } else if (child === undefined) {
      operands.push(word);
    } else {
      command = child;
      operands = [];
    }
  }
  return { command, operands, flags, openOption, isOptionsEnd };
}

async function listCandidates(
  { command, operands, flags, openOption, isOptionsEnd }: Place,
  current: string,
  program: Command,
  io: Io,
): Promise<Candidates> {
  if (openOption !== undefined) return listValues(openOption, "", io);
  if (current.startsWith("-") && !isOptionsEnd) {
    const [flag = "", ...value] = current.split("=");
    if (value.length === 0) return { values: listFlags(command, program), withFiles: false };
    const option = findOption(command, flag);
    return option === undefined ? none : listValues(option, `${flag}=`, io);
  }
  const group = isHelp(command) ? await findCommand(program, operands) : command;
  const commands = isOptionsEnd || (group === command && operands.length > 0) ? undefined : group;
  const args = command.arguments ?? [];
  const isVariadic = args.at(-1)?.name.includes("...") === true;
  const argument = args[isVariadic ? Math.min(operands.length, args.length - 1) : operands.length];
  const isFirst = operands.length === 0;
  const values = isFirst || isVariadic ? ((await command.listValues?.(io, flags)) ?? []) : [];
  return {
    values: [...listCommands(commands), ...values],
    withFiles: argument?.isFile === true,
  };
}

async function listValues(option: Option<unknown>, prefix: string, io: Io): Promise<Candidates> {
  const values = option.type.choices ?? (await option.list?.(io)) ?? [];
  return {
    values: values.map((value) => ({ value: prefix + value, description: "" })),
    withFiles: option.isFile === true,
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

function hasValue({ flags }: Option<unknown>): boolean {
  return flags.endsWith(">");
}
