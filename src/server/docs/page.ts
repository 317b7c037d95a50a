/** The documentation page: what the service is, and a form to try it. It loads nothing else. */
import { createHash } from "node:crypto";
import { errorAdvice } from "../../core/error-advice.ts";
import { type ErrorKind, errorTable } from "../../core/errors.ts";
import { int64Max, int64Min } from "../../core/int64.ts";
import { createOpenApiDocument, type DescribedServer } from "../../core/openapi.ts";
import { toShellWord } from "../../core/shell-word.ts";
import { type HttpResponse, toHeader } from "../response.ts";
import { toHtml, toMembersTable } from "./html.ts";
import template from "./page.html?raw";

/** Properties of a server that the page shows. */
export interface PageServer extends DescribedServer {
  /** Prefix of `/plants` on the server itself. */
  readonly basePath: string;
}

/** Response with the page. */
export function toPageResponse(server: PageServer): HttpResponse {
  return {
    status: 200,
    body: toPage(server),
    contentType: "text/html; charset=utf-8",
    headers:
      toHeader("Content-Security-Policy", contentSecurityPolicy) +
      toHeader("Cross-Origin-Resource-Policy", "same-origin") +
      toHeader("Referrer-Policy", "no-referrer") +
      toHeader("X-Frame-Options", "DENY"),
  };
}

/** Allows the script and the style of the page, and requests to this server. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src '${toSource("script")}'`,
  `style-src '${toSource("style")}'`,
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Hash of the text in the only element with this name. */
function toSource(element: "script" | "style"): string {
  const [, text = ""] = new RegExp(`<${element}>([^]*)</${element}>`).exec(template) ?? [];
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function toPage(server: PageServer): string {
  const { url, maxBodyBytes, onConflict, basePath } = server;
  const description = createOpenApiDocument(server);
  const curl = `curl ${toShellWord(`${url}/plants`)} \\
  -H "Authorization: Bearer $PLANTSTORE_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"id":1,"name":"fern"}'`;
  const values: Readonly<Record<string, string>> = {
    url: toHtml(url),
    target: toHtml(`${basePath}/plants`.slice(1)),
    int64Min: String(int64Min),
    int64Max: String(int64Max),
    curl: toHtml(curl),
    plantstore: toHtml(`plantstore create --url ${toShellWord(url)} --id 1 --name fern`),
    maxBodyBytes: String(maxBodyBytes),
    newPlantMembers: toMembersTable("NewPlant", description),
    plantMembers: toMembersTable("Plant", description),
    errorMembers: toMembersTable("Error", description),
    conflict:
      onConflict === "reject"
        ? `A different name or tag is rejected with ${errorTable.idTaken.error}, and the stored plant does not change.`
        : "A different name or tag replaces the stored plant.",
    errorRows: (Object.keys(errorTable) as ErrorKind[]).map(toErrorRow).join("\n"),
  };
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}

function toErrorRow(kind: ErrorKind): string {
  const { error, when } = errorTable[kind];
  const cells = [when, errorAdvice[kind].remedy].map((text) => `<td>${toHtml(text)}</td>`);
  return `<tr><th scope="row">${error}</th>${cells.join("")}</tr>`;
}
