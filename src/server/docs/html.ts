/** Text and schemas as HTML. */
import type { OpenApiObject } from "../../core/openapi.ts";

/** A JSON Schema, as far as the description has it. */
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

/** Text for an element or for an attribute in quotes. */
export function toHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** The members of an object in the description, as a table. */
export function toMembersTable(name: string, { components }: OpenApiObject): string {
  const { schemas } = components as unknown as { schemas: Readonly<Record<string, Schema>> };
  const rows = listMembers({ $ref: name }, schemas).map(
    ([member, { type = "", format, description = "" }, isRequired]) =>
      `<tr><th scope="row"><code>${toHtml(member)}</code></th><td>${toHtml(
        format === undefined ? type : `${type}, ${format}`,
      )}</td><td>${isRequired ? "yes" : "no"}</td><td>${toHtml(description)}</td></tr>`,
  );
  return `<div class="scroll"><table>
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
  // What is a schema's own stands before what it shares.
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
