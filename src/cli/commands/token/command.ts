/** Declares the commands for the owner of a store: `token issue`, `list` and `revoke`. */
import { type CommandBody, describeVariables, storeHints } from "../../command.ts";
import { storeExitCodes } from "../../exit-codes.ts";
import { tokenIssueOptions, tokenListOptions, tokenRevokeOptions } from "../../store-options.ts";

const environment = describeVariables("PLANTSTORE_DATA_DIR");

const issueCommand: CommandBody = {
  description: `Issues a token for a store and prints it on standard output. It is not shown
again: the store keeps only its digest. Running servers accept the token within
one second. Removes tokens that expired or were revoked more than 90 days ago.`,
  options: tokenIssueOptions,
  examples: [
    "plantstore token issue",
    "plantstore token issue --name ci --expires 30d > ci.token",
    "plantstore token issue --json | jq -r .token",
    "plantstore token issue | plantstore login",
  ],
  environment,
  hints: storeHints,
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: async (run) => (await import("./token.ts")).issueToken(run),
};

const listCommand: CommandBody = {
  description: `Shows the name and the first characters of each valid token, its times, the day
of its last use, and its state: active, or with --all also expired and revoked.
Prints a table on a terminal, otherwise one line of JSON per token.`,
  options: tokenListOptions,
  examples: [
    "plantstore token list",
    `plantstore token list --all --json | jq 'select(.state == "expired")'`,
  ],
  environment,
  hints: storeHints,
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: async (run) => (await import("./token.ts")).listTokens(run),
};

const revokeCommand: CommandBody = {
  description: `Revokes the token with a name or a prefix. Running servers reject the token
within one second. With --after, the token expires then, or earlier if it would
anyway, so that its users have time to change to another one. If several valid
tokens have one name, the prefix selects one of them.`,
  options: tokenRevokeOptions,
  examples: ["plantstore token revoke ci", "plantstore token revoke pst_4fGh --after 24h"],
  environment,
  hints: storeHints,
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: async (run) => (await import("./token.ts")).revokeToken(run),
};

const rotation = `"plantstore token issue", then "plantstore token revoke PREFIX --after 24h"`;

/** `plantstore token`. */
export const tokenCommand: CommandBody = {
  description: `Manages the tokens in a store, which decide who can create plants. Opens the
store itself, without a server. Running servers follow within one second.`,
  examples: [
    "plantstore token issue --name ci --expires 30d",
    "plantstore token list",
    "plantstore token revoke ci",
  ],
  exitCodes: storeExitCodes,
  commands: [
    { name: "issue", summary: "Issue a token", load: async () => issueCommand },
    {
      name: "list",
      summary: "Show the valid tokens in a store",
      load: async () => listCommand,
    },
    {
      name: "revoke",
      summary: "Revoke a token",
      arguments: [{ name: "<token>", help: "Token name or prefix" }],
      load: async () => revokeCommand,
    },
  ],
  hints: {
    create: `"plantstore token issue" issues a token`,
    add: `"plantstore token issue" issues a token`,
    delete: `"plantstore token revoke" revokes a token`,
    remove: `"plantstore token revoke" revokes a token`,
    renew: rotation,
    rotate: rotation,
  },
};
