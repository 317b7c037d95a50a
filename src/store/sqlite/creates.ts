/** Carries out the creates of a commit, and numbers them in their order for the feed. */
import type { NewPlant } from "../../core/plant.ts";
import type { ConflictPolicy, CreateResult } from "../../core/store.ts";
import type { PackedRequests } from "./packing.ts";
import type { Statements } from "./statements.ts";
import { toSqlText } from "./text.ts";

/** Carries out creates in their order. The caller has begun a write transaction. */
export function createAll(
  statements: Statements,
  { ids, names, tags, policies }: PackedRequests,
): readonly CreateResult[] {
  const end = statements.findLastSeq.get() as { readonly seq: bigint };
  const hasDeleted = statements.findDeleted.get() !== undefined;
  let nextSeq = end.seq + 1n;

  function create({ id, name, tag }: NewPlant, onConflict: ConflictPolicy): CreateResult {
    const nameText = toSqlText(name);
    const tagText = tag === undefined ? null : toSqlText(tag);
    const inserted = statements.insertPlant.run(id, nameText, tagText, nextSeq);
    if (Number(inserted.changes) === 1) {
      nextSeq++;
      if (hasDeleted) statements.forgetDeleted.run(id);
      return "created";
    }
    if (statements.findSamePlant.get(id, nameText, tagText) !== undefined) return "unchanged";
    if (onConflict === "reject") return "conflict";
    statements.replacePlant.run(nameText, tagText, nextSeq++, id);
    return "replaced";
  }

  return Array.from(ids, (id, index) =>
    create(
      { id, name: names[index] as string, tag: tags[index] },
      policies[index] as ConflictPolicy,
    ),
  );
}
