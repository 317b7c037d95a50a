/** Converts text and schemas to HTML. */
import type { OpenApiObject } from "../../core/openapi.ts";

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

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for an element or a quoted attribute. */
export function toHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** Lists the members of a schema in a table that the keyboard can scroll. */
export function toMembersTable(name: string, { components }: OpenApiObject): string {
  const { schemas } = components as unknown as { schemas: Readonly<Record<string, Schema>> };
  const rows = listMembers({ $ref: name }, schemas).map(
    ([member, { type = "", format, description = "" }, isRequired]) =>
      `<tr><th scope="row"><code>${toHtml(member)}</code></th><td>${toHtml(
        format === undefined ? type : `${type}, ${format}`,
      )}</td><td>${isRequired ? "yes" : "no"}</td><td>${toHtml(description)}</td></tr>`,
  );
  return `<div class="scroll" role="region" aria-label="Members of ${toHtml(name)}" tabindex="0"><table>
<thead><tr><th scope="col">member</th><th scope="col">type</th><th scope="col">required</th><th scope="col">meaning</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody></table></div>`;
}

type Member = readonly [name: string, schema: Schema, isRequired: boolean];

function listMembers(
  { $ref, allOf = [], properties = {}, required = [] }: Schema,
  schemas: Readonly<Record<string, Schema>>,
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
