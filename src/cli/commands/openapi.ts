/** `plantstore openapi`: prints the interface description. */
import { createOpenApiDocument, toOpenApiJson } from "../../core/openapi.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Io, writeText } from "../io.ts";
import { serveSettings } from "../settings/serve-settings.ts";
import { type OpenApiFlags, resolveUrl } from "../settings/client-settings.ts";

/** What `openapi` is to do. */
export interface OpenApiOptions {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly isYaml: boolean;
}

/**
 * What the flags of a command line ask for.
 *
 * @throws CommandError that names the flag or the variable whose value is wrong
 */
export function toOpenApiOptions(flags: OpenApiFlags, io: Io): OpenApiOptions {
  return { baseUrl: resolveUrl(flags, io).baseUrl, isYaml: flags.yaml === true };
}

/**
 * Prints the description of a server that was started with the defaults; one that runs tells its own.
 *
 * @returns the exit code, once it is printed
 * @throws OutputError
 */
export async function printOpenApi({ baseUrl, isYaml }: OpenApiOptions, io: Io): Promise<number> {
  const { maxBody, onConflict } = serveSettings;
  const document = createOpenApiDocument({
    url: baseUrl,
    maxBodyBytes: maxBody.parse(maxBody.fallback),
    onConflict: onConflict.parse(onConflict.fallback),
  });
  const text = isYaml
    ? (await import("../output/yaml.ts")).toYaml(document)
    : toOpenApiJson(document);
  await writeText(io.stdout, text);
  return exitCodes.done.code;
}
