/** Declares `help`. */
import { type Candidate, type Command, commandGroups } from "../../command.ts";

const toCandidate = (value: string): Candidate => ({ value, description: "Topic" });

/** `plantstore help`. */
export const helpCommand: Command = {
  name: "help",
  group: commandGroups.other,
  summary: "Show help for a command or a topic",
  description: "Prints the help of a command, or a topic of the manual.",
  arguments: [
    {
      name: "[word...]",
      help: "Command or topic",
      list: async () => (await import("./topics.ts")).listTopics().map(toCandidate),
    },
  ],
  examples: ["plantstore help create", "plantstore help token issue"],
  exitCodes: ["done", "internal", "usage"],
};
