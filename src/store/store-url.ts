/** Finds the store that a URL names, from `--store` or `PLANTSTORE_STORE`. An engine is loaded when its store is opened. */
import { realpath } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { resolve } from "node:path";
import { quoteInput } from "../core/messages.ts";
import {
  type EngineOptions,
  type StoreEngine,
  StoreError,
  type StoreKind,
  type StoreReader,
} from "../core/store.ts";
import { parsePostgresUrl, toShownUrl } from "./postgres/postgres-url.ts";

/** An operation on the files of a store. */
export type FileOperation = "back up" | "verify" | "restore";

/** A store that a URL names. */
export interface StoreLocation {
  readonly kind: StoreKind;
  /** URL for messages, without secrets. */
  readonly url: string;
  /** URL that names the store in any working directory, without secrets. */
  readonly absoluteUrl: string;
  /** Absolute, or relative to the working directory; undefined for a store that is not a file. */
  readonly path: string | undefined;
  /** The file of SQLite that `backup`, `verify` and `restore` read, or what to do instead. */
  readonly backup:
    | { readonly sqliteFile: string }
    | { explainInstead(operation: FileOperation): string };
  /** Opens the store to read and write; creates it if it is missing. @throws StoreError */
  openEngine(options: EngineOptions): Promise<StoreEngine>;
  /** Opens an existing store to read. @throws StoreError */
  openReader(options?: Pick<EngineOptions, "onWarning">): Promise<StoreReader>;
  /** Loads what the engine needs besides Node. @throws StoreError if that is missing */
  loadProvider?(): Promise<unknown>;
  /** Lists the files that have the contents of the store, with symbolic links resolved; some may be missing. */
  listFiles(): Promise<readonly string[]>;
}

/** Forms of URLs, for help: all, those of stores that any process can open, and those of files. */
export const storeForms = {
  any: "sqlite:PATH, postgres:// or memory:",
  shared: "sqlite:PATH or postgres://",
  file: "sqlite:PATH",
} as const;
const usage =
  "sqlite:PATH (a file), postgres://… (a database) or memory: (kept until the server ends)";

export function toFileUrl(path: string): string {
  return `sqlite:${path}`;
}

export function isStoreUrl(text: string): boolean {
  return /^(?:sqlite|postgres(?:ql)?|memory):/.test(text);
}

/**
 * Parses `sqlite:PATH`, `postgres://…`, `postgresql://…` or `memory:`. The path of a file is literal, including `?`, `%`
 * and `file:`.
 *
 * @throws StoreError `unusable`
 */
export function parseStoreUrl(url: string): StoreLocation {
  if (!isStoreUrl(url)) throw createUnknownType(url);
  if (url.startsWith("sqlite:")) return locateFile(url.slice("sqlite:".length));
  if (url.startsWith("postgres")) return locateDatabase(url);
  if (url === memory.url) return memory;
  throw createUnusable("memory: must not have a path: use memory: alone");
}

function createUnknownType(url: string): StoreError {
  // Quotes only the scheme, because other URLs can contain passwords.
  const [scheme] = /^["'\s]*[a-z\d+.-]*:/i.exec(url) ?? [];
  const type = quoteInput(scheme ?? (url.includes(":") ? "" : url));
  if (/^(?:https?|unix):/.test(url)) {
    return createUnusable(
      `"${type}" is for the URL of a server: pass it with --url, if the command has it, or run this on the machine of the server with ${usage}`,
    );
  }
  const [, path] = /^(?:file:|sqlite3?:)?([^:]+)$/i.exec(url) ?? [];
  const suggestion = /^:?memory:?$/i.test(url) ? memory.url : path && toFileUrl(path);
  const advice = /^["'\s]/.test(url)
    ? "remove the quotes or spaces around the URL"
    : `use ${suggestion ? quoteInput(suggestion, 200) : usage}`;
  return createUnusable(`unknown store type "${type}": ${advice}`);
}

function createUnusable(message: string): StoreError {
  return new StoreError("unusable", message);
}

function locateFile(path: string): StoreLocation {
  if (path === "") throw createUnusable("sqlite: needs a path, such as sqlite:plants.db");
  // May be the URL of a database, with a password.
  if (path.includes("://")) throw createUnusable("sqlite: needs the path of a file, not a URL");
  // For SQLite itself, this name means a database in memory. A file of this name would be a mistake.
  if (path === ":memory:") {
    throw createUnusable(
      "sqlite::memory: is not a file: use memory: for a store that ends with the server, or sqlite:./:memory: for a file with that name",
    );
  }
  return {
    url: toFileUrl(path),
    absoluteUrl: toFileUrl(resolve(path)),
    kind: "file",
    path,
    backup: { sqliteFile: path },
    async listFiles() {
      const named = resolve(path);
      const real = await realpath(named).catch(() => named);
      return ["", "-wal", "-shm"].map((suffix) => real + suffix);
    },
    openEngine: async (options) =>
      (await import("./sqlite/engine.ts")).openSqliteEngine(path, options),
    openReader: async () => (await import("./sqlite/reader.ts")).openSqliteReader(path),
    async loadProvider() {
      // Node 20: has no SQLite, so that a package is needed. Loading Node's own would print a warning.
      if (!isBuiltin("node:sqlite")) await (await import("./sqlite/driver.ts")).loadSqlite();
    },
  };
}

/** What does the same for a database. The topic postgresql has the commands. */
const databaseAdvice: Readonly<Record<FileOperation, string>> = {
  "back up": "use pg_dump, or continuous archiving (pg_basebackup and archive_command)",
  verify:
    "restore the dump into an empty database, or use pg_verifybackup for a base backup and pg_amcheck for a database",
  restore: "stop the servers, then use pg_restore",
};

function locateDatabase(url: string): StoreLocation {
  const shownUrl = toShownUrl(parsePostgresUrl(url));
  return {
    url: shownUrl,
    absoluteUrl: url.replace(/:[^/@]*@/, "@"),
    kind: "database",
    path: undefined,
    backup: {
      explainInstead: (operation) =>
        `plantstore can ${operation} only SQLite stores. For PostgreSQL, ${databaseAdvice[operation]}`,
    },
    openEngine: async (options) =>
      (await import("./postgres/engine.ts")).openPostgresEngine(url, options),
    openReader: async (options) =>
      (await import("./postgres/engine.ts")).openPostgresReader(url, options),
    listFiles: async () => [],
  };
}

const existsOnly = "exists only inside its server process";
/** Why another process cannot open a store in memory, and what it can do. */
const isOutOfReach = `a memory: store ${existsOnly}: select the server with --url, if the command has it`;

const memory: StoreLocation = {
  url: "memory:",
  absoluteUrl: "memory:",
  kind: "memory",
  path: undefined,
  backup: {
    explainInstead: (operation) =>
      `plantstore cannot ${operation} a memory: store, which ${existsOnly}`,
  },
  async openEngine({ mustExist }) {
    if (mustExist) throw createUnusable(isOutOfReach);
    return (await import("./memory.ts")).createMemoryEngine();
  },
  async openReader() {
    throw createUnusable(isOutOfReach);
  },
  listFiles: async () => [],
};
