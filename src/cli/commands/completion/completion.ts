/** `plantstore completion`: prints the script of a shell; and the hidden command that the scripts run. */
import { quoteInput } from "../../../core/quote.ts";
import type { Candidate, Run } from "../../command.ts";
import { UsageError } from "../../command-error.ts";
import { writeText } from "../../io.ts";
import { findCandidates } from "./candidates.ts";

/**
 * Prints the script of a shell.
 *
 * @throws UsageError for an unknown shell; OutputError
 */
export async function printScript({ operands: [shell = ""], io }: Run): Promise<void> {
  const script = Object.entries(completionScripts).find(([name]) => name === shell);
  if (script === undefined) {
    const known = Object.keys(completionScripts).join(", ");
    throw new UsageError(`no completion for "${quoteInput(shell)}": choose one of ${known}`);
  }
  await writeText(io.stdout, script[1]);
}

/** The shells with a script, for completion. */
export function listShells(): readonly Candidate[] {
  return Object.keys(completionScripts).map((value) => ({ value, description: "" }));
}

/**
 * Prints the candidates for the last of the words, one per line with a tab and a description, and a marker if files are
 * candidates too.
 *
 * @throws OutputError
 */
export async function printCandidates({ operands, program, io }: Run): Promise<void> {
  const { values, withFiles } = await findCandidates(program, operands);
  const lines = values.map(({ value, description }) => `${value}\t${description}\n`);
  if (withFiles) lines.push(`${filesMarker}\n`);
  await writeText(io.stdout, lines.join(""));
}

/** The line after the candidates if files are candidates too. */
export const filesMarker = ":files";

const bash = `# Completes plantstore in bash. Add to ~/.bashrc: source <(plantstore completion bash)
_plantstore() {
  local line=\${COMP_LINE:0:COMP_POINT} words current breaks candidate files=
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]} - 1]}
  # In a word with = or :, bash replaces only the text after the last of them.
  breaks=\${current%"\${current##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate _; do
    if [[ $candidate == ${filesMarker} ]]; then files=1; else COMPREPLY+=("\${candidate#"$breaks"}"); fi
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
  # The value of --option= may be a file.
  [[ -n $files ]] && { compset -P '--*='; _files }
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
      set --local flag (string match --regex '^--[^=]*=' -- $current)
      __fish_complete_path (string replace --regex '^--[^=]*=' '' -- $current) | string replace --regex -- '^' "$flag"
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

/** The scripts, by the names of their shells. */
export const completionScripts = { bash, zsh, fish } as const;
