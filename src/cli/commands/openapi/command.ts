/** Declares `openapi`. */
import type { CommandBody } from "../../command.ts";
import { openApiOptions } from "../../options.ts";

/** `plantstore openapi`. */
export const openApiCommand: CommandBody = {
  description: `Prints the interface description, OpenAPI 3.1, of a plant store with default
options. A running server publishes its own at /openapi.json, without a token.`,
  options: openApiOptions,
  examples: [
    "plantstore openapi > openapi.json",
    "plantstore openapi --url https://plants.example.org/v1",
  ],
  hints: {
    "--yaml": "JSON is YAML too, so use the output as it is",
    "--examples": 'in a checkout, "npm run conform -- --verbose" shows a request for each error',
  },
  exitCodes: ["done", "internal", "usage", "outputClosed"],
  run: async (run) => (await import("./openapi.ts")).printOpenApi(run),
};
