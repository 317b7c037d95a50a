/** `plantstore openapi`: prints the interface description. */
import { toEndpoint } from "../../../core/base-url.ts";
import { createOpenApiDocument, toOpenApiJson } from "../../../core/openapi.ts";
import { storeOptions } from "../../../library/store-options.ts";
import type { Run } from "../../command.ts";
import { writeText } from "../../io.ts";
import { openApiOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";

/**
 * Prints the description of a server with default options.
 *
 * @throws CommandError for an invalid URL; OutputError
 */
export async function printOpenApi({ flags, io }: Run): Promise<void> {
  const { url: baseUrl } = readOptions(openApiOptions, flags, io);
  const url = toEndpoint(baseUrl).httpUrl;
  const document = createOpenApiDocument({
    url,
    maxBodyBytes: storeOptions.maxBodyBytes.default,
    onConflict: storeOptions.onConflict.default,
  });
  await writeText(io.stdout, toOpenApiJson(document));
}
