/** Random plants. Their members are those of the schema. */
import fc from "fast-check";
import { expect } from "vitest";
import type * as z from "zod/mini";
import { int64Max, int64Min, type NewPlant } from "../../src/core/plant.ts";
import { isRequired, memberNames, newPlantSchema } from "../../src/core/read-plant.ts";

/** Any string of a valid plant: the parser rejects unpaired surrogates. */
const anyString = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed());

/** Returns valid values of a member. */
function toValues(member: string, { _zod: { def } }: z.ZodMiniType): fc.Arbitrary<unknown> {
  switch (def.type) {
    case "string":
      return anyString;
    case "bigint":
      return fc.oneof(
        fc.bigInt({ min: int64Min, max: int64Max }),
        fc.bigInt({ min: -9n, max: 9n }),
      );
    case "int":
    case "number":
      return fc.integer();
    case "boolean":
      return fc.boolean();
    case "optional":
      return toValues(member, (def as z.core.$ZodOptionalDef<z.ZodMiniType>).innerType);
    default:
      throw new Error(`no random values of the type ${def.type} for ${member}: add them here`);
  }
}

const values = Object.fromEntries(
  Object.entries(newPlantSchema.shape).map(([member, schema]) => [
    member,
    toValues(member, schema),
  ]),
) as { readonly [Member in keyof Required<NewPlant>]: fc.Arbitrary<NewPlant[Member]> };

function toPlants(requiredKeys: readonly (keyof NewPlant)[]): fc.Arbitrary<NewPlant> {
  return fc.record(values, { requiredKeys: [...requiredKeys], noNullPrototype: true });
}

/** Any plant. */
export const anyPlant = toPlants(memberNames.filter(isRequired));

/** A plant that has every member. */
export const wholePlant = toPlants(memberNames);

/** Two plants that have every member, and differ only in one. */
export function toDifferentPlants(
  member: Exclude<keyof NewPlant, "id">,
): fc.Arbitrary<readonly [NewPlant, NewPlant]> {
  return fc
    .tuple(wholePlant, values[member] as fc.Arbitrary<never>)
    .filter(([plant, value]) => plant[member] !== value)
    .map(([plant, value]) => [plant, { ...plant, [member]: value }]);
}

/** Compares plants member by member. The failure names the member. */
export function expectSameMembers(
  actual: readonly NewPlant[],
  expected: readonly NewPlant[],
): void {
  const byId = new Map(actual.map((plant) => [plant.id, plant]));
  for (const plant of expected) {
    for (const member of memberNames) {
      const found = byId.get(plant.id)?.[member];
      expect(found, `the member ${member} of plant ${plant.id}`).toBe(plant[member]);
    }
  }
  expect(actual).toHaveLength(expected.length);
}
