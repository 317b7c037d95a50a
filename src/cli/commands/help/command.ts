/** Declares `help`. */
import { type Candidate, type Command, commandGroups } from "../../command.ts";
import { helpOptions } from "../../options.ts";
import { listManualFiles, listTopics } from "./topics.ts";

async function listCandidates(): Promise<readonly Candidate[]> {
  return [
    ...listTopics().map((value) => ({ value, description: "Topic" })),
    ...listManualFiles().map((value) => ({ value, description: "File of the manual" })),
  ];
}

/** `plantstore help`. */
export const helpCommand: Command = {
  name: "help",
  group: commandGroups.other,
  summary: "Show help for a command or a topic",
  description:
    'Prints the help of a command, or a topic or another file of the manual. On a terminal, topics are shown by the program in PAGER. The manual page has all commands: man plantstore, or, since npm 12 links no manual pages, man "$(npm root --global)/plantstore/dist/plantstore.1".',
  arguments: [
    {
      name: "[word...]",
      help: "Command or topic",
      list: listCandidates,
    },
  ],
  options: helpOptions,
  examples: [
    "plantstore help create",
    "plantstore help create --all",
    "plantstore help token issue",
    "plantstore help alerts.yaml > alerts.yaml",
  ],
  exitCodes: ["done", "internal", "usage"],
};
