/** Reads the values of settings; what is wrong with one is said in words that follow the name of its source. */
import { InvalidUrl, parseBaseUrl as parseUrlOfStore, parseUrl } from "../../core/base-url.ts";
import { int64Max, int64Min, toInteger } from "../../core/int64.ts";
import { patienceRanges } from "../../core/patience.ts";
import { quoteInput } from "../../core/quote.ts";
import { StoreError } from "../../core/store.ts";
import {
  basePathRule,
  hostRule,
  optionRanges,
  toBasePath,
  toHost,
} from "../../server/option-rules.ts";
import { parseStoreUrl } from "../../store/store-url.ts";

/** A value that breaks its rule. The message continues a sentence that starts with the flag or the variable. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
}

/** The most that a plant may take, as a request and as a file: 64 MiB. */
export const maxPlantBytes = optionRanges.maxBodyBytes.max;

/** `main`, where plants are created, or an address of its own. */
export type MetricsPlace = "main" | { readonly host: string; readonly port: number };

const byteSize = /^(\d{1,12})(KiB|MiB|GiB)?$/i;
const bytesPerUnit: Readonly<Record<string, number>> = {
  "": 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

/** A host name or an IP address to listen on; an IPv6 address may stand in brackets. */
export function parseHost(text: string): string {
  const host = toHost(text);
  if (host === undefined) throw invalid(text, hostRule);
  return host;
}

/** A TCP port; 0 lets the system choose one. */
export function parsePort(text: string): number {
  return parseInteger(text, optionRanges.port);
}

/** How often something is done again: 0 … 100. */
export function parseCount(text: string): number {
  return parseInteger(text, patienceRanges.retries);
}

/** How much may be under way at a time: 1 … 1,000,000. */
export function parseInflight(text: string): number {
  return parseInteger(text, optionRanges.maxInflight);
}

/** How many plants are sent at a time: 1 … 1024. */
export function parseConcurrency(text: string): number {
  return parseInteger(text, { min: 1, max: 1024 });
}

/** How many of something are begun in a second: 0.001 … 1,000,000, or `none` for no bound, which is Infinity. */
export function parseRate(text: string): number {
  if (text === "none") return Number.POSITIVE_INFINITY;
  const rate = /^\d{1,7}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (rate < 0.001 || rate > 1_000_000) {
    throw invalid(text, "a number such as 100 or 0.5, at most 1000000, or none");
  }
  return rate;
}

/** A line of a file: 1 … 999,999,999,999,999. */
export function parseLine(text: string): number {
  const line = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (line < 1) throw invalid(text, "a line, counted from 1");
  return line;
}

/** Where metrics are: on the main address, or on one of their own such as `127.0.0.1:9526`; for none the empty string. */
export function parseMetricsPlace(text: string): MetricsPlace | undefined {
  if (text === "") return undefined;
  if (text === "main") return text;
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(text) ?? [];
  try {
    return { host: parseHost(host), port: parsePort(port) };
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw invalid(text, "main, or an address and a port such as 127.0.0.1:9526");
  }
}

/** A path in front of `/plants`, as `/v1` or, for none, as the empty string. */
export function parseBasePath(text: string): string {
  const path = toBasePath(text);
  if (path === undefined) throw invalid(text, basePathRule);
  return path;
}

/** The size of a plant, such as `1048576`, `64KiB` or `1MiB`: 1 … {@link maxPlantBytes}. */
export function parseByteSize(text: string): number {
  return parseBytes(text, maxPlantBytes, "64MiB");
}

/** An amount of memory, such as `64MiB` or `1GiB`: 1 byte … 64 GiB. */
export function parseMemorySize(text: string): number {
  return parseBytes(text, 64 * 1024 ** 3, "64GiB");
}

/** How many connections may be open: 1 … 1,000,000. */
export function parseConnections(text: string): number {
  return parseInteger(text, { min: 1, max: 1_000_000 });
}

/** Anything, or for none the empty string. */
export function parseOptional(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** One of some words. */
export function parseChoice<Choice extends string>(
  text: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw invalid(text, `one of ${choices.join(", ")}`);
  return found;
}

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

/** Whether something is switched on: 1 or 0. */
export function parseSwitch(text: string): boolean {
  if (text !== "0" && text !== "1") throw invalid(text, "1 or 0");
  return text === "1";
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

/** Seconds as milliseconds: 1 ms … 1 day. */
export function parseSeconds(text: string): number {
  const timeMs = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Math.round(Number(text) * 1000) : 0;
  if (timeMs < 1 || timeMs > patienceRanges.timeoutMs.max) {
    throw invalid(text, "a number of seconds such as 10 or 0.5, and at most 86400");
  }
  return timeMs;
}

/** The URL that a plant store is at, without a slash at its end. */
export function parseBaseUrl(text: string): string {
  return explaining(() => parseUrlOfStore(text));
}

/** Origins as a browser writes them, or `*`, out of a list with commas or spaces; for none the empty string. */
export function parseOrigins(text: string): readonly string[] {
  const origins = text.split(/[\s,]+/).flatMap((each) => (each === "" ? [] : [parseOrigin(each)]));
  if (origins.length > 1 && origins.includes("*")) {
    throw new InvalidValue(
      "has * beside other origins: it stands for all of them, so write it alone",
    );
  }
  return origins;
}

function parseOrigin(text: string): string {
  if (text === "*") return text;
  const url = explaining(() => parseUrl(text));
  const isOrigin =
    url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  // A star is legal in a URL, but is no pattern there.
  if (isOrigin && !url.hostname.includes("*")) return url.origin;
  throw new InvalidValue(
    `has "${quoteInput(text)}": it must be an origin such as https://app.example.org, without a path, or * alone for any`,
  );
}

function explaining<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof InvalidUrl)) throw error;
    throw new InvalidValue(error.message, { cause: error });
  }
}

function parseBytes(text: string, max: number, shownMax: string): number {
  const [, digits = "", unit = ""] = byteSize.exec(text) ?? [];
  const bytes = Number(digits) * (bytesPerUnit[unit.toLowerCase()] ?? 0);
  if (bytes < 1 || bytes > max) {
    throw invalid(
      text,
      `a number of bytes such as 1048576, 64KiB or 1MiB, and at most ${shownMax}`,
    );
  }
  return bytes;
}

function parseInteger(
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw invalid(text, `a whole number from ${min} to ${max}`);
  return value;
}

function invalid(text: string, rule: string): InvalidValue {
  return new InvalidValue(`is "${quoteInput(text)}": it must be ${rule}`);
}
