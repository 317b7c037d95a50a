/** Declares `doctor`. */
import type { CommandBody } from "../../command.ts";
import { requestExitCodes } from "../../exit-codes.ts";
import { doctorOptions } from "../../store-options.ts";

/** `plantstore doctor`. */
export const doctorCommand: CommandBody = {
  description: `Checks everything that plantstore depends on: Node.js, the directories, every
setting, the store and its integrity, the server, the token and the clock.
Suggests a fix for each problem. Changes nothing, and prints no secrets.
"plantstore status" shows the settings and their sources.`,
  options: doctorOptions,
  examples: [
    "plantstore doctor",
    "plantstore doctor --url https://plants.example.org/v1",
    "plantstore doctor --store sqlite:/var/lib/plantstore/plants.db",
    `plantstore doctor --json | jq '.checks[] | select(.state == "error")'`,
  ],
  environment: [["PLANTSTORE_*", "Every variable of the other commands"]],
  exitCodes: [...requestExitCodes, "outputClosed"],
  exitCodesNote: "If several checks fail, the first one decides.",
  run: async (run) => (await import("./doctor.ts")).doctor(run),
};
