/** Commits a batch of creates in one transaction. Decides in memory what they do to each plant, so that each is written once. */
import type { ClientBase } from "pg";
import { isSamePlant } from "../../core/plant.ts";
import type { CommitEntry, CreateEntry, CreateResult } from "../../core/store.ts";
import { createError, type Database, isRolledBack } from "./database.ts";
import {
  comparePlants,
  findCommitted,
  findTransactionId,
  insertPlants,
  lockPlants,
  replacePlants,
} from "./statements.ts";

/** One create of a batch. */
interface Create extends CreateEntry {
  /** Position in the batch. */
  readonly index: number;
}

/** The creates of a batch with the same id, in their order. */
interface Group {
  readonly id: bigint;
  readonly creates: readonly Create[];
}

/** The outcome of a group. */
interface Outcome {
  /** One for each create of the group. */
  readonly results: readonly { readonly index: number; readonly result: CreateResult }[];
  /** The create whose plant must be stored; undefined if the stored plant stays. */
  readonly stored: Create | undefined;
}

type Outcomes = ReadonlyMap<Group, Outcome>;

/** The outcome of a group in a transaction that may have been committed. */
interface UncertainOutcome extends Outcome {
  /** The id of the transaction. */
  readonly xid: string;
}

type UncertainOutcomes = ReadonlyMap<Group, UncertainOutcome>;

/**
 * Makes an attempt to commit a batch. After a failure it may be called again; each create takes effect once.
 *
 * @returns the results, in the order of the entries
 */
export type AttemptCommit = (write: Database["write"]) => Promise<readonly CreateResult[]>;

/**
 * Prepares the commit of a batch. If a connection is lost during COMMIT, whether the batch was stored is unknown. The next
 * attempt asks PostgreSQL, and a group that was stored keeps its results.
 */
export function createCommit(entries: readonly CommitEntry[]): AttemptCommit {
  const groups = groupById(entries);
  let uncertain: UncertainOutcomes = new Map();

  return async (write) => {
    let outcomes: UncertainOutcomes | undefined;
    try {
      await write(async (client) => {
        outcomes = await writeGroups(client, groups, uncertain);
      });
    } catch (error) {
      // The transaction reached COMMIT if the outcomes are known.
      if (outcomes !== undefined && !isRolledBack(error)) uncertain = outcomes;
      throw error;
    }
    return toResults(outcomes ?? new Map());
  };
}

/**
 * Under READ COMMITTED the insert waits for other writers of the same ids, and the comparison sees what they stored. Plants
 * that may be replaced are locked, so that no other server changes them between the comparison and the write.
 */
async function writeGroups(
  client: ClientBase,
  groups: readonly Group[],
  uncertain: UncertainOutcomes,
): Promise<UncertainOutcomes> {
  const created = new Map(groups.map((group) => [group, decide(group)]));
  const [inserted, xid] = await Promise.all([
    insertPlants(client, toStored(created)),
    findTransactionId(client),
  ]);
  const outcomes = new Map([...created].map(([group, outcome]) => [group, { ...outcome, xid }]));
  const others = groups.filter(({ id }) => !inserted.has(id));
  if (others.length === 0) return outcomes;

  const replaceable = others.filter(isReplaceable);
  if (replaceable.length > 0) {
    await lockPlants(
      client,
      replaceable.map(({ id }) => id),
    );
  }
  const stored = await findStored(client, others);
  const committed = await findCommitted(
    client,
    others.flatMap((group) => uncertain.get(group)?.xid ?? []),
  );
  const changes = new Map<Group, UncertainOutcome>();
  for (const group of others) {
    const before = uncertain.get(group);
    const wasStored = before?.stored !== undefined && committed.has(before.xid);
    if (wasStored && stored.has(before.stored)) {
      outcomes.set(group, before);
    } else if (wasStored && isReplaceable(group)) {
      throw createError("OUTCOME_UNKNOWN", `transaction ${before.xid}`);
    } else {
      changes.set(group, { ...decide(group, (create) => stored.has(create)), xid });
    }
  }
  const replacements = toStored(changes);
  if (replacements.length > 0) await replacePlants(client, replacements);
  return new Map([...outcomes, ...changes]);
}

function isReplaceable({ creates }: Group): boolean {
  return creates.some(({ onConflict }) => onConflict === "replace");
}

/** Returns the creates whose plants are the stored ones. */
async function findStored(
  client: ClientBase,
  groups: readonly Group[],
): Promise<ReadonlySet<Create>> {
  const creates = groups.flatMap((group) => group.creates);
  const isStored = await comparePlants(
    client,
    creates.map(({ plant }) => plant),
  );
  if (isStored.includes(undefined)) {
    // Deleted before the comparison: retried like PostgreSQL's own serialization_failure.
    throw createError("40001", "a plant was deleted at the same time");
  }
  return new Set(creates.filter((_, index) => isStored[index]));
}

function toStored(outcomes: Outcomes) {
  return [...outcomes.values()].flatMap(({ stored }) =>
    stored === undefined ? [] : [stored.plant],
  );
}

/** Returns the results in the order of the batch. */
function toResults(outcomes: Outcomes): readonly CreateResult[] {
  return [...outcomes.values()]
    .flatMap(({ results }) => results)
    .toSorted((a, b) => a.index - b.index)
    .map(({ result }) => result);
}

/**
 * Groups the creates of a batch by id. The ids ascend, so that servers that write the same ids at the same time wait for
 * each other instead of deadlocking.
 */
function groupById(entries: readonly CommitEntry[]): readonly Group[] {
  const groups = new Map<bigint, { id: bigint; creates: Create[] }>();
  for (const [index, request] of entries.entries()) {
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
function decide({ creates }: Group, isStored?: (create: Create) => boolean): Outcome {
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
