/** Help of the commands for tokens: those for who owns a store, and those for who uses one. */
import type { ExitCodeName } from "../../exit-codes.ts";
import type { CommandHelp } from "./command-help.ts";
import { configDirectory, dataDirectory } from "./environment.ts";

const ownerExitCodes: readonly ExitCodeName[] = ["done", "internal", "usage", "unavailable"];

/** `plantstore token`. */
export const token: CommandHelp = {
  summary: "issue, list and revoke tokens of a store",
  text: `Tokens decide who may create plants. They belong to a store, and so to whoever
owns it: no server is asked, and running servers follow within a second.`,
  examples: [
    "plantstore token issue --name ci --expires 30d",
    "plantstore token list",
    "plantstore token revoke ci",
  ],
  exitCodes: ownerExitCodes,
};

/** `plantstore token issue`. */
export const tokenIssue: CommandHelp = {
  summary: "make a new token",
  text: `Makes a token for a store and prints it: this once, alone, on standard output.
The store keeps only its digest. Servers take it within a second.`,
  examples: [
    "plantstore token issue",
    "plantstore token issue --name ci --expires 30d > ci.token",
    "plantstore token issue | plantstore login",
  ],
  environment: [dataDirectory],
  exitCodes: [...ownerExitCodes, "outputClosed"],
};

/** `plantstore token list`. */
export const tokenList: CommandHelp = {
  summary: "show the tokens of a store",
  text: `Shows each token by its name and its first characters, when it was issued, when
it expires, on which day it was used last, and whether it is good: on a terminal
as a table, else one as JSON on each line.`,
  examples: [
    "plantstore token list",
    `plantstore token list --json | jq 'select(.state == "expired")'`,
  ],
  environment: [dataDirectory],
  exitCodes: [...ownerExitCodes, "outputClosed"],
};

/** `plantstore token revoke`. */
export const tokenRevoke: CommandHelp = {
  summary: "make a token worthless",
  text: `Revokes the token of this name, or the one that begins so. Servers refuse it
within a second, also those that run.`,
  examples: ["plantstore token revoke ci", "plantstore token revoke pst_4fGh"],
  environment: [dataDirectory],
  exitCodes: ownerExitCodes,
};

/** `plantstore login`. */
export const login: CommandHelp = {
  summary: "save a token for a plant store",
  text: `Saves a token for a plant store, and makes that the one which is meant where no
other is named. The token is typed without being shown, or read from standard
input. It is tried first, which creates no plant, and never sent anywhere else.`,
  examples: [
    "plantstore login",
    "plantstore login --url https://plants.example.org/v1",
    "plantstore login < plants.token",
    "plantstore token issue | plantstore login",
  ],
  environment: [configDirectory],
  exitCodes: [
    "done",
    "internal",
    "usage",
    "tokenRefused",
    "unavailable",
    "notAPlantStore",
    "interrupted",
    "terminated",
  ],
};

/** `plantstore status`. */
export const status: CommandHelp = {
  summary: "show which store and token are used, and try them",
  text: `Shows which plant store is meant and where that is said, which token is sent
there and where it comes from, who can read the saved one, and whether it works.
That is tried without creating a plant.`,
  examples: ["plantstore status", "plantstore status --url https://plants.example.org/v1 --json"],
  environment: [
    ["PLANTSTORE_TOKEN", "the token, instead of the saved one"],
    ["PLANTSTORE_TOKEN_FILE", "file that holds the token"],
    configDirectory,
  ],
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
};

/** `plantstore logout`. */
export const logout: CommandHelp = {
  summary: "forget the token for a plant store",
  text: `Removes the saved token for a plant store from this machine. It stays good until
it expires or is revoked with "plantstore token revoke".`,
  examples: ["plantstore logout", "plantstore logout --url https://plants.example.org/v1"],
  environment: [configDirectory],
  exitCodes: ["done", "internal", "usage"],
};
