/** Declares the commands for the owner of a store: `token issue`, `list`, `rotate`, `revoke` and `prune`. */
import { type Command, commandGroups, describeVariables } from "../../command.ts";
import { storeExitCodes } from "../../exit-codes.ts";
import {
  tokenIssueOptions,
  jsonStoreOptions,
  tokenPruneOptions,
  tokenRotateOptions,
} from "../../options.ts";

const environment = describeVariables("PLANTSTORE_DATA_DIR");

const issueCommand: Command = {
  name: "issue",
  summary: "Issue a token",
  description: `Issues a token for a store and prints it on standard output. It is not shown
again: the store keeps only its digest. Running servers accept the token within
one second.`,
  options: tokenIssueOptions,
  examples: [
    "plantstore token issue",
    "plantstore token issue --name ci --expires 30d > ci.token",
    "plantstore token issue --json | jq -r .token",
    "plantstore token issue | plantstore login",
  ],
  environment,
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: async (run) => (await import("./token.ts")).issueToken(run),
};

const listCommand: Command = {
  name: "list",
  summary: "Show the tokens of a store",
  description: `Shows the name and the first characters of each token, its times, the day of
its last use, and its state: active, expired or revoked. Prints a table on a
terminal, otherwise one line of JSON per token.`,
  options: jsonStoreOptions,
  examples: [
    "plantstore token list",
    `plantstore token list --json | jq 'select(.state == "expired")'`,
  ],
  environment,
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: async (run) => (await import("./token.ts")).listTokens(run),
};

const revokeCommand: Command = {
  name: "revoke",
  summary: "Revoke a token",
  description:
    "Revokes the token with a name or a prefix. Running servers reject the token within one second.",
  arguments: [{ name: "<token>", help: "Token name or prefix" }],
  options: jsonStoreOptions,
  examples: ["plantstore token revoke ci", "plantstore token revoke pst_4fGh"],
  environment,
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: async (run) => (await import("./token.ts")).revokeToken(run),
};

const rotateCommand: Command = {
  name: "rotate",
  summary: "Replace a token by a new one with the same name",
  description: `Issues a token with the name of another one and prints it on standard output.
Every active token with this name expires after --overlap, so that its users have
time to change; one that expires earlier keeps its time. A prefix selects one token
of several with the same name. Running servers follow within one second.`,
  arguments: [{ name: "<token>", help: "Token name or prefix" }],
  options: tokenRotateOptions,
  examples: [
    "plantstore token rotate ci > ci.token",
    "plantstore token rotate ci --overlap 7d --expires 90d --json",
    "plantstore token rotate leaked --overlap 0",
    "plantstore token rotate first | plantstore login",
  ],
  environment,
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: async (run) => (await import("./rotate.ts")).rotateToken(run),
};

const pruneCommand: Command = {
  name: "prune",
  summary: "Remove expired and revoked tokens",
  description: `Removes expired and revoked tokens from a store and prints them: as a table on a
terminal, otherwise as one line of JSON per token. Active tokens stay.`,
  options: tokenPruneOptions,
  examples: ["plantstore token prune", "plantstore token prune --older-than 30d --json"],
  environment,
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: async (run) => (await import("./token.ts")).pruneTokens(run),
};

/** `plantstore token`. */
export const tokenCommand: Command = {
  name: "token",
  group: commandGroups.local,
  summary: "Issue, list, rotate and revoke tokens of a store",
  description: `Manages the tokens of a store, which decide who can create plants. Opens the
store itself, without a server. Running servers follow within one second.`,
  examples: [
    "plantstore token issue --name ci --expires 30d",
    "plantstore token list",
    "plantstore token rotate ci",
    "plantstore token revoke ci",
  ],
  exitCodes: storeExitCodes,
  commands: [issueCommand, listCommand, rotateCommand, revokeCommand, pruneCommand],
  hints: {
    create: `"plantstore token issue" issues a token`,
    add: `"plantstore token issue" issues a token`,
    delete: `"plantstore token revoke" revokes a token`,
    remove: `"plantstore token revoke" revokes a token`,
    renew: `"plantstore token rotate" replaces a token`,
  },
};
