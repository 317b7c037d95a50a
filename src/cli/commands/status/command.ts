/** Declares `status`. */
import { type CommandBody, curlAdvice } from "../../command.ts";
import { requestExitCodes } from "../../exit-codes.ts";
import { statusOptions } from "../../options.ts";

/** `plantstore status`. */
export const statusCommand: CommandBody = {
  description: `Shows which server commands such as "create" use, whether it can be reached and
accepts the token, and which store commands such as "list" open. Shows the
directories too, and each setting that is not at its default. Every value has its
source: a flag, an environment variable, a file, or the default. Creates no plant
and opens no store.`,
  options: statusOptions,
  examples: [
    "plantstore status",
    "plantstore status --all",
    "plantstore status --url https://plants.example.org/v1",
    "plantstore status --json | jq .works",
  ],
  environment: [["PLANTSTORE_*", "Every variable of the other commands"]],
  exitCodes: [...requestExitCodes, "outputClosed"],
  exitCodesNote: "The code is also 2 if a setting is invalid.",
  tokenAdvice: `run "plantstore login", which asks for it`,
  hints: { "--print-curl": curlAdvice },
  run: async (run) => (await import("./status.ts")).status(run),
};
