/** Commits a batch of creates in one transaction. */
import type { ClientBase } from "pg";
import type { CreateRequest, CreateResult } from "../../core/store.ts";
import { type Create, decide, type Group, groupById, type Outcome } from "./batch.ts";
import type { Database } from "./database.ts";
import { createError, isRolledBack } from "./failure.ts";
import { comparePlants, insertPlants, replacePlants } from "./statements.ts";

type Outcomes = ReadonlyMap<Group, Outcome>;

/**
 * Makes an attempt to commit a batch. After a failure it may be called again; each create takes effect once.
 *
 * @returns the results, in the order of the requests
 */
export type AttemptCommit = (write: Database["write"]) => Promise<readonly CreateResult[]>;

/**
 * Prepares the commit of a batch. If a connection is lost during COMMIT, whether the batch was stored is unknown. The next
 * attempt finds out: a plant that this batch wrote, and that is stored exactly as it was written, keeps its results. (If
 * another client sent the very same plant in between, the result is `created` instead of `unchanged`.)
 */
export function createCommit(requests: readonly CreateRequest[]): AttemptCommit {
  const groups = groupById(requests);
  let uncertain: Outcomes = new Map();

  return async (write) => {
    let outcomes: Outcomes | undefined;
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
 * Under READ COMMITTED the insert waits for other writers of the same ids, and the comparison sees what they stored. At
 * stricter levels of isolation the insert fails instead, and the batch is retried.
 */
async function writeGroups(
  client: ClientBase,
  groups: readonly Group[],
  uncertain: Outcomes,
): Promise<Outcomes> {
  const outcomes = new Map(groups.map((group) => [group, decide(group)]));
  const inserted = await insertPlants(client, toStored(outcomes));
  const others = groups.filter(({ id }) => !inserted.has(id));
  if (others.length === 0) return outcomes;

  const stored = await findStored(client, others);
  const changes = new Map<Group, Outcome>();
  for (const group of others) {
    const before = uncertain.get(group);
    if (before?.stored !== undefined && stored.has(before.stored)) {
      outcomes.set(group, before);
    } else {
      const outcome = decide(group, (create) => stored.has(create));
      changes.set(group, outcome);
    }
  }
  const replacements = toStored(changes);
  if (replacements.length > 0) await replacePlants(client, replacements);
  return new Map([...outcomes, ...changes]);
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
