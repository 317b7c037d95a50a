/** Carries out a batch of creates in one transaction. */
import type { ClientBase } from "pg";
import type { CreateRequest, CreateResult } from "../../core/store.ts";
import {
  type Create,
  decideForNew,
  decideForStored,
  type Group,
  groupById,
  type Outcome,
} from "./batch.ts";
import { isRolledBack } from "./failure.ts";
import { comparePlants, insertPlants, replacePlants } from "./statements.ts";

type Outcomes = ReadonlyMap<Group, Outcome>;

/** A batch that may have to be tried more than once. */
export interface Commit {
  /**
   * Tries it, in a transaction on a connection. After a failure it may be tried again on another one: whatever became of
   * the transactions before, each create takes effect once.
   *
   * @returns the results, in the order of the requests
   */
  attempt(client: ClientBase): Promise<readonly CreateResult[]>;
}

/**
 * A commit of a batch. When a connection is lost while it commits, nobody tells whether it did. The next attempt finds
 * out: a plant that this batch wrote, and that is there just as it wrote it, keeps the results it had. (It may also be
 * that of somebody else who sent the very same plant meanwhile; then `created` stands where `unchanged` would.)
 */
export function createCommit(requests: readonly CreateRequest[]): Commit {
  const groups = groupById(requests);
  let doubtful: Outcomes = new Map();

  return {
    async attempt(client) {
      await client.query("BEGIN");
      const outcomes = await carryOut(client, groups, doubtful);
      try {
        await client.query("COMMIT");
      } catch (error) {
        if (!isRolledBack(error)) doubtful = outcomes;
        throw error;
      }
      return toResults(outcomes);
    },
  };
}

/**
 * Under READ COMMITTED the insert waits for others that are storing the same ids, and the comparison after it sees what
 * they stored. Where a transaction sees only what was there when it began, it fails instead, and is tried again.
 */
async function carryOut(
  client: ClientBase,
  groups: readonly Group[],
  doubtful: Outcomes,
): Promise<Outcomes> {
  const outcomes = new Map(groups.map((group) => [group, decideForNew(group)]));
  const inserted = await insertPlants(client, toStored(outcomes));
  const others = groups.filter(({ id }) => !inserted.has(id));
  if (others.length === 0) return outcomes;

  const stored = await findStored(client, others);
  const decideFor = (group: Group) => decideForStored(group, (create) => stored.has(create));
  const changes = new Map<Group, Outcome>();
  for (const group of others) {
    const before = doubtful.get(group);
    if (before?.stored !== undefined && stored.has(before.stored)) outcomes.set(group, before);
    else changes.set(group, decideFor(group));
  }
  await replacePlants(client, toStored(changes));
  return new Map([...outcomes, ...changes]);
}

/** Those creates whose plants are the stored ones. */
async function findStored(
  client: ClientBase,
  groups: readonly Group[],
): Promise<ReadonlySet<Create>> {
  const creates = groups.flatMap((group) => group.creates);
  const answers = await comparePlants(
    client,
    creates.map(({ plant }) => plant),
  );
  if (answers.includes(undefined)) throw new VanishedError();
  return new Set(creates.filter((_, place) => answers[place]));
}

/** A plant was in the way of storing another one, and was gone when it was looked at: to be tried again. */
class VanishedError extends Error {
  override readonly name = "VanishedError";
  /** As if the database had noticed it itself: serialization_failure. */
  readonly code = "40001";

  constructor() {
    super("a plant was deleted at the same time");
  }
}

function toStored(outcomes: Outcomes) {
  return [...outcomes.values()].flatMap(({ stored }) =>
    stored === undefined ? [] : [stored.plant],
  );
}

/** The results in the order of the batch. */
function toResults(outcomes: Outcomes): readonly CreateResult[] {
  return [...outcomes.values()]
    .flatMap(({ results }) => results)
    .toSorted((a, b) => a.index - b.index)
    .map(({ result }) => result);
}
