/** Parses the URL of a store, from `--store` or `PLANTSTORE_STORE`. */
import { quoteInput } from "../core/quote.ts";
import { StoreError } from "../core/store.ts";
import { parsePostgresUrl, toPlace } from "./postgres/postgres-url.ts";

/** Engine and place of a store. */
export type StoreLocation =
  | { readonly engine: "memory" }
  | {
      readonly engine: "sqlite";
      /** Absolute, or relative to the working directory. */
      readonly path: string;
    }
  | {
      readonly engine: "postgres";
      /** Can contain a password. */
      readonly url: string;
    };

const possible =
  "sqlite:PATH (a file), postgres://… (a database) or memory: (kept until the server ends)";

/**
 * Parses `sqlite:PATH`, `postgres://…`, `postgresql://…` or `memory:`. The path of a file is literal, including `?`, `%`
 * and `file:`.
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
        throw new StoreError("unusable", "memory: must not have a path: use memory: alone");
      }
      return { engine: "memory" };
    case "sqlite:":
      if (rest === "") {
        throw new StoreError("unusable", "sqlite: needs a path, such as sqlite:plants.db");
      }
      // For SQLite itself, this name means a database in memory. A file of this name would be a mistake.
      if (rest === ":memory:") {
        throw new StoreError(
          "unusable",
          "sqlite::memory: is not a file: use memory: for a store that ends with the server, or sqlite:./:memory: for a file with that name",
        );
      }
      return { engine: "sqlite", path: rest };
    case "postgres:":
    case "postgresql:":
      parsePostgresUrl(url);
      return { engine: "postgres", url };
    default:
      // Quotes only the scheme, because other URLs can contain passwords.
      throw new StoreError(
        "unusable",
        `unknown store type "${quoteInput(scheme || url)}": use ${possible}`,
      );
  }
}

/**
 * Describes the place of a store without secrets, for messages.
 *
 * @throws StoreError `unusable`
 */
export function describeStoreUrl(url: string): string {
  const location = parseStoreUrl(url);
  return location.engine === "postgres" ? toPlace(parsePostgresUrl(url)) : url;
}
