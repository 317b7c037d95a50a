/** Reports members of records that are not part of a plant. They are often misspelled. */
import { memberNames } from "../../../core/plant-schema.ts";
import { quoteInput } from "../../../core/quote.ts";
import { findClosestWord, joinWords } from "../../../core/words.ts";
import type { PlantRecord } from "../../../records/record.ts";

/** Largest number of names that are reported; a program may put data into names. */
const maxNames = 10;

/** Describes an unknown member in one line. */
export function describeUnknownMember(name: string): string {
  const known = findClosestWord(name, memberNames);
  const advice =
    known === undefined ? `a plant has ${joinWords(memberNames)}` : `did you mean "${known}"?`;
  return `unknown member "${quoteInput(name)}": ${advice}`;
}

/** Reports each unknown member once. */
export class UnknownMembers {
  readonly #names = new Set<string>();

  /** @returns a warning for each name that is new, up to the limit */
  add({ content, number, line }: PlantRecord & { readonly number: number }): readonly string[] {
    return content.unknownMembers.flatMap((name) => {
      if (this.#names.has(name) || this.#names.size === maxNames) return [];
      this.#names.add(name);
      return `record ${number} (line ${line}): ${describeUnknownMember(name)}`;
    });
  }
}
