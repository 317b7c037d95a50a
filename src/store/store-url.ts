/** Finds the store that a URL names, from `--store` or `PLANTSTORE_STORE`. */
import { joinWords, quoteInput } from "../core/messages.ts";
import { StoreError } from "../core/store.ts";
import { memoryType } from "./memory.ts";
import { postgresType } from "./postgres/location.ts";
import { sqliteType } from "./sqlite/location.ts";
import type { EngineType, StoreLocation } from "./store-location.ts";

const engines: readonly EngineType[] = [sqliteType, postgresType, memoryType];

function findEngine(url: string): EngineType | undefined {
  return engines.find(({ schemes }) => schemes.some((scheme) => url.startsWith(scheme)));
}

/** Returns the forms of all URLs, for help. @param isOpened leaves out stores that no other process can open */
export function describeForms({ isOpened }: { readonly isOpened: boolean }): string {
  const shown = engines.filter(({ isPrivate }) => !(isOpened && isPrivate));
  return joinWords(
    shown.map(({ form }) => form),
    "or",
  );
}

/** Checks whether a text begins like the URL of a store. */
export function isStoreUrl(text: string): boolean {
  return findEngine(text) !== undefined;
}

/**
 * Parses `sqlite:PATH`, `postgres://…`, `postgresql://…` or `memory:`. The path of a file is literal, including `?`, `%`
 * and `file:`.
 *
 * @throws StoreError `unusable`
 */
export function parseStoreUrl(url: string): StoreLocation {
  const engine = findEngine(url);
  if (engine !== undefined) return engine.locate(url);
  // Quotes only the scheme, because other URLs can contain passwords.
  const type = quoteInput(url.slice(0, url.indexOf(":") + 1) || url);
  const possible = joinWords(
    engines.map(({ usage }) => usage),
    "or",
  );
  const problem = /^(?:https?|unix):/.test(url)
    ? `"${type}" is for the URL of a server, but a store is opened without one: run this on the machine of the server, and use ${possible}`
    : `unknown store type "${type}": ${adviseUrl(url) ?? `use ${possible}`}`;
  throw new StoreError("unusable", problem);
}

/** Suggests the URL of the store that a text without its scheme, or with that of another program, probably means. */
function adviseUrl(text: string): string | undefined {
  if (/^:?memory:?$/i.test(text)) return "use memory:";
  const [, path] = /^(?:file:|sqlite3?:)?([^:]+)$/i.exec(text) ?? [];
  if (path === undefined) return undefined;
  return `for a file, use sqlite:${quoteInput(path, 200)}`;
}

/** Describes the place of a store without secrets, for messages. @throws StoreError `unusable` */
export function describeStoreUrl(url: string): string {
  return parseStoreUrl(url).place;
}
