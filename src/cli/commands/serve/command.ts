/** Declares `serve`. */
import { type CommandBody, describeVariables, tokenAdvice } from "../../command.ts";
import { storeExitCodes } from "../../command-error.ts";
import { serveOptions } from "../../options/local.ts";

export const serveCommand: CommandBody = {
  description: `Serves a plant store over HTTP until Ctrl-C. Prints its URL on stdout once it
accepts requests. "plantstore help configuration" also has variables, limits and timeouts, such
as --max-body and --drain.

The first start of a store issues a token and saves it, so that "plantstore create"
on this machine can use it. With PLANTSTORE_TOKEN, serve accepts that token, and
issues and saves none. --ephemeral saves nothing; a script gets its token with
--json.`,
  options: serveOptions,
  examples: [
    "plantstore serve",
    "plantstore serve --port 8080 --base-path /v1",
    "plantstore serve --store sqlite:/var/lib/plantstore/plants.db",
    "plantstore serve --ephemeral --json",
    "plantstore serve --ephemeral --seed plants.ndjson",
    "plantstore serve --tls-cert fullchain.pem --tls-key privkey.pem",
  ],
  environment: [
    ["PLANTSTORE_TOKEN", "Token to accept"],
    ...describeVariables("PLANTSTORE_DATA_DIR", "PLANTSTORE_CONFIG_DIR", "LISTEN_FDS"),
  ],
  exitCodes: {
    ...storeExitCodes,
    internal: "Internal error, or it cannot listen",
    invalidPlant: "Invalid plant in a seed, or the store is damaged",
    idTaken: "The id of a seed belongs to a different plant",
  },
  exitCodesNote: "A second Ctrl-C ends it at once with 130, a second SIGTERM with 143.",
  tokenAdvice: `${tokenAdvice} to create`,
  run: async (run) => (await import("./serve.ts")).runServe(run),
};
