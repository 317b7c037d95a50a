/** Declarations of commands: rows in lists of commands, and the rest, which is loaded only for the command that runs. */
import {
  type HintedMessage,
  type ExitCodeName,
  exitCodes,
  type ExitCodes,
} from "./command-error.ts";
import type { Io } from "./io.ts";
import { type Option, type Options, otherVariables } from "./options/remote.ts";
import type { Flags } from "./options/values.ts";
import type { Terminal } from "./terminal/terminal.ts";

export type Item = readonly [term: string, meaning: string];

interface Argument {
  /** `<id>`, `[error]` or `[file...]`. */
  readonly name: string;
  readonly help: string;
  /** True if it is a path of a file, which the shell completes. */
  readonly isFile?: true;
}

export interface Run {
  readonly io: Io;
  readonly terminal: Terminal;
  readonly operands: readonly string[];
  readonly flags: Flags;
  readonly command: Command;
  /** The declaration of `plantstore`, with those of all commands. */
  readonly program: Command;
  /** Prints the help of the command that words name, and ends the command line. */
  readonly help: (words: readonly string[]) => Promise<void>;
}

interface CommandHead {
  readonly name: string;
  /** An imperative for lists of commands. */
  readonly summary: string;
  readonly arguments?: readonly Argument[];
  /** The heading in the list of commands. */
  readonly group?: string;
  readonly isHidden?: true;
}

/** A row in the list of commands of a group. */
export interface CommandRow extends CommandHead {
  readonly load: () => Promise<CommandBody>;
}

export type Command = CommandHead & CommandBody;

/** The part of a command that its own help shows, and its work. */
export interface CommandBody {
  /** Paragraphs; a line break is a space. */
  readonly description: string;
  readonly options?: Options;
  readonly examples: readonly string[];
  /** Environment variables besides those of the options. */
  readonly environment?: readonly Item[];
  readonly environmentNote?: string;
  readonly exitCodes: ExitCodes;
  readonly exitCodesNote?: string;
  /** Advice instead of `--token`, which would show the token to other users. */
  readonly tokenAdvice?: string;
  /** Advice instead of too many operands. */
  readonly operandAdvice?: HintedMessage;
  readonly commands?: readonly CommandRow[];
  /** The commands for words that other programs have for them. */
  readonly otherNames?: Readonly<Record<string, string>>;
  /** Advice for flags that other commands have. */
  readonly flagAdvice?: Readonly<Record<string, string>>;
  /** Lists the values of the first argument for completion, after the flags so far, with their descriptions. */
  readonly listValues?: (run: Pick<Run, "flags" | "io">) => Promise<readonly Item[]>;
  /** Runs the command and returns the exit code; nothing for 0. Absent for a group. */
  readonly run?: ((run: Run) => Promise<number>) | ((run: Run) => Promise<void>);
}

/** Headings in the list of commands, by what the commands need. */
export const commandGroups = {
  server: "Server:",
  remote: "Commands that talk to a server:",
  plants: "Commands that open a store, or with --url talk to a server:",
  local: "Commands that open a store:",
  other: "Other commands:",
} as const;

export const tokenAdvice = "set PLANTSTORE_TOKEN, or pass --token-file FILE (- is standard input)";

/** The parts that commands share if they open a store directly. */
export const storeCommand = {
  environment: describeVariables("PLANTSTORE_DATA_DIR"),
  flagAdvice: {
    "--url":
      "this command opens a store, not a server: run it on the machine of that server, or select the store with --store",
  },
} as const;

/** The advice of commands that print data, and have no operands. */
export const redirectAdvice = [
  "the data goes to standard output: use > FILE to write a file",
] as const;

/** Advice of commands that talk to a server. */
export const serverFlagAdvice = {
  "--store": "this command talks to a server, not to a store: select the server with --url",
} as const;

/** Entries of `environment`. */
export function describeVariables(
  ...names: readonly (keyof typeof otherVariables)[]
): readonly Item[] {
  return names.map((name) => [name, otherVariables[name]]);
}

export async function loadCommand({ load, ...head }: CommandRow): Promise<Command> {
  return { ...head, ...(await load()) };
}

/** Finds and loads the command that words lead to. @returns undefined for an unknown word */
export async function findCommand(
  program: Command,
  words: readonly string[],
): Promise<Command | undefined> {
  let command = program;
  for (const word of words) {
    const row = command.commands?.find(({ name }) => name === word);
    if (row === undefined) return undefined;
    command = await loadCommand(row);
  }
  return command;
}

export function toParagraphs(text: string): readonly string[] {
  return text.split("\n\n").map((paragraph) => paragraph.replaceAll("\n", " "));
}

/** The default of an option, as help shows it; undefined for an option without one, and for a switch. */
export function describeDefault(option: Option<unknown>): string | undefined {
  const { flags, shownDefault, type, default: value } = option;
  if (!flags.endsWith(">")) return undefined;
  if (shownDefault !== undefined) return shownDefault;
  const hasDefault = "default" in option && typeof value !== "function";
  const text = hasDefault ? type.format(value) : "none";
  return text === "none" ? undefined : text;
}

export function toExitCodeItems(command: Command): readonly Item[] {
  const rows = Object.entries(command.exitCodes) as [ExitCodeName, string][];
  const items = rows.map(([name, meaning]) => [`${exitCodes[name].code}`, meaning] as const);
  return items.toSorted(([a], [b]) => Number(a) - Number(b));
}
