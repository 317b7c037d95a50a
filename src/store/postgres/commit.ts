/** Commits a batch of changes in one transaction. Decides in memory what they do to each plant, so that each is written once. */
import type { ClientBase } from "pg";
import { isSamePlant, type NewPlant } from "../../core/plant.ts";
import type { CommitEntry, ChangeResult, CreateEntry } from "../../core/store.ts";
import { createError, type Database, isRolledBack } from "./database.ts";
import {
  comparePlants,
  deletePlants,
  findCommitted,
  findTransaction,
  insertPlants,
  lockPlants,
  replacePlants,
  type Transaction,
} from "./statements.ts";

/** A change with its position in the batch. */
type Change<Entry extends CommitEntry = CommitEntry> = Entry & { readonly index: number };

type Create = Change<CreateEntry>;

/** The changes of a batch with the same id, in their order. */
interface Group {
  readonly id: bigint;
  readonly changes: readonly Change[];
}

interface GroupOutcome {
  readonly results: readonly { readonly index: number; readonly result: ChangeResult }[];
  /** What must be written: the plant of a create, or that there is none. Undefined if everything stays as it was. */
  readonly written: Create | "nothing" | undefined;
}

/** The outcome of a group in a transaction that may have been committed. */
interface UncertainOutcome extends GroupOutcome {
  readonly transaction: Transaction;
}

type UncertainOutcomes = ReadonlyMap<Group, UncertainOutcome>;

/**
 * Prepares the commit of a batch. If a connection is lost during COMMIT, whether the batch was stored is unknown. The next
 * attempt asks PostgreSQL, and a group that was stored keeps its results, unless PostgreSQL has restarted meanwhile.
 *
 * @returns a function that makes an attempt, again after a failure; each change takes effect once. It returns the results, in
 *   the order of the entries
 */
export function createCommit(entries: readonly CommitEntry[]) {
  const groups = groupById(entries);
  let uncertain: UncertainOutcomes = new Map();

  return async (write: Database["write"]): Promise<readonly ChangeResult[]> => {
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
    return [...(outcomes?.values() ?? [])]
      .flatMap(({ results }) => results)
      .toSorted((a, b) => a.index - b.index)
      .map(({ result }) => result);
  };
}

/**
 * Under READ COMMITTED the insert waits for other writers of the same ids, and the comparison sees what they stored. Plants
 * that may be replaced or deleted are locked, so that no other server changes them before they are written. All inserts come
 * first and then all locks, each in the order of the ids, and nothing waits after them: servers do not deadlock.
 */
async function writeGroups(
  client: ClientBase,
  groups: readonly Group[],
  uncertain: UncertainOutcomes,
): Promise<UncertainOutcomes> {
  const created = new Map(groups.map((group) => [group, decide(group)]));
  const [inserted, transaction] = await Promise.all([
    insertPlants(client, [...created].flatMap(toInserted)),
    findTransaction(client),
  ]);
  const others = groups.filter(({ id }) => !inserted.has(id));
  const stored = await findStored(client, others);
  const known = await findKnown(client, groups, stored, uncertain, transaction.run);

  const outcomes = new Map(
    groups.map((group) => {
      const isStored = stored.get(group);
      const outcome = isStored === undefined ? created.get(group) : decide(group, isStored);
      return [group, known.get(group) ?? { ...(outcome ?? decide(group)), transaction }];
    }),
  );
  const changed = [...outcomes].filter(([group]) => !known.has(group));
  const plants = changed.flatMap(([{ id }, { written }]) =>
    typeof written === "object" && !inserted.has(id) ? [written.plant] : [],
  );
  if (plants.length > 0) await replacePlants(client, plants);
  // Not what an earlier attempt deleted: another server may have stored a plant since it was looked for.
  const deleted = [...outcomes].flatMap(([group, { written }]) => {
    const isInserted = inserted.has(group.id);
    const isStored = written === "nothing" && !known.has(group);
    return isStored || (isInserted && typeof written !== "object") ? [group.id] : [];
  });
  if (deleted.length > 0) await deletePlants(client, deleted);
  return outcomes;
}

type IsStored = (create: Create) => boolean;

/**
 * Returns the plant to insert if the id has none: the one that the group leaves. A group that leaves none inserts one all the
 * same, for its place among the changes of other servers.
 */
function toInserted([{ changes }, { written }]: readonly [Group, GroupOutcome]): NewPlant[] {
  const create = typeof written === "object" ? written : changes.find(isCreate);
  return create === undefined ? [] : [create.plant];
}

function isCreate(change: Change): change is Create {
  return change.kind === "create";
}

function mayChange({ changes }: Group): boolean {
  return changes.some((change) => !isCreate(change) || change.onConflict === "replace");
}

/** Locks the stored plants that may change, and compares the creates of each group with its stored plant. */
async function findStored(
  client: ClientBase,
  groups: readonly Group[],
): Promise<ReadonlyMap<Group, IsStored>> {
  const changing = groups.filter(mayChange).map(({ id }) => id);
  const locked = changing.length > 0 ? await lockPlants(client, changing) : new Set<bigint>();
  const creates = groups.flatMap(({ changes }) => changes.filter(isCreate));
  const isSame =
    creates.length > 0
      ? await comparePlants(
          client,
          creates.map(({ plant }) => plant),
        )
      : [];
  // The insert found a plant for each create. One that could not be locked was deleted since, and another may come and go.
  const isUnlocked = groups.some(
    (group) => mayChange(group) && group.changes.some(isCreate) && !locked.has(group.id),
  );
  if (isUnlocked || isSame.includes(undefined)) {
    // Deleted before the lock or the comparison: retried like PostgreSQL's own serialization_failure.
    throw createError("40001", "a plant was deleted at the same time");
  }
  const same = new Set(creates.filter((_, index) => isSame[index]));
  const present = groups.filter(({ id, changes }) => locked.has(id) || changes.some(isCreate));
  return new Map(present.map((group) => [group, (create) => same.has(create)]));
}

/** Returns the outcomes of an earlier attempt that was committed. @throws an error if that is uncertain */
async function findKnown(
  client: ClientBase,
  groups: readonly Group[],
  stored: ReadonlyMap<Group, IsStored>,
  uncertain: UncertainOutcomes,
  run: string,
): Promise<UncertainOutcomes> {
  const earlier = groups.flatMap((group): [Group, UncertainOutcome][] => {
    const outcome = uncertain.get(group);
    return outcome?.written === undefined ? [] : [[group, outcome]];
  });
  const xids = await findCommitted(
    client,
    earlier.map(([, { transaction }]) => transaction.xid),
  );
  const committed = earlier.filter(([, { transaction }]) => xids.has(transaction.xid));
  for (const [group, { written, transaction }] of committed) {
    const isStored = stored.get(group);
    const isInPlace =
      typeof written === "object" ? isStored?.(written) === true : isStored === undefined;
    // Another server may have changed it since. In another run, the id may be that of another server's transaction, which
    // made the same change.
    if (!isInPlace || transaction.run !== run) {
      throw createError("OUTCOME_UNKNOWN", `transaction ${transaction.xid}`);
    }
  }
  return new Map(committed);
}

/** Groups the changes of a batch by id. The ids ascend, so that servers that write the same ids wait for each other. */
function groupById(entries: readonly CommitEntry[]): readonly Group[] {
  const groups = new Map<bigint, { id: bigint; changes: Change[] }>();
  for (const [index, entry] of entries.entries()) {
    const id = entry.kind === "create" ? entry.plant.id : entry.id;
    const group = groups.get(id) ?? { id, changes: [] };
    group.changes.push({ ...entry, index });
    groups.set(id, group);
  }
  return [...groups.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Decides a group; `isStored` is undefined if the id has no plant yet. */
function decide({ changes }: Group, isStored?: IsStored): GroupOutcome {
  const results: { index: number; result: ChangeResult }[] = [];
  // What the id has: a plant of the group, no plant, or the plant that was stored before.
  const before = isStored === undefined ? "nothing" : "stored";
  let current: Create | "nothing" | "stored" = before;
  for (const change of changes) {
    const isAbsent = current === "nothing";
    if (!isCreate(change)) {
      results.push({ index: change.index, result: isAbsent ? "absent" : "deleted" });
      current = "nothing";
      continue;
    }
    const isSame =
      typeof current === "object"
        ? isSamePlant(current.plant, change.plant)
        : current === "stored" && isStored?.(change) === true;
    const otherResult = change.onConflict === "replace" ? "replaced" : "conflict";
    const result = isAbsent ? "created" : isSame ? "unchanged" : otherResult;
    if (result === "created" || result === "replaced") current = change;
    results.push({ index: change.index, result });
  }
  // The stored plant stays too if it was replaced or deleted, and then restored.
  const isRestored = typeof current === "object" && isStored?.(current) === true;
  const written = current === before || current === "stored" || isRestored ? undefined : current;
  return { results, written };
}
