/** What the creates of a batch do to each plant: decided in memory, so that each plant is written once. */
import type { NewPlant } from "../../core/plant.ts";
import type { CreateRequest, CreateResult } from "../../core/store.ts";

/** One create of a batch. */
export interface Create extends CreateRequest {
  /** Its place in the batch. */
  readonly index: number;
}

/** The creates of a batch that name the same id, in their order. */
export interface Group {
  readonly id: bigint;
  readonly creates: readonly Create[];
}

/** What became of a group. */
export interface Outcome {
  /** One for each create of the group. */
  readonly results: readonly { readonly index: number; readonly result: CreateResult }[];
  /** The create whose plant is to be stored; undefined: the stored plant stays. */
  readonly stored: Create | undefined;
}

/**
 * The creates of a batch by id. The ids ascend, so that servers that write the same ones at the same time wait for each
 * other instead of blocking each other.
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

/** What becomes of a group whose id has no plant yet. */
export function decideForNew({ creates }: Group): Outcome {
  return decide(creates, undefined, () => false);
}

/**
 * What becomes of a group whose id has a plant.
 *
 * @param isStored whether a create's plant is the stored one
 */
export function decideForStored(
  { creates }: Group,
  isStored: (create: Create) => boolean,
): Outcome {
  const outcome = decide(creates, "stored", isStored);
  // Replaced and put back: there is nothing to write.
  const isSame = outcome.stored === undefined || isStored(outcome.stored);
  return isSame ? { ...outcome, stored: undefined } : outcome;
}

function decide(
  creates: readonly Create[],
  before: "stored" | undefined,
  isStored: (create: Create) => boolean,
): Outcome {
  let current: Create | "stored" | undefined = before;

  function carryOut(create: Create): CreateResult {
    if (current === undefined) {
      current = create;
      return "created";
    }
    const isSame = current === "stored" ? isStored(create) : areSame(current.plant, create.plant);
    if (isSame) return "unchanged";
    if (create.onConflict === "reject") return "conflict";
    current = create;
    return "replaced";
  }

  const results = creates.map((create) => ({ index: create.index, result: carryOut(create) }));
  return { results, stored: current === "stored" ? undefined : current };
}

function areSame(a: NewPlant, b: NewPlant): boolean {
  return a.name === b.name && a.tag === b.tag;
}
