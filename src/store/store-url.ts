/** Where a store is, as `--store` and `PLANTSTORE_STORE` say it. */
import { quoteInput } from "../core/quote.ts";
import { StoreError } from "../core/store.ts";

/** What a store URL names. */
export type StoreLocation =
  | { readonly engine: "memory" }
  | {
      readonly engine: "sqlite";
      /** As given: absolute, or relative to the working directory. */
      readonly path: string;
    };

const possible = "sqlite:PATH (a file) or memory: (gone at the end)";

/**
 * Reads `sqlite:PATH` or `memory:`. The path is taken literally, `?`, `%` and `file:` included.
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
      return { engine: "sqlite", path: rest };
    default:
      // Never the rest of it: other kinds of URL hold passwords.
      throw new StoreError(
        "unusable",
        `unknown kind of store "${quoteInput(scheme || url)}": use ${possible}`,
      );
  }
}
