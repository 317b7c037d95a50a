/** `plantstore openapi`: prints the interface description, or examples. */
import { toEndpoint } from "../../../core/base-url.ts";
import { listFilledExamples } from "../../../core/examples.ts";
import { createOpenApiDocument, toOpenApiJson } from "../../../core/openapi.ts";
import type { FilledRequest } from "../../../core/request-template.ts";
import { storeOptions } from "../../../library/store-options.ts";
import type { Run } from "../../command.ts";
import { UsageError } from "../../command-error.ts";
import { writeText } from "../../io.ts";
import { openApiOptions } from "../../options.ts";
import { readOptions } from "../../settings.ts";

/**
 * Prints the description of a server with default options, or the examples of its errors.
 *
 * @throws CommandError for an invalid URL or flags that exclude each other; OutputError
 */
export async function printOpenApi({ flags, io, terminal }: Run): Promise<void> {
  const { url: baseUrl, isYaml, isExamples } = readOptions(openApiOptions, flags, io);
  const url = toEndpoint(baseUrl).httpUrl;
  if (isYaml && isExamples) throw new UsageError("--yaml and --examples exclude each other");
  if (isExamples) return terminal.printLines(toExampleLines(url));
  const document = createOpenApiDocument({
    url,
    maxBodyBytes: storeOptions.maxBodyBytes.default,
    onConflict: storeOptions.onConflict.default,
  });
  await writeText(io.stdout, isYaml ? await toYaml(document) : toOpenApiJson(document));
}

/** Does not break lines of text, and keeps the digits of a bigint. */
async function toYaml(document: object): Promise<string> {
  const { default: yaml } = await import("yaml");
  return yaml.stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** One JSON text for each example. */
function toExampleLines(url: string): readonly string[] {
  const { host, pathname } = new URL(url);
  const basePath = pathname.replace(/\/$/, "");
  const values = { host, basePath, token: "<ACCESS_TOKEN>" };
  return listFilledExamples(values).map(({ before, request, ...others }) => {
    const { response, ...names } = others;
    return JSON.stringify({
      ...names,
      ...(before.length > 0 && { before: before.map(toJsonRequest) }),
      request: toJsonRequest(request),
      response,
    });
  });
}

/** A request whose body is text if it is UTF-8, and Base64 otherwise. */
function toJsonRequest({ body, ...request }: FilledRequest): object {
  const bytes = Buffer.from(body);
  const text = bytes.toString();
  const isUtf8 = Buffer.from(text).equals(bytes);
  return { ...request, ...(isUtf8 ? { body: text } : { bodyBase64: bytes.toString("base64") }) };
}
