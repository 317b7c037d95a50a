/** Declares `explain`. */
import { type Command, commandGroups } from "../../command.ts";
import { jsonOption } from "../../options.ts";

/** `plantstore explain`. */
export const explainCommand: Command = {
  name: "explain",
  group: commandGroups.other,
  summary: "Explain an error number",
  description: `Explains an error number of a plant store: its meaning, an example, how to fix
it, and the exit code of "plantstore create".`,
  arguments: [
    {
      name: "[error]",
      help: "Error number or name; without it, lists all",
      list: async () => (await import("./explain.ts")).listErrorNumbers(),
    },
  ],
  options: jsonOption,
  examples: [
    "plantstore explain 40900",
    "plantstore explain idTaken",
    "plantstore explain | grep token",
    "plantstore explain --json | jq .remedy",
  ],
  exitCodes: ["done", "internal", "usage", "outputClosed"],
  run: async (run) => (await import("./explain.ts")).explain(run),
};
