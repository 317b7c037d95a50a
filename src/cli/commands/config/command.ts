/** Declares `config list` and `config path`. */
import { type Command, commandGroups, describeVariables } from "../../command.ts";
import { jsonOption } from "../../options.ts";

const environment = describeVariables("PLANTSTORE_CONFIG_DIR", "PLANTSTORE_DATA_DIR");
const exitCodes = ["done", "internal", "usage", "outputClosed"] as const;

const listCommand: Command = {
  name: "list",
  summary: "Show all settings and their sources",
  description: `Shows every setting with its value and its source: an environment variable, the
file of saved settings, or the default. A flag of a command wins over all of
them. In columns on a terminal, otherwise as one line of JSON per setting.`,
  options: jsonOption,
  examples: [
    "plantstore config list",
    `plantstore config list --json | jq 'select(.flag == "--port")'`,
  ],
  environment: [["PLANTSTORE_*", "Every variable of the other commands"]],
  exitCodes,
  exitCodesNote: "The code is also 2 if a setting is invalid.",
  run: async (run) => (await import("./config.ts")).listConfig(run),
};

const pathCommand: Command = {
  name: "path",
  summary: "Show where settings, tokens and plants are",
  description: `Shows the directories and files of settings, saved tokens and the store, and
what decides about each. As a table on a terminal, otherwise as one line of JSON
for each.`,
  options: jsonOption,
  examples: ["plantstore config path", "plantstore config path --json | jq -r .path"],
  environment,
  exitCodes,
  run: async (run) => (await import("./config.ts")).showPaths(run),
};

/** `plantstore config`. */
export const configCommand: Command = {
  name: "config",
  group: commandGroups.other,
  summary: "Show settings, and where they are",
  description: `Shows settings with their sources, and the files of plantstore. Changes nothing.
Environment variables, flags and "plantstore login" change settings.`,
  examples: ["plantstore config list", "plantstore config path"],
  exitCodes: ["done", "internal", "usage"],
  commands: [listCommand, pathCommand],
  hints: {
    get: `"plantstore config list" shows all settings`,
    set: "set an environment variable or pass a flag",
  },
};
