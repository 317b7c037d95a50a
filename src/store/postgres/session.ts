/** What every connection is asked and told before it is used. */
import type { ClientBase } from "pg";
import { type Meaning, createStoreError } from "./failure.ts";
import type { Limits } from "./limits.ts";

/**
 * Prepares a connection.
 *
 * @param place for messages
 * @throws StoreError `unusable`
 */
export type PrepareSession = (client: ClientBase, place: string, limits: Limits) => Promise<void>;

/** What `synchronous_commit` can be that is as good as `on` or better: the log is flushed before a commit returns. */
const flushing = ["on", "remote_apply"];

/** Makes sure that a session has the limits, and text as it is. */
export const prepareReader: PrepareSession = async (client, place, limits) => {
  const settings = await readSettings(client);
  checkEncoding(settings, place);
  await change(client, withLimits(settings, limits));
};

/** Makes sure of all that {@link prepareReader} does, and that commits survive the loss of power. */
export const prepareWriter: PrepareSession = async (client, place, limits) => {
  const settings = await readSettings(client);
  checkEncoding(settings, place);
  checkFlushing(settings, place);
  const changes = withLimits(settings, limits);
  const durability = settings.get("synchronous_commit");
  if (durability !== undefined && !flushing.includes(durability)) {
    changes.set("synchronous_commit", "on");
  }
  await change(client, changes);
};

/**
 * Makes sure that what servers commit survives the loss of power.
 *
 * @param place for messages
 * @throws StoreError `unusable`
 */
export async function checkDurability(client: ClientBase, place: string): Promise<void> {
  checkFlushing(await readSettings(client), place);
}

/** A setting that a compatible database doesn't have is missing, and passed over then. */
type Settings = ReadonlyMap<string, string>;

async function readSettings(client: ClientBase): Promise<Settings> {
  const { rows } = await client.query<{ name: string; setting: string }>(`
    SELECT name, setting FROM pg_catalog.pg_settings
    WHERE name IN ('server_encoding', 'fsync', 'synchronous_commit',
      'statement_timeout', 'idle_in_transaction_session_timeout')`);
  return new Map(rows.map(({ name, setting }) => [name, setting]));
}

function checkEncoding(settings: Settings, place: string): void {
  const encoding = settings.get("server_encoding");
  if (encoding === undefined || encoding.toUpperCase() === "UTF8") return;
  throw createStoreError(wrongEncoding(encoding), place);
}

function checkFlushing(settings: Settings, place: string): void {
  if (settings.get("fsync") === "off") throw createStoreError(notFlushed, place);
}

function withLimits(settings: Settings, limits: Limits): Map<string, string> {
  const wanted: [string, string][] = [
    ["statement_timeout", `${limits.statementMs}`],
    ["idle_in_transaction_session_timeout", `${limits.idleInTransactionMs}`],
  ];
  return new Map(wanted.filter(([name]) => settings.has(name)));
}

async function change(client: ClientBase, changes: Settings): Promise<void> {
  await client.query([...changes].map(([name, value]) => `SET ${name} = ${value}`).join("; "));
}

function wrongEncoding(encoding: string): Meaning {
  const complaint = `has the encoding ${encoding}, which lacks most characters: create one with ENCODING 'UTF8'`;
  return { reason: "unusable", complaint };
}

const notFlushed: Meaning = {
  reason: "unusable",
  complaint: "runs with fsync=off and would lose plants with the power: set fsync=on there",
};
