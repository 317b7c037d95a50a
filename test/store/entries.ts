/** Creates, as a commit of an engine has them. */
import type { NewPlant } from "../../src/core/plant.ts";
import type { ConflictPolicy, CreateEntry } from "../../src/core/store.ts";

export function toEntry(
  id: bigint,
  name: string,
  onConflict: ConflictPolicy = "reject",
): CreateEntry {
  return { kind: "create", plant: { id, name }, onConflict };
}

export function toEntries(
  plants: readonly NewPlant[],
  onConflict: ConflictPolicy = "reject",
): CreateEntry[] {
  return plants.map((plant) => ({ kind: "create", plant, onConflict }));
}
