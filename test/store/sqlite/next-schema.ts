/** The schema that a next version could have. */
import type { Schema } from "../../../src/store/sql-tables.ts";
import { sqliteSchema } from "../../../src/store/sqlite/database.ts";

/** It has a column for plants, with a default as the schema demands, and a table. Its step fails when it is applied twice. */
export const nextSchema: Schema = [
  ...sqliteSchema,
  {
    version: 7,
    release: "1.1.0",
    sql: `
      ALTER TABLE plants ADD COLUMN light TEXT NOT NULL DEFAULT 'sun';
      CREATE TABLE gardens (id INTEGER PRIMARY KEY) STRICT;
    `,
  },
];
