/** Declares `explain`. */
import type { CommandBody } from "../../command.ts";
import { jsonOption } from "../../options.ts";

/** `plantstore explain`. */
export const explainCommand: CommandBody = {
  description: `Explains an error number of a plant store: its condition, how to fix it, and the
exit code of "plantstore create".`,
  options: jsonOption,
  listValues: async () => (await import("./explain.ts")).listErrorNumbers(),
  examples: [
    "plantstore explain 40900",
    "plantstore explain idTaken",
    "plantstore explain | grep token",
    "plantstore explain --json | jq .remedy",
  ],
  exitCodes: ["done", "internal", "usage", "outputClosed"],
  run: async (run) => (await import("./explain.ts")).explain(run),
};
