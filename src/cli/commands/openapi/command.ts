/** Declares `openapi`. */
import type { CommandBody } from "../../command.ts";
import { openApiOptions } from "../../options.ts";

/** `plantstore openapi`. */
export const openApiCommand: CommandBody = {
  description: `Prints the interface description, OpenAPI 3.1, of a plant store with default
options. A running server publishes its own at /openapi.json, without a token.
With --examples, prints an accepted and a rejected request for each error, with
their responses.`,
  options: openApiOptions,
  examples: [
    "plantstore openapi > openapi.json",
    "plantstore openapi --yaml --url https://plants.example.org/v1",
    "plantstore openapi --examples | jq 'select(.error == 40900)'",
  ],
  exitCodes: ["done", "internal", "usage", "outputClosed"],
  run: async (run) => (await import("./openapi.ts")).printOpenApi(run),
};
