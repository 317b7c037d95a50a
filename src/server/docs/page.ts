/** Responds with the documentation page: one file that loads nothing else. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { contractOperations, operations } from "../../core/contract.ts";
import { type ErrorKind, errorTable, listErrorKinds } from "../../core/errors.ts";
import { joinWords, toShellWord } from "../../core/messages.ts";
import { type DescribedServer, toSchema } from "../../core/openapi.ts";
import {
  type AllMembers,
  int64Max,
  int64Min,
  type NewPlant,
  toNewPlantJson,
  toPlantJson,
} from "../../core/plant.ts";
import { errorBodySchema, newPlantSchema, plantSchema } from "../../core/read-plant.ts";
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

/** The plant that the form begins with, and one with every member. */
const fern: NewPlant = { id: 1n, name: "fern" };
const pottedFern: AllMembers<NewPlant> = { ...fern, tag: "pot" };

export function toPageResponse(server: PageServer): ServerResponse & { readonly body: string } {
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
  const kinds = listErrorKinds(server);
  const values: Readonly<Record<string, string>> = {
    url: toHtml(url),
    path: toHtml(basePath + operations.create.path),
    tokenSource:
      storeKind === "memory"
        ? "whoever started the server"
        : "the server's operator for one, or run <code>plantstore token issue</code> on the server",
    durability: storeKind === "memory" ? "in memory, until the server stops" : "durably",
    operationCount: hasAll
      ? `operations to ${joinWords(contractOperations.all)} plants`
      : "one operation",
    call: hasAll ? "request" : "create",
    orReplaced: onConflict === "replace" ? ", or <code>replaced</code>" : "",
    target: toHtml(`${basePath}${operations.create.path}`.slice(1)),
    urlWord: toHtml(toShellWord(url)),
    createUrlWord: toHtml(toShellWord(url + operations.create.path)),
    int64Min: String(int64Min),
    int64Max: String(int64Max),
    maxBodyBytes: maxBodyBytes.toLocaleString("en"),
    flags: toHtml(
      Object.entries(fern)
        .flatMap(([member, value]) => [`--${member}`, toShellWord(String(value))])
        .join(" "),
    ),
    data: toHtml(toShellWord(toNewPlantJson(fern))),
    requestExample: toHtml(toNewPlantJson(pottedFern)),
    responseExample: toHtml(toPlantJson(pottedFern)),
    pageExample: toHtml(
      `[${[pottedFern, { ...fern, id: 2n, name: "moss" }].map(toNewPlantJson).join(",")}]`,
    ),
    newPlantMembers: toMembersTable({ "": newPlantMembers }),
    responseMembers: toMembersTable({
      "200: Plant": listMembers(plantSchema),
      [`${failureStatus}: Error`]: listMembers(errorBodySchema),
    }),
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
    plantColumns: newPlantMembers.map(({ name }) => `<th scope="col">${name}</th>`).join("\n"),
  };
  const parts: Readonly<Record<string, string>> = {
    notice: server.notice === undefined ? "" : `<p>${toHtml(server.notice)}</p>`,
    fields: newPlantMembers.map(toField).join("\n"),
    "link to plants": hasAll ? plantsLink : "",
    "links to other operations": hasAll ? otherLinks : "",
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

const plantsLink = `<a href="#plants">Plants</a>`;
const otherLinks = `<a href="#get">GET {{path}}</a> <a href="#delete">DELETE {{path}}/{id}</a>`;

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

/** A member of a schema, with the parts of its JSON Schema that the page uses. */
interface SchemaMember {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description: string;
  readonly isRequired: boolean;
}

function listMembers(schema: Parameters<typeof toSchema>[0]): readonly SchemaMember[] {
  const { properties, required } = toSchema(schema) as {
    readonly properties: Readonly<Record<string, Omit<SchemaMember, "name" | "isRequired">>>;
    readonly required: readonly string[];
  };
  return Object.entries(properties).map(([name, member]) => ({
    ...member,
    name,
    isRequired: required.includes(name),
  }));
}

const newPlantMembers = listMembers(newPlantSchema);

/** The field of a member in the form: a text, or an integer in digits. An optional member has a box that adds it. */
function toField({ name, type, format, isRequired }: SchemaMember): string {
  const isInteger = type === "integer";
  const range = format === "int64" ? ` from ${int64Min} to ${int64Max}` : "";
  const required = isInteger ? "required" : 'placeholder="(empty)"';
  const rules = String.raw`pattern="\s*-?\d+\s*" title="An integer in digits." aria-describedby="${name}-hint"`;
  const value = toHtml(String(fern[name as keyof NewPlant] ?? ""));
  const field = `<label for="${name}">${name}</label>
<input id="${name}" data-json="${type}" value="${value}" ${isRequired ? required : ""} ${isInteger ? rules : ""}
autocomplete="off" spellcheck="false" />
${isInteger ? `<p class="hint" id="${name}-hint">An integer${range}.</p>` : ""}`;
  const box = `<label class="check"><input id="has-${name}" type="checkbox" /> with a ${name}</label>`;
  return isRequired ? `<div>${field}</div>` : `<div>${box}<div>${field}</div></div>`;
}

/** Lists the members of schemas in a table, each below its title, which can be empty. */
function toMembersTable(groups: Readonly<Record<string, readonly SchemaMember[]>>): string {
  const bodies = Object.entries(groups).map(([title, members]) => {
    const titleRow = title && `<tr><th scope="rowgroup" colspan="3">${toHtml(title)}</th></tr>\n`;
    return `<tbody>\n${titleRow}${members.map(toMemberRow).join("\n")}\n</tbody>`;
  });
  return `<table>
<thead><tr><th scope="col">member</th><th scope="col">type</th><th scope="col">meaning</th></tr></thead>
${bodies.join("\n")}
</table>`;
}

function toMemberRow({ name, type, format, description, isRequired }: SchemaMember): string {
  const kind = format === undefined ? type : `${type}, ${format}`;
  return `<tr><th scope="row"><code>${name}</code></th><td>${kind}, ${isRequired ? "required" : "optional"}</td><td>${toHtml(description)}</td></tr>`;
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
