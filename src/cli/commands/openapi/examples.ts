/** Formats the examples of the errors as NDJSON. */
import { listExampleExchanges } from "../../../core/example-exchanges.ts";
import type { FilledRequest } from "../../../core/request-template.ts";

/** One JSON text for each example. */
export function toExampleLines(url: string): readonly string[] {
  const { host, pathname } = new URL(url);
  const basePath = pathname.replace(/\/$/, "");
  const values = { host, basePath, token: "<ACCESS_TOKEN>" };
  return listExampleExchanges(values).map(({ before, request, ...others }) => {
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
