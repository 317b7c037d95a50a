/** The command `completion`: its scripts, and the candidates for Tab. */
import { quoteInput } from "../../core/messages.ts";
import { commonExitCodes, UsageError } from "../command-error.ts";
import { type Command, type CommandBody, findCommand, type Item, type Run } from "../command.ts";
import { type Io, writeText } from "../io.ts";
import { commonFlags, type Option, toLongFlag, versionFlag } from "../options/remote.ts";
import type { Flags } from "../options/values.ts";

export const completionCommand: CommandBody = {
  description: `Prints a script for bash, zsh or fish. With it, the Tab key completes commands,
options and their values.`,
  listValues: async () => Object.keys(completionScripts).map((name) => [name, ""]),
  examples: [
    "source <(plantstore completion bash)  in ~/.bashrc",
    "source <(plantstore completion zsh)   in ~/.zshrc, after compinit",
    "plantstore completion fish | source   in ~/.config/fish/config.fish",
  ],
  exitCodes: commonExitCodes,
  run: printScript,
};

/** `plantstore __complete`: prints candidates for the last of its arguments. */
export const candidatesCommand: CommandBody = {
  description: "Prints the candidates for the last of the words.",
  examples: [],
  exitCodes: commonExitCodes,
  run: printCandidates,
};

async function printScript({ operands: [shell = ""], io }: Run): Promise<void> {
  const script = Object.entries(completionScripts).find(([name]) => name === shell);
  if (script === undefined) {
    const known = Object.keys(completionScripts).join(", ");
    const problem = shell === "" ? "no shell" : `no completion for "${quoteInput(shell)}"`;
    throw new UsageError(`${problem}: choose one of ${known}`);
  }
  await writeText(io.stdout, script[1]);
}

/** Prints the candidates, one per line with a tab and a description, and a marker if files are candidates too. */
async function printCandidates({ operands, program, io }: Run): Promise<void> {
  const current = operands.at(-1) ?? "";
  const context = await readWords(program, operands.slice(0, -1));
  const { values, withFiles } = await listCandidates(context, current, program, io);
  const lines = values
    .filter(([value]) => value.startsWith(current))
    .map(([value, description]) => `${value}\t${description}\n`);
  if (withFiles) lines.push(`${filesMarker}\n`);
  await writeText(io.stdout, lines.join(""));
}

/** The line after the candidates if files are candidates too. */
export const filesMarker = ":files";

const bash = `# Completes plantstore in bash. Add to ~/.bashrc: source <(plantstore completion bash)
_plantstore() {
  local line=\${COMP_LINE:0:COMP_POINT} words candidate files=
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate _; do
    if [[ $candidate == ${filesMarker} ]]; then files=1; else COMPREPLY+=("$candidate"); fi
  done < <("\${words[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)
  # The default is to complete files.
  [[ $files ]] || compopt +o default 2>/dev/null || true
}
complete -o default -F _plantstore plantstore
`;

const zsh = `#compdef plantstore
# Completes plantstore in zsh. Add to ~/.zshrc, after compinit: source <(plantstore completion zsh)
_plantstore() {
  local -a candidates
  local line files=
  while IFS= read -r line; do
    if [[ $line == ${filesMarker} ]]; then files=1; continue; fi
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}\${\${line#*$'\\t'}:+:\${line#*$'\\t'}}")
  done < <("$words[1]" __complete -- "\${(@Q)words[2,CURRENT - 1]}" "\${(Q)PREFIX}" 2>/dev/null)
  (( $#candidates )) && _describe plantstore candidates
  [[ -n $files ]] && _files
}
# As a file in fpath, this text is the body of the function.
if [[ $funcstack[1] == _plantstore ]]; then _plantstore "$@"; else compdef _plantstore plantstore; fi
`;

const fish = `# Completes plantstore in fish. Add to ~/.config/fish/config.fish: plantstore completion fish | source
function __plantstore_candidates
  set --local words (commandline --current-process --tokenize --cut-at-cursor)
  set --local current (commandline --current-token --cut-at-cursor)
  for line in ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$line" = ${filesMarker}
      __fish_complete_path $current
    else
      echo $line
    end
  end
end
# Loads the completions that fish makes from the manual page, and removes them: they belong to no command.
complete --do-complete 'plantstore ' >/dev/null 2>&1
complete --command plantstore --erase
complete --command plantstore --no-files --arguments '(__plantstore_candidates)'
`;

export const completionScripts = { bash, zsh, fish } as const;

interface Candidates {
  readonly values: readonly Item[];
  /** True if paths of files are candidates too. */
  readonly withFiles: boolean;
}

type NamedOption = readonly [name: string, option: Option<unknown>];

/** The words before the cursor. */
interface CompletionContext {
  readonly command: Command;
  readonly operands: readonly string[];
  readonly flags: Flags;
  /** The option whose value comes next, with its name. */
  readonly open: NamedOption | undefined;
}

async function readWords(program: Command, words: readonly string[]): Promise<CompletionContext> {
  let command = program;
  let operands: string[] = [];
  let open: NamedOption | undefined;
  const flags: Record<string, string> = {};
  for (const word of words) {
    const child = await findCommand(command, [word]);
    if (open !== undefined) {
      flags[open[0]] = word;
      open = undefined;
    } else if (word.startsWith("-")) {
      open = findValueOption(command, word);
    } else if (child === undefined) {
      operands.push(word);
    } else {
      command = child;
      operands = [];
    }
  }
  return { command, operands, flags, open };
}

function findValueOption(command: Command, flag: string): NamedOption | undefined {
  return Object.entries(command.options ?? {}).find(
    ([, { flags }]) => flags.endsWith(">") && flags.split(/[ ,]+/).includes(flag),
  );
}

async function listCandidates(
  { command, operands, flags, open }: CompletionContext,
  current: string,
  program: Command,
  io: Io,
): Promise<Candidates> {
  if (open !== undefined) {
    const [, { type, isFile }] = open;
    const { choices = [] } = type;
    return { values: choices.map((value) => [value, ""]), withFiles: isFile === true };
  }
  if (current.startsWith("-")) return { values: listFlags(command, program), withFiles: false };
  const group = command.name === "help" ? await findCommand(program, operands) : command;
  const commands = group === command && operands.length > 0 ? undefined : group;
  const args = command.arguments ?? [];
  const isVariadic = args.at(-1)?.name.includes("...") === true;
  const argument = args[isVariadic ? Math.min(operands.length, args.length - 1) : operands.length];
  const values = operands.length === 0 ? ((await command.listValues?.({ flags, io })) ?? []) : [];
  return {
    values: [...listCommands(commands), ...values],
    withFiles: argument?.isFile === true,
  };
}

function listFlags(command: Command, program: Command): readonly Item[] {
  const options = Object.values(command.options ?? {}).filter(({ isHidden }) => !isHidden);
  const flags = [
    ...options.map(({ flags: text, help }) => [text, help] as const),
    ...commonFlags,
    ...(command === program ? [versionFlag] : []),
  ];
  return flags.map(([text, help]) => [toLongFlag(text), help]);
}

function listCommands(group: Command | undefined): readonly Item[] {
  const commands = group?.commands?.filter(({ isHidden }) => isHidden !== true) ?? [];
  return commands.map(({ name, summary }) => [name, summary]);
}
