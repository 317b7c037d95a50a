/** Responds with the documentation page: one file that loads nothing else. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { operations } from "../../core/contract.ts";
import { type ErrorKind, errorTable, listErrorKinds } from "../../core/errors.ts";
import { int64Max, int64Min } from "../../core/plant.ts";
import { createOpenApiDocument, type DescribedServer } from "../../core/openapi.ts";
import { toShellWord } from "../../core/messages.ts";
import type { ServerResponse } from "../response.ts";

/** Properties of a server that the page shows. */
export interface PageServer extends DescribedServer {
  /** Prefix of `/plants` on the server itself. */
  readonly basePath: string;
}

const readPart = (file: string): string => readFileSync(new URL(file, import.meta.url), "utf8");
const [template, style, script] = ["page.html", "page.css", "page.browser.js"].map(readPart) as [
  string,
  string,
  string,
];
/** The parts of a server with all operations, and the rest of its script. */
const [, plantsPart = "", otherOperationsPart = ""] =
  readPart("plants.html").split(/<!-- [a-z ]+ -->\n/);
const plantsScript = readPart("plants.browser.js");

/** Response with the page. */
export function toPageResponse(server: PageServer): ServerResponse {
  return {
    status: 200,
    body: toPage(server),
    contentType: "text/html; charset=utf-8",
    headers: [
      ["Content-Security-Policy", toContentSecurityPolicy(server)],
      ["Cross-Origin-Resource-Policy", "same-origin"],
      ["Referrer-Policy", "no-referrer"],
      ["X-Frame-Options", "DENY"],
    ],
  };
}

/** The script of a server's page. */
function toScript({ operations: set }: PageServer): string {
  return set === "all" ? script + plantsScript : script;
}

/** Allows the script and the style of the page, and requests to this server. */
function toContentSecurityPolicy(server: PageServer): string {
  return [
    "default-src 'none'",
    `script-src '${toHash(toScript(server))}'`,
    `style-src '${toHash(style)}'`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** Hash of an inline script or style, for the policy. */
function toHash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function toPage(server: PageServer): string {
  const { url, maxBodyBytes, onConflict, statusMode, basePath, storeKind } = server;
  const set = server.operations ?? "create";
  const hasAll = set === "all";
  const failureStatus = statusMode === "http" ? "4xx or 5xx" : "400";
  const { components } = createOpenApiDocument(server);
  const { schemas } = components as unknown as { schemas: Schemas };
  const kinds = listErrorKinds(server);
  const values: Readonly<Record<string, string>> = {
    url: toHtml(url),
    path: toHtml(basePath + operations.create.path),
    tokenSource:
      storeKind === "memory"
        ? "whoever started the server"
        : "the server's operator for one, or run <code>plantstore token issue</code> on the server",
    durability: storeKind === "memory" ? "in memory, until the server stops" : "durably",
    operationCount: hasAll ? "operations to create, list and delete plants" : "one operation",
    call: hasAll ? "request" : "create",
    orReplaced: onConflict === "replace" ? ", or <code>replaced</code>" : "",
    target: toHtml(`${basePath}${operations.create.path}`.slice(1)),
    urlWord: toHtml(toShellWord(url)),
    createUrlWord: toHtml(toShellWord(url + operations.create.path)),
    int64Min: String(int64Min),
    int64Max: String(int64Max),
    maxBodyBytes: maxBodyBytes.toLocaleString("en"),
    newPlantMembers: toMembersTable({ "": "NewPlant" }, schemas),
    responseMembers: toMembersTable(
      { "200: Plant": "Plant", [`${failureStatus}: Error`]: "Error" },
      schemas,
    ),
    conflict:
      onConflict === "reject"
        ? `A different plant with the same id is rejected with ${errorTable.idTaken.error}, and the stored plant does not change.`
        : "A different plant with the same id replaces the stored plant.",
    statusNote:
      statusMode === "http"
        ? "This server sends that status (<code>--status-mode http</code>). The plant store contract sends 400 for every failure."
        : "Every failed create has the status 400: tell failures apart by <code>error</code>.",
    frequentErrors: toErrorTable(kinds.filter((kind) => frequentErrors.has(kind))),
    otherErrors: toErrorTable(kinds.filter((kind) => !frequentErrors.has(kind))),
    plantColumns: listMembers({ $ref: "NewPlant" }, schemas)
      .map(([name]) => `<th scope="col">${toHtml(name)}</th>`)
      .join("\n"),
  };
  const parts: Readonly<Record<string, string>> = {
    notice: server.notice === undefined ? "" : `<p>${toHtml(server.notice)}</p>`,
    links: hasAll ? otherLinks : "",
    plants: hasAll ? plantsPart : "",
    "other operations": hasAll ? otherOperationsPart : "",
  };
  // A function, because a replacement text can contain patterns such as $&.
  return template
    .replace(/^ *<!-- ([a-z ]+) -->\n/gm, (_, name: string) => parts[name] ?? "")
    .replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "")
    .replace('<link rel="stylesheet" href="page.css" />', () => `<style>${style}</style>`)
    .replace(' src="page.browser.js">', () => `>${toScript(server)}`);
}

/** Links to the other operations. */
const otherLinks = `<a href="#plants">Plants</a> <a href="#get">GET</a> <a href="#delete">DELETE</a>`;

/** Errors that most clients meet. The page folds the others. */
const frequentErrors: ReadonlySet<ErrorKind> = new Set([
  "notJson",
  "noCredential",
  "unknownToken",
  "noSuchPlant",
  "idTaken",
  "notJsonType",
  "idMissing",
  "idNotInteger",
  "nameMissing",
  "overloaded",
]);

function toErrorTable(kinds: readonly ErrorKind[]): string {
  const heads = ["error", "when", "what to do"].map((text) => `<th scope="col">${text}</th>`);
  return `<table>
<thead><tr>${heads.join("")}</tr></thead>
<tbody>
${kinds.map(toErrorRow).join("\n")}
</tbody>
</table>`;
}

function toErrorRow(kind: ErrorKind): string {
  const { error, when, remedy } = errorTable[kind];
  const cells = [when, remedy].map((text) => `<td>${toHtml(text)}</td>`);
  return `<tr id="error-${error}"><th scope="row">${error}</th>${cells.join("")}</tr>`;
}

/** The parts of a JSON Schema that the description uses. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** Schemas by name. */
type Schemas = Readonly<Record<string, Schema>>;

/**
 * Lists the members of schemas in a table.
 *
 * @param names of the schemas, each below its title; a title can be empty
 */
function toMembersTable(names: Readonly<Record<string, string>>, schemas: Schemas): string {
  const bodies = Object.entries(names).map(([title, name]) => {
    const titleRow = title && `<tr><th scope="rowgroup" colspan="3">${toHtml(title)}</th></tr>\n`;
    const rows = listMembers({ $ref: name }, schemas).map(toMemberRow);
    return `<tbody>\n${titleRow}${rows.join("\n")}\n</tbody>`;
  });
  return `<table>
<thead><tr><th scope="col">member</th><th scope="col">type</th><th scope="col">meaning</th></tr></thead>
${bodies.join("\n")}
</table>`;
}

function toMemberRow([member, { type, format, description = "" }, isRequired]: Member): string {
  const kind = format === undefined ? type : `${type}, ${format}`;
  const cells = [`${kind}, ${isRequired ? "required" : "optional"}`, description];
  return `<tr><th scope="row"><code>${toHtml(member)}</code></th>${cells
    .map((text) => `<td>${toHtml(text)}</td>`)
    .join("")}</tr>`;
}

type Member = readonly [name: string, schema: Schema, isRequired: boolean];

function listMembers(
  { $ref, allOf = [], properties = {}, required = [] }: Schema,
  schemas: Schemas,
): Member[] {
  const referenced = schemas[$ref?.replace(/.*\//, "") ?? ""];
  // The schema's own members come before those it shares.
  const parts = [...(referenced === undefined ? [] : [referenced]), ...allOf].toReversed();
  return [
    ...Object.entries(properties).map(([name, schema]): Member => [
      name,
      schema,
      required.includes(name),
    ]),
    ...parts.flatMap((part) => listMembers(part, schemas)),
  ];
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for an element or a quoted attribute. */
function toHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
