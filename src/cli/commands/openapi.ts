/** The command `openapi`. */
import { toEndpoint } from "../../core/base-url.ts";
import { createOpenApiDocument, toOpenApiJson } from "../../core/openapi.ts";
import { storeOptions } from "../../library/store-options.ts";
import { commonExitCodes } from "../command-error.ts";
import { type CommandBody, redirectAdvice, type Run } from "../command.ts";
import { writeText } from "../io.ts";
import { openApiOptions } from "../options/remote.ts";
import { readOptions } from "../options/values.ts";

export const openApiCommand: CommandBody = {
  description: `Prints the interface description, OpenAPI 3.1, of a plant store, and contacts
none. A running server publishes its own at /openapi.json, without a token.`,
  options: openApiOptions,
  examples: [
    "plantstore openapi > openapi.json",
    "plantstore openapi --operations all",
    "plantstore openapi --public-url https://plants.example.org/v1",
  ],
  operandAdvice: redirectAdvice,
  exitCodes: commonExitCodes,
  run: printOpenApi,
};

async function printOpenApi({ flags, io }: Run): Promise<void> {
  const { publicUrl, operations } = readOptions(openApiOptions, flags, io);
  const document = createOpenApiDocument({
    url: toEndpoint(publicUrl).httpUrl,
    operations,
    maxBodyBytes: storeOptions.maxBodyBytes.default,
    onConflict: storeOptions.onConflict.default,
  });
  await writeText(io.stdout, toOpenApiJson(document));
}
