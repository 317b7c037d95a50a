/** Carries out the creates of a commit, and numbers them in their order for the feed. */
import type { NewPlant } from "../../core/plant.ts";
import type { ConflictPolicy, CreateResult } from "../../core/store.ts";
import {
  insertPlant,
  isStored,
  type PackedRequests,
  replacePlant,
  unpackMembers,
} from "./plants.ts";
import type { Statements } from "./statements.ts";

/** Carries out creates in their order. The caller has begun a write transaction. */
export function createAll(
  statements: Statements,
  requests: PackedRequests,
): readonly CreateResult[] {
  const end = statements.findLastSeq.get() as { readonly seq: bigint };
  const hasDeleted = statements.findDeleted.get() !== undefined;
  let nextSeq = end.seq + 1n;

  function create(plant: NewPlant, onConflict: ConflictPolicy): CreateResult {
    if (insertPlant(statements, plant, nextSeq)) {
      nextSeq++;
      if (hasDeleted) statements.forgetDeleted.run(plant.id);
      return "created";
    }
    if (isStored(statements, plant)) return "unchanged";
    if (onConflict === "reject") return "conflict";
    replacePlant(statements, plant, nextSeq++);
    return "replaced";
  }

  return Array.from(requests.policies, (onConflict, index) =>
    create(unpackMembers(requests, index), onConflict),
  );
}
