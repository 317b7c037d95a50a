/** Declares `completion`, and the hidden command that the scripts call. */
import { type Command, commandGroups } from "../../command.ts";

/** `plantstore completion`. */
export const completionCommand: Command = {
  name: "completion",
  group: commandGroups.other,
  summary: "Print the completion script for a shell",
  description: `Prints a script for bash, zsh or fish. With it, the Tab key completes commands,
options and their values.`,
  arguments: [
    {
      name: "<shell>",
      help: "bash, zsh or fish",
      list: async () => (await import("./completion.ts")).listShells(),
    },
  ],
  examples: [
    "source <(plantstore completion bash)  in ~/.bashrc",
    "source <(plantstore completion zsh)   in ~/.zshrc, after compinit",
    "plantstore completion fish | source   in ~/.config/fish/config.fish",
  ],
  exitCodes: ["done", "internal", "usage"],
  run: async (run) => (await import("./completion.ts")).printScript(run),
};

/** `plantstore __complete`: prints candidates for the last of its arguments. */
export const candidatesCommand: Command = {
  name: "__complete",
  isHidden: true,
  summary: "Print candidates for completion",
  description: "Prints the candidates for the last of the words.",
  arguments: [{ name: "[words...]", help: "The words of a command line after plantstore" }],
  examples: [],
  exitCodes: ["done"],
  run: async (run) => (await import("./completion.ts")).printCandidates(run),
};
