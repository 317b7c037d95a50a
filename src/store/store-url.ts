/** Where a store is, as `--store` and `PLANTSTORE_STORE` say it. */
import { quoteInput } from "../core/quote.ts";
import { StoreError } from "../core/store.ts";
import { parsePostgresUrl, toPlace } from "./postgres/postgres-url.ts";

/** What a store URL names. */
export type StoreLocation =
  | { readonly engine: "memory" }
  | {
      readonly engine: "sqlite";
      /** As given: absolute, or relative to the working directory. */
      readonly path: string;
    }
  | {
      readonly engine: "postgres";
      /** May hold a password. */
      readonly url: string;
    };

const possible = "sqlite:PATH (a file), postgres://… (a database) or memory: (gone at the end)";

/**
 * Reads `sqlite:PATH`, `postgres://…`, `postgresql://…` or `memory:`. The path of a file is taken literally, `?`, `%`
 * and `file:` included.
 *
 * @throws StoreError `unusable`
 */
export function parseStoreUrl(url: string): StoreLocation {
  const schemeEnd = url.indexOf(":") + 1;
  const scheme = url.slice(0, schemeEnd);
  const rest = url.slice(schemeEnd);
  switch (scheme) {
    case "memory:":
      if (rest !== "") {
        throw new StoreError("unusable", "memory: takes no path: write memory: alone");
      }
      return { engine: "memory" };
    case "sqlite:":
      if (rest === "") {
        throw new StoreError("unusable", "sqlite: has no path: write for example sqlite:plants.db");
      }
      // To SQLite itself that is a store in memory; a file of this name would be one by mistake.
      if (rest === ":memory:") {
        throw new StoreError(
          "unusable",
          "sqlite::memory: is no file: write memory: for a store that is gone at the end, or sqlite:./:memory: for a file of that name",
        );
      }
      return { engine: "sqlite", path: rest };
    case "postgres:":
    case "postgresql:":
      parsePostgresUrl(url);
      return { engine: "postgres", url };
    default:
      // Never the rest of it: other kinds of URL hold passwords.
      throw new StoreError(
        "unusable",
        `unknown kind of store "${quoteInput(scheme || url)}": use ${possible}`,
      );
  }
}

/**
 * Where a store is, for a message: nothing that is secret.
 *
 * @throws StoreError `unusable`
 */
export function describeStoreUrl(url: string): string {
  const location = parseStoreUrl(url);
  return location.engine === "postgres" ? toPlace(parsePostgresUrl(url)) : url;
}
