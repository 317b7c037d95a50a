/** `plantstore openapi`: prints the interface description, or examples. */
import { toEndpoint } from "../../../core/base-url.ts";
import { createOpenApiDocument, toOpenApiJson } from "../../../core/openapi.ts";
import { storeOptions } from "../../../library/options.ts";
import type { Run } from "../../command.ts";
import { UsageError } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { writeText } from "../../io.ts";
import { openApiOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";

/**
 * Prints the description of a server with default options, or the examples of its errors.
 *
 * @returns the exit code
 * @throws CommandError for an invalid URL or flags that exclude each other; OutputError
 */
export async function printOpenApi({ flags, io }: Run): Promise<number> {
  const { url: baseUrl, isYaml, isExamples } = readOptions(openApiOptions, flags, io);
  const url = toEndpoint(baseUrl).httpUrl;
  if (isYaml && isExamples) throw new UsageError("--yaml and --examples exclude each other");
  if (isExamples) {
    const { toExampleLines } = await import("./examples.ts");
    await writeText(io.stdout, `${toExampleLines(url).join("\n")}\n`);
    return exitCodes.done.code;
  }
  const document = createOpenApiDocument({
    url,
    maxBodyBytes: storeOptions.maxBodyBytes.default,
    onConflict: storeOptions.onConflict.default,
  });
  const text = isYaml ? (await import("./yaml.ts")).toYaml(document) : toOpenApiJson(document);
  await writeText(io.stdout, text);
  return exitCodes.done.code;
}
