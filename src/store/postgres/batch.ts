/** Decides in memory what the creates of a batch do to each plant, so that each plant is written once. */
import type { NewPlant } from "../../core/plant.ts";
import type { CreateRequest, CreateResult } from "../../core/store.ts";

/** One create of a batch. */
export interface Create extends CreateRequest {
  /** Position in the batch. */
  readonly index: number;
}

/** The creates of a batch with the same id, in the order of the batch. */
export interface Group {
  readonly id: bigint;
  readonly creates: readonly Create[];
}

/** The outcome of a group. */
export interface Outcome {
  /** One for each create of the group. */
  readonly results: readonly { readonly index: number; readonly result: CreateResult }[];
  /** The create whose plant must be stored; undefined if the stored plant stays. */
  readonly stored: Create | undefined;
}

/**
 * Groups the creates of a batch by id. The ids ascend, so that servers that write the same ids at the same time wait for
 * each other instead of deadlocking.
 */
export function groupById(requests: readonly CreateRequest[]): readonly Group[] {
  const groups = new Map<bigint, { id: bigint; creates: Create[] }>();
  for (const [index, request] of requests.entries()) {
    const { id } = request.plant;
    const create = { ...request, index };
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { id, creates: [create] });
    else group.creates.push(create);
  }
  return [...groups.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * Decides a group.
 *
 * @param isStored checks whether a create's plant is the stored one; undefined if the id has no plant yet
 */
export function decide({ creates }: Group, isStored?: (create: Create) => boolean): Outcome {
  const results: { index: number; result: CreateResult }[] = [];
  // Undefined: the stored plant, or none.
  let written: Create | undefined;
  for (const create of creates) {
    const isFirst = written === undefined && isStored === undefined;
    const isSame =
      written === undefined ? isStored?.(create) : isSamePlant(written.plant, create.plant);
    if (isFirst || (isSame === false && create.onConflict === "replace")) written = create;
    const otherResult = create.onConflict === "replace" ? "replaced" : "conflict";
    const result = isFirst ? "created" : isSame === true ? "unchanged" : otherResult;
    results.push({ index: create.index, result });
  }
  // The stored plant stays too if it was replaced and restored.
  const isRestored = written !== undefined && isStored?.(written) === true;
  return { results, stored: isRestored ? undefined : written };
}

function isSamePlant(a: NewPlant, b: NewPlant): boolean {
  return a.name === b.name && a.tag === b.tag;
}
