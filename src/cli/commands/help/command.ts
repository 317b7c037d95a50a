/** Declares `help`. */
import type { Candidate, CommandBody } from "../../command.ts";
import { helpOptions } from "../../options/remote.ts";
import { listManualFiles, listTopics } from "./topics.ts";

async function listCandidates(): Promise<readonly Candidate[]> {
  return [
    ...listTopics().map((value) => ({ value, description: "Topic" })),
    ...listManualFiles().map((value) => ({ value, description: "File of the manual" })),
  ];
}

/** `plantstore help`. */
export const helpCommand: CommandBody = {
  description:
    'Prints the help of a command, or a topic or another file of the manual. For another word, it names the topics that have it. On a terminal, topics are shown by the program in PAGER. The manual page has all commands: man plantstore, or, since npm 12 links no manual pages, man "$(npm root --global)/plantstore/dist/plantstore.1".',
  options: helpOptions,
  listValues: listCandidates,
  examples: [
    "plantstore help create",
    "plantstore help create --all",
    "plantstore help token issue",
    "plantstore help alerts.yaml > alerts.yaml",
  ],
  exitCodes: ["done", "internal", "usage"],
};
