/** The schema of a store as steps, and the errors for stores of other versions. Every engine uses them. */
import { createStoreError, unusable } from "./store-failure.ts";

/** SQL that creates the schema, or changes the schema of the step before it. */
export interface SchemaStep {
  /** Version of the schema after the step. */
  readonly version: number;
  readonly sql: string;
}

/**
 * The step that creates the schema, and those that change it, in the order of their versions. A released step never
 * changes; the next version of the schema appends one. Servers of older versions may have the store open meanwhile and
 * must keep working: a new column has a default or is filled by a trigger.
 */
export type Schema = readonly [SchemaStep, ...SchemaStep[]];

/**
 * Returns the steps that a store lacks.
 *
 * @param version of the store; 0 for an empty one
 * @param place of the store, for messages
 * @throws StoreError `unusable` when the store has a version before the first step or after the last one
 */
export function findMissingSteps(
  schema: Schema,
  version: number,
  place: string,
): readonly SchemaStep[] {
  const newest = schema.at(-1)?.version ?? 0;
  const versions = `(its schema has version ${version}, this plantstore has ${newest})`;
  if (version > newest) {
    const problem = `is from a newer plantstore ${versions}: install that version`;
    throw createStoreError(unusable(problem), place);
  }
  if (version !== 0 && version < schema[0].version) {
    const problem = `is from an older plantstore ${versions}: export its plants with that version, then create them in a new store`;
    throw createStoreError(unusable(problem), place);
  }
  return schema.filter((step) => step.version > version);
}
