/** Reports members of records that are not part of a plant. They are often misspelled. */
import { memberNames } from "../../../core/plant-schema.ts";
import { quoteInput } from "../../../core/quote.ts";
import { findClosestWord, joinWords } from "../../../core/words.ts";
import type { PlantRecord } from "../../../records/record.ts";

/** Largest number of names that are reported each; a program may put data into names. */
const maxNames = 10;

/** Describes an unknown member in one line. */
export function describeUnknownMember(name: string): string {
  const known = findClosestWord(name, memberNames);
  const advice =
    known === undefined ? `a plant has ${joinWords(memberNames)}` : `did you mean "${known}"?`;
  return `unknown member "${quoteInput(name)}": ${advice}`;
}

/** Counts unknown members by name. */
export class UnknownMembers {
  readonly #counts = new Map<string, number>();
  #others = 0;

  /** @returns a warning for each name that is new */
  add({ content, number, line }: PlantRecord & { readonly number: number }): readonly string[] {
    const warnings: string[] = [];
    for (const name of content.unknownMembers) {
      const count = this.#counts.get(name) ?? 0;
      if (count === 0 && this.#counts.size >= maxNames) {
        this.#others++;
        continue;
      }
      this.#counts.set(name, count + 1);
      if (count > 0) continue;
      warnings.push(`record ${number} (line ${line}): ${describeUnknownMember(name)}`);
    }
    return warnings;
  }

  /** Returns the counts of names that occurred more than once. */
  describeCounts(): readonly string[] {
    const repeated = [...this.#counts].filter(([, count]) => count > 1);
    const lines = repeated.map(
      ([name, count]) => `unknown member "${quoteInput(name)}" in ${count} records`,
    );
    if (this.#others > 0) lines.push(`other unknown members: ${this.#others}`);
    return lines;
  }
}
