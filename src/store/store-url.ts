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

/** Stores: all of them, those that any process can open, and those that are files. */
const kinds = {
  any: () => true,
  shared: ({ isPrivate }: EngineType) => !isPrivate,
  file: (engine: EngineType) => engine.toFileUrl !== undefined,
} as const;

/** Returns the forms of the URLs of stores, for help. */
export function describeForms(kind: keyof typeof kinds): string {
  const shown = engines.filter(kinds[kind]).map(({ form }) => form);
  return joinWords(shown, "or");
}

/** Returns the URL of the store in a file: of the first engine whose stores are files. */
export function toFileUrl(path: string): string {
  return engines.find((engine) => engine.toFileUrl)?.toFileUrl?.(path) ?? path;
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
  const [scheme] = /^["'\s]*[a-z\d+.-]*:/i.exec(url) ?? [];
  const type = quoteInput(scheme ?? (url.includes(":") ? "" : url));
  const possible = joinWords(
    engines.map(({ usage }) => usage),
    "or",
  );
  const suggestion = suggestUrl(url);
  const advice = /^["'\s]/.test(url)
    ? "remove the quotes or spaces around the URL"
    : `use ${suggestion === undefined ? possible : quoteInput(suggestion, 200)}`;
  const problem = /^(?:https?|unix):/.test(url)
    ? `"${type}" is for the URL of a server, but a store is opened without one: run this on the machine of the server, and use ${possible}`
    : `unknown store type "${type}": ${advice}`;
  throw new StoreError("unusable", problem);
}

/** Suggests the URL of the store that a text without its scheme, or with that of another program, probably means. */
function suggestUrl(text: string): string | undefined {
  const [url] = engines.flatMap(({ suggest }) => suggest?.(text) ?? []);
  const [, path] = /^(?:file:)?([^:]+)$/i.exec(text) ?? [];
  return url ?? (path && toFileUrl(path));
}
