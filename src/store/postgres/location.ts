/** The engine on PostgreSQL: its URLs, and what its stores are. */
import type { EngineType, FileOperation } from "../store-location.ts";
import { parsePostgresUrl, toShownUrl } from "./postgres-url.ts";

/** Commands of PostgreSQL that do the same. They read PGHOST, PGUSER, PGPASSWORD and PGDATABASE. */
const advice: Readonly<Record<FileOperation, string>> = {
  "back up":
    'use "pg_dump --format=custom --file=plants.dump DATABASE", or continuous archiving (pg_basebackup and archive_command)',
  verify:
    'use "pg_restore --list plants.dump" for a dump, "pg_verifybackup" for a base backup, and "pg_amcheck" for a database',
  restore:
    'stop the servers, then use "pg_restore --clean --if-exists --single-transaction --dbname=DATABASE plants.dump"',
};

/** Stores plants in a database, which any number of servers may share. */
export const postgresType: EngineType = {
  schemes: ["postgres:", "postgresql:"],
  form: "postgres://",
  isPrivate: false,
  usage: "postgres://… (a database)",
  locate(url) {
    const shownUrl = toShownUrl(parsePostgresUrl(url));
    return {
      url: shownUrl,
      absoluteUrl: shownUrl,
      isVolatile: false,
      isShared: true,
      openEngine: async (options) => (await import("./engine.ts")).openPostgresEngine(url, options),
      openReader: async () => (await import("./engine.ts")).openPostgresReader(url),
      files: (operation) =>
        `plantstore can ${operation} only SQLite stores. For PostgreSQL, ${advice[operation]}`,
    };
  },
};
