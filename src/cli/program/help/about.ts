/** Help of plantstore as a whole, and of the commands that tell about it. */
import type { CommandHelp } from "./command-help.ts";

/** `plantstore` itself. */
export const program: CommandHelp = {
  summary: "",
  text: "Keeps plants in a durable store, and sends plants to it.",
  examples: [
    "plantstore serve                      start a plant store",
    "plantstore create --id 1 --name fern  create a plant in it",
    "plantstore list                       show the plants in it",
  ],
  environment: [["NO_COLOR, FORCE_COLOR", "no colour, or colour everywhere"]],
  exitCodes: ["done", "internal", "usage"],
  exitCodesNote: "Each command's help names its own.",
};

/** `plantstore doctor`. */
export const doctor: CommandHelp = {
  summary: "find out what is wrong",
  text: `Looks at all that plantstore rests on here: Node, its directories, every setting
and where it comes from, the store and whether it is sound, the server, the
token and the clock. Of what is wrong it says what to do. It creates and changes
nothing, and shows nothing that is secret.`,
  examples: [
    "plantstore doctor",
    "plantstore doctor --url https://plants.example.org/v1",
    "plantstore doctor --store sqlite:/var/lib/plantstore/plants.db",
    `plantstore doctor --json | jq '.checks[] | select(.state == "error")'`,
  ],
  environment: [["PLANTSTORE_*", "every variable that other commands read"]],
  exitCodes: [
    "done",
    "internal",
    "usage",
    "tokenRefused",
    "unavailable",
    "notAPlantStore",
    "interrupted",
    "outputClosed",
    "terminated",
  ],
  exitCodesNote: "Of several errors it is that of the first.",
};

/** `plantstore explain`. */
export const explain: CommandHelp = {
  summary: "explain an error number",
  text: `Says what an error number of a plant store means, what causes it, what to do,
and how "plantstore create" exits with it.`,
  examples: [
    "plantstore explain 40900",
    "plantstore explain idTaken",
    "plantstore explain | grep token",
  ],
  exitCodes: ["done", "internal", "usage", "outputClosed"],
};

/** `plantstore openapi`. */
export const openapi: CommandHelp = {
  summary: "print the interface description (OpenAPI)",
  text: `Prints the interface description, OpenAPI 3.1, of a plant store that was started
with the defaults. A running one tells its own, without a token, at
/openapi.json.`,
  examples: [
    "plantstore openapi > openapi.json",
    "plantstore openapi --yaml --url https://plants.example.org/v1",
  ],
  exitCodes: ["done", "internal", "usage", "outputClosed"],
};

/** `plantstore completion`. */
export const completion: CommandHelp = {
  summary: "print the completion script for a shell",
  text: `Prints a script for bash, zsh or fish, with which the Tab key completes
commands, options and their values.`,
  examples: [
    "source <(plantstore completion bash)  in ~/.bashrc",
    "source <(plantstore completion zsh)   in ~/.zshrc, after compinit",
    "plantstore completion fish | source   in ~/.config/fish/config.fish",
  ],
  exitCodes: ["done", "internal", "usage"],
};
