/** For each shell, the script that asks plantstore itself what may come next; nothing in it grows old. */

const bash = `# Completes plantstore in bash. Add to ~/.bashrc: source <(plantstore completion bash)
_plantstore() {
  local line=\${COMP_LINE:0:COMP_POINT} words current breaks candidate
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]} - 1]}
  # Of a word with = or : in it, bash replaces only what follows the last of them.
  breaks=\${current%"\${current##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate _; do
    COMPREPLY+=("\${candidate#"$breaks"}")
  done < <("\${words[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _plantstore plantstore
`;

const zsh = `#compdef plantstore
# Completes plantstore in zsh. Add to ~/.zshrc, after compinit: source <(plantstore completion zsh)
_plantstore() {
  local -a candidates
  local line
  while IFS= read -r line; do
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}\${\${line#*$'\\t'}:+:\${line#*$'\\t'}}")
  done < <("$words[1]" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#candidates )); then _describe plantstore candidates; else _files; fi
}
compdef _plantstore plantstore
`;

const fish = `# Completes plantstore in fish. Add to ~/.config/fish/config.fish: plantstore completion fish | source
function __plantstore_find_candidates
  set --local words (commandline --current-process --tokenize --cut-at-cursor)
  set --local current (commandline --current-token --cut-at-cursor)
  set --global __plantstore_candidates ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
  test (count $__plantstore_candidates) -gt 0
end
complete --command plantstore --condition __plantstore_find_candidates --no-files --arguments '$__plantstore_candidates'
`;

/** The scripts by the names of their shells. */
export const completionScripts = { bash, zsh, fish } as const;

/** A shell that can be completed in. */
export type Shell = keyof typeof completionScripts;

/** Whether a name is that of such a shell. */
export function isShell(name: string): name is Shell {
  return Object.hasOwn(completionScripts, name);
}
