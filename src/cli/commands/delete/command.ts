/** Declares `delete`. */
import { type CommandBody, describeVariables, storeHints } from "../../command.ts";
import { storeExitCodes } from "../../exit-codes.ts";
import { deleteOptions } from "../../store-options.ts";

/** `plantstore delete`. */
export const deleteCommand: CommandBody = {
  description: `Deletes the plants with the given ids durably, and names the unknown ids at the
end. Opens the store itself, without a server or a token. Servers may use it at the
same time. It asks on a terminal; elsewhere, it needs --yes. The ids may be created
again. With --json, standard output has one line of JSON per id.
"plantstore help storage" says what remains on the disk.`,
  options: deleteOptions,
  examples: [
    "plantstore delete 7",
    "plantstore delete 7 8 9 --yes",
    "plantstore delete 7 8 9 --yes --json | jq 'select(.deleted)'",
    "plantstore delete 7 --store sqlite:/var/lib/plantstore/plants.db",
  ],
  environment: describeVariables("PLANTSTORE_DATA_DIR"),
  hints: storeHints,
  exitCodes: [...storeExitCodes, "noSuchPlant", "interrupted", "outputClosed", "terminated"],
  run: async (run) => (await import("./delete.ts")).deletePlants(run),
};
