/** Reads the values of settings that are about a store and what is in it. */
import { int64Max, int64Min, toInteger } from "../../core/int64.ts";
import { StoreError } from "../../core/store.ts";
import { parseStoreUrl } from "../../store/store-url.ts";
import { invalid, InvalidValue, parseInteger } from "./setting-values.ts";

/** The URL of a store, by the rules of the stores themselves. */
export function checkStoreUrl(text: string): string {
  try {
    parseStoreUrl(text);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new InvalidValue(`names no store: ${error.message}`, { cause: error });
  }
  return text;
}

/** An id, as any number of JSON that is an integer: −2^63 … 2^63 − 1. */
export function parseId(text: string): bigint {
  const id = toInteger(text);
  if (id === undefined || id < int64Min || id > int64Max) {
    throw invalid(text, `an integer from ${int64Min} to ${int64Max}`);
  }
  return id;
}

/** A tag, as plants may have it. */
export function parseTag(text: string): string {
  if (text.isWellFormed()) return text;
  throw new InvalidValue("holds a lone surrogate: write the pair, or leave it out");
}

/** How many plants to list: 1 … 10,000. */
export function parseLimit(text: string): number {
  return parseInteger(text, { min: 1, max: 10_000 });
}
