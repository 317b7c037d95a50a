/** Declares `completion`, and the hidden command that the scripts call. */
import type { CommandBody } from "../../command.ts";

/** `plantstore completion`. */
export const completionCommand: CommandBody = {
  description: `Prints a script for bash, zsh or fish. With it, the Tab key completes commands,
options and their values.`,
  listValues: async () => (await import("./completion.ts")).listShells(),
  examples: [
    "source <(plantstore completion bash)  in ~/.bashrc",
    "source <(plantstore completion zsh)   in ~/.zshrc, after compinit",
    "plantstore completion fish | source   in ~/.config/fish/config.fish",
  ],
  exitCodes: ["done", "internal", "usage"],
  run: async (run) => (await import("./completion.ts")).printScript(run),
};

/** `plantstore __complete`: prints candidates for the last of its arguments. */
export const candidatesCommand: CommandBody = {
  description: "Prints the candidates for the last of the words.",
  examples: [],
  exitCodes: ["done"],
  run: async (run) => (await import("./completion.ts")).printCandidates(run),
};
