/** The engine on SQLite: its URLs, and what its stores are. */
import { realpath } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { resolve } from "node:path";
import { StoreError } from "../../core/store.ts";
import type { EngineType } from "../store-location.ts";

const scheme = "sqlite:";
const toFileUrl = (path: string): string => scheme + path;

/** Stores plants in a file. */
export const sqliteType: EngineType = {
  schemes: [scheme],
  form: "sqlite:PATH",
  usage: "sqlite:PATH (a file)",
  isPrivate: false,
  toFileUrl,
  suggest: (text) => (/^sqlite3?:[^:]+$/i.test(text) ? text.replace(/^\w+:/, scheme) : undefined),
  locate(url) {
    const path = url.slice(scheme.length);
    if (path === "") {
      throw new StoreError("unusable", "sqlite: needs a path, such as sqlite:plants.db");
    }
    // May be the URL of a database, with a password.
    if (path.includes("://")) {
      throw new StoreError("unusable", `${scheme} needs the path of a file, not a URL`);
    }
    // For SQLite itself, this name means a database in memory. A file of this name would be a mistake.
    if (path === ":memory:") {
      throw new StoreError(
        "unusable",
        "sqlite::memory: is not a file: use memory: for a store that ends with the server, or sqlite:./:memory: for a file with that name",
      );
    }
    return {
      url,
      absoluteUrl: toFileUrl(resolve(path)),
      isVolatile: false,
      isShared: false,
      path,
      async listFiles() {
        const named = resolve(path);
        const real = await realpath(named).catch(() => named);
        return ["", "-wal", "-shm"].map((suffix) => real + suffix);
      },
      files: {
        backUp: async (target, options) =>
          (await import("./backup.ts")).backupSqliteFile(path, target, options),
        verify: async () => (await import("./backup.ts")).verifySqliteFile(path),
        restore: async (backup, options) =>
          (await import("./backup.ts")).restoreSqliteFile(backup, path, options),
      },
      openEngine: async (options) => (await import("./engine.ts")).openSqliteEngine(path, options),
      openReader: async () => (await import("./reader.ts")).openSqliteReader(path),
      async loadProvider() {
        // Node 20: has no SQLite, so that a package is needed. Loading Node's own would print a warning.
        if (!isBuiltin("node:sqlite")) await (await import("./driver.ts")).loadSqlite();
      },
    };
  },
};
