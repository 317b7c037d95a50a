/** Declares `ping`. */
import { type CommandBody, describeVariables } from "../../command.ts";
import { requestExitCodes } from "../../exit-codes.ts";
import { pingOptions } from "../../options.ts";

/** `plantstore ping`. */
export const pingCommand: CommandBody = {
  description: `Checks whether a plant store is ready to create plants: the server runs, is not
stopping, and its storage is writable. Needs no token and creates nothing. With
--wait, tries until the server is ready or the time is over.`,
  options: pingOptions,
  examples: [
    "plantstore ping",
    "plantstore ping --wait 30s && plantstore create plants.csv",
    "plantstore ping --url https://plants.example.org/v1 --timeout 2",
    "plantstore ping --json | jq .ready",
  ],
  environment: describeVariables("PLANTSTORE_CONFIG_DIR"),
  exitCodes: [...requestExitCodes.filter((name) => name !== "tokenRejected"), "outputClosed"],
  run: async (run) => (await import("./ping.ts")).ping(run),
};
