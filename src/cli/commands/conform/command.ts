/** Declares `conform`. */
import { type Command, commandGroups, describeVariables } from "../../command.ts";
import { requestExitCodes } from "../../exit-codes.ts";
import { conformOptions } from "../../options.ts";

/** `plantstore conform`. */
export const conformCommand: Command = {
  name: "conform",
  group: commandGroups.remote,
  summary: "Test whether a server keeps the contract",
  description: `Tests a server against the rules of the plant store contract, in two groups: the
given contract, and what plantstore decides where that is silent. It writes plants
that the service cannot delete, so it asks first. "plantstore help conformance" explains the report.`,
  options: conformOptions,
  examples: [
    "plantstore conform",
    "plantstore conform --url https://plants.example.org/v1 --yes",
    "plantstore conform --yes --json | jq 'select(.result == \"fail\")'",
  ],
  environment: describeVariables(
    "PLANTSTORE_TOKEN",
    "PLANTSTORE_TOKEN_FILE",
    "PLANTSTORE_CONFIG_DIR",
  ),
  exitCodes: [
    ...requestExitCodes.filter((name) => name !== "noPlantStore"),
    "someMissing",
    "outputClosed",
  ],
  run: async (run) => (await import("./conform.ts")).conform(run),
};
