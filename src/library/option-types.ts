/** Types of options: how each parses, checks and formats its values. */
import { findTokenProblem, tokenMarker } from "../auth/token.ts";
import { parseBaseUrl, parseHttpUrl, parseUrl } from "../core/base-url.ts";
import { invalid, InvalidValue, unpairedSurrogate } from "../core/messages.ts";
import { int64Max, int64Min, toInteger } from "../core/plant.ts";

/** Milliseconds of each unit of time. */
export const msPerUnit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Bytes of each unit of sizes. */
export const bytesPerUnit = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** The type of an option. */
export interface OptionType<T> {
  /** Parses the text of a flag or an environment variable. @throws InvalidValue */
  parse(text: string): T;
  /** Checks the value that a program passes; absent for an option of the command line alone. @throws InvalidValue */
  check?(value: unknown): T;
  /** Formats a value for help and reports, without secrets. */
  format(value: T): string;
  /** All values, if they are few. */
  readonly choices?: readonly string[];
}

/** An option that programs set too: its type and its default. */
export interface OptionSpec<T> {
  readonly type: OptionType<T> & { check(value: unknown): T };
  readonly default: T;
}

/** A range of integers, both ends included. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Checks that a value is an integer in a range. @throws InvalidValue */
export function checkInteger(value: unknown, { min, max }: Range): number {
  const rule = `a whole number from ${min} to ${max}`;
  if (typeof value !== "number") throw invalid(value, rule);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new InvalidValue(`must be ${rule} (got ${value})`, { isOutOfRange: true });
}

/**
 * An integer in a range, with a text of its own.
 *
 * @param toNumber returns the number of a text; NaN for any other text
 * @param rule follows "must be", for an invalid text
 */
function ranged(
  range: Range,
  toNumber: (text: string) => number,
  rule: string,
  format: (value: number) => string,
) {
  return {
    parse(text: string) {
      const value = toNumber(text);
      if (value >= range.min && value <= range.max) return value;
      throw invalid(text, rule);
    },
    check: (value: unknown) => checkInteger(value, range),
    format,
  } satisfies OptionType<number>;
}

/** An integer in a range. */
export function integer(range: Range) {
  const toNumber = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN);
  return ranged(range, toNumber, `a whole number from ${range.min} to ${range.max}`, String);
}

/** One of several words. */
export function choice<Choice extends string>(choices: readonly Choice[]) {
  const check = (value: unknown): Choice => {
    const found = choices.find((each) => each === value);
    if (found === undefined) throw invalid(value, `one of ${choices.join(", ")}`);
    return found;
  };
  return { parse: (text: string): Choice => check(text), check, format: String, choices };
}

/**
 * A string by its rule.
 *
 * @param parse returns the normalized string. @throws InvalidValue
 * @param format by default the string itself, or `none` for an empty one
 */
export function string(
  parse: (text: string) => string,
  format = (text: string): string => text || "none",
) {
  return {
    parse,
    check(value: unknown) {
      if (typeof value === "string") return parse(value);
      throw invalid(value, "a string");
    },
    format,
  } satisfies OptionType<string>;
}

const hostName = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i;
/** RFC 3986 section 2.3, segment by segment. Clients would resolve `.` and `..`. */
const validBasePath = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9\-._~]+)*$/;

/** A host to listen on. An IPv6 address may be in brackets; one with a zone is invalid, because no URL can contain it. */
export const host = string((text) => {
  const name = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  const isAddress = /^[\da-f:.]+$/i.test(name) && URL.canParse(`http://[${name}]`);
  if (isAddress || hostName.test(text)) return name;
  throw invalid(text, "a host name or an IP address, without a port or a zone");
});

/** A port; 0 selects a free one. */
export const port = integer({ min: 0, max: 65_535 });

/** A prefix of paths: `/v1`, or empty. */
export const basePath = string((text) => {
  const inner = text.replace(/^\//, "").replace(/\/$/, "");
  const path = inner === "" ? "" : `/${inner}`;
  if (validBasePath.test(path)) return path;
  throw invalid(text, "a path such as /v1, of letters, digits and - . _ ~");
});

/** The URL of a plant store, without a slash at the end. */
export const baseUrl = string(parseBaseUrl);

/** The URL of a plant store, but not of a Unix socket. */
export const httpUrl = string(parseHttpUrl);

/** As {@link httpUrl}, or none for an empty text. */
export const optionalHttpUrl = {
  ...optional(httpUrl),
  check: (value: unknown) => (value === undefined ? undefined : httpUrl.check(value)),
} satisfies OptionType<string | undefined>;

/** A bearer token, which no message contains. */
export const token = {
  parse: parseToken,
  check(value: unknown) {
    if (typeof value === "string") return parseToken(value);
    throw new InvalidValue("must be a string");
  },
  format: () => "a token",
} satisfies OptionType<string>;

function parseToken(text: string): string {
  const problem = findTokenProblem(text);
  if (problem === undefined) return text;
  throw new InvalidValue(problem);
}

/** A number of bytes; as text, such as `1048576` or `64KiB`. */
export function bytes(range: Range) {
  const rule = `a number of bytes such as 1048576, 64KiB or 1MiB, at most ${formatBytes(range.max)}`;
  return ranged(range, parseBytes, rule, formatBytes);
}

function parseBytes(text: string): number {
  const [, digits = "", suffix = ""] = /^(\d{1,12})(\D*)$/.exec(text) ?? [];
  const units = Object.entries({ "": 1, ...bytesPerUnit });
  const unit = units.find(([name]) => name.toLowerCase() === suffix.toLowerCase());
  return digits === "" || unit === undefined ? Number.NaN : Number(digits) * unit[1];
}

function formatBytes(value: number): string {
  return formatQuantity(value, bytesPerUnit);
}

/**
 * A time in milliseconds; as text, such as `500ms`, `10s`, `2m`, `12h` or `30d`.
 *
 * @param examples for messages
 * @param defaultUnit unit of a number without one; by default such a number is invalid, except 0
 */
function duration(range: Range, examples: string, defaultUnit?: keyof typeof msPerUnit) {
  const ends = `from ${formatDuration(range.min)} to ${formatDuration(range.max)}`;
  const rule = `a time such as ${examples}, ${ends}`;
  return ranged(range, (text) => parseDuration(text, defaultUnit), rule, formatDuration);
}

/** A time limit in milliseconds; as text, such as `500ms`, `10s` or `2m`, or a number of seconds. */
export function timeLimit(range: Range) {
  return duration(range, "500ms, 10s or 2m", "s");
}

/** @returns milliseconds; NaN for an invalid text */
function parseDuration(text: string, defaultUnit?: keyof typeof msPerUnit): number {
  const [, count = "", suffix] = /^(\d{1,9}(?:\.\d{1,9})?)([a-z]*)$/.exec(text) ?? [];
  if (text === "0") return 0;
  const units = Object.entries(msPerUnit);
  const unit = units.find(([name]) => name === (suffix || defaultUnit));
  return count === "" || unit === undefined ? Number.NaN : Math.round(Number(count) * unit[1]);
}

function formatDuration(timeMs: number): string {
  return formatQuantity(timeMs, msPerUnit);
}

/** A delay in milliseconds, or a range of delays: shortest and longest. */
export type Latency = number | readonly [minMs: number, maxMs: number];

/** A {@link Latency}; as text, such as `200ms` or `200ms..2s`. */
export function latency(range: Range) {
  const end = formatDuration(range.max);
  const rule = `a time such as 200ms, or a range such as 200ms..2s, at most ${end}`;
  return {
    parse(text: string): Latency {
      const parts = text.split("..").map((part) => parseDuration(part));
      const [minMs = Number.NaN, maxMs = minMs, ...others] = parts;
      const isValid = others.length === 0 && minMs >= range.min && maxMs <= range.max;
      if (isValid && minMs <= maxMs) return minMs === maxMs ? minMs : [minMs, maxMs];
      throw invalid(text, rule);
    },
    check(value: unknown): Latency {
      if (!Array.isArray(value)) return checkInteger(value, range);
      const [minMs = 0, maxMs = 0] = value.map((each) => checkInteger(each, range));
      if (value.length === 2 && minMs <= maxMs) return [minMs, maxMs];
      throw new InvalidValue(
        "must be milliseconds, or a pair of them with the shortest first, such as [200, 2000]",
      );
    },
    format: (value: Latency) => [value].flat().map(formatDuration).join(".."),
  } satisfies OptionType<Latency>;
}

/** A share from 0 to 1; as text, a percentage such as `5%`. */
export const share = {
  parse(text: string) {
    const [, digits = ""] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text) ?? [];
    const value = Number(digits || Number.NaN) / 100;
    if (value <= 1) return value;
    throw invalid(text, "a percentage such as 5% or 0.5%, from 0% to 100%");
  },
  check(value: unknown) {
    const rule = "a number from 0 to 1, such as 0.05 for 5%";
    if (typeof value !== "number") throw invalid(value, rule);
    if (value >= 0 && value <= 1) return value;
    throw new InvalidValue(`must be ${rule} (got ${value})`, { isOutOfRange: true });
  },
  format: (value: number) => `${Number((value * 100).toFixed(6))}%`,
} satisfies OptionType<number>;

/** `pass` is none. */
const plannedFault = choice(["fail", "drop", "status", "token", "cut", "silent", "pass"] as const);

type PlannedFaults = readonly ReturnType<typeof plannedFault.parse>[];

/** Faults in their order; as text, such as `fail,drop`. */
export const plannedFaults = {
  parse: (list: string): PlannedFaults => list.split(",").map((each) => plannedFault.parse(each)),
  check(value: unknown): PlannedFaults {
    if (!Array.isArray(value)) throw invalid(value, 'an array such as ["fail", "drop"]');
    return value.map((each) => plannedFault.check(each));
  },
  format: (faults) => faults.join(","),
} satisfies OptionType<PlannedFaults>;

/** Formats a number with the largest unit that divides it. */
function formatQuantity(value: number, units: Readonly<Record<string, number>>): string {
  const unit = Object.entries(units).findLast(([, size]) => value > 0 && value % size === 0);
  return unit === undefined ? String(value) : `${value / unit[1]}${unit[0]}`;
}

/** Separates the values of a flag that is repeated. No argument and no environment variable contains it. */
export const valueSeparator = "\0";

/** A type whose values show themselves. @param parse throws InvalidValue */
function shown<T>(parse: (text: string) => T): OptionType<T> {
  return { parse, format: String };
}

/** Any text, unchanged. */
export const text = shown(String);

/** A text, or none for an empty one. */
export const optionalText: OptionType<string | undefined> = optional(text);

/** A value, or none for empty text. */
export function optional<T>(type: OptionType<T>): OptionType<T | undefined> {
  return {
    ...type,
    parse: (value) => (value === "" ? undefined : type.parse(value)),
    format: (value) => (value === undefined ? "none" : type.format(value)),
  };
}

/** A switch: 1 or 0. The flag alone is 1. */
export const toggle: OptionType<boolean> = {
  parse(value) {
    if (value === "0" || value === "1") return value === "1";
    throw invalid(value, "1 or 0");
  },
  format: (isOn) => (isOn ? "1" : "0"),
};

/** A switch for something that is on by default: 1 turns it off. */
export const negatedToggle: OptionType<boolean> = {
  parse: (value) => !toggle.parse(value),
  format: (isOn) => (isOn ? "0" : "1"),
};

/** The address of metrics: the main one, or one of their own. */
export type MetricsAddress = "main" | { readonly host: string; readonly port: number };

/** `main`, or an address and a port such as `127.0.0.1:9526`. */
export const metricsAddress: OptionType<MetricsAddress> = {
  parse(value) {
    if (value === "main") return value;
    const [, name = "", portText = ""] = /^(.*):(\d+)$/.exec(value) ?? [];
    try {
      return { host: host.parse(name), port: port.parse(portText) };
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      throw invalid(value, "main, or an address and a port such as 127.0.0.1:9526");
    }
  },
  format: (address) => (address === "main" ? address : `${address.host}:${address.port}`),
  choices: ["main"],
};

/** Origins as a browser writes them, or `*`, separated by commas or spaces. */
export const origins = {
  parse: (value: string) => parseOrigins(value.split(/[\s,\0]+/).filter((each) => each !== "")),
  check(value: unknown) {
    const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
    if (isList) return parseOrigins(value);
    throw invalid(value, 'an array of origins such as ["https://app.example.org"]');
  },
  format: (list: readonly string[]) => list.join(" ") || "none",
} satisfies OptionType<readonly string[]>;

function parseOrigins(texts: readonly string[]): readonly string[] {
  const list = texts.map(parseOrigin);
  if (list.length === 1 || !list.includes("*")) return list;
  throw new InvalidValue("must be * alone or a list of origins: * allows any origin");
}

function parseOrigin(value: string): string {
  if (value === "*") return value;
  const url = parseUrl(value);
  const isOrigin =
    url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  // A star is legal in a URL, but browsers do not treat it as a pattern.
  if (isOrigin && !url.hostname.includes("*")) return url.origin;
  throw invalid(value, "an origin such as https://app.example.org, without a path, or * for any");
}

/** A line of a file: 1 … 999,999,999,999,999. */
export const line = shown((value) => {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : 0;
  if (number >= 1) return number;
  throw invalid(value, "a line number, at least 1");
});

/** The character between the cells of a table; `tab` is a tab. */
export const delimiter: OptionType<string> = {
  parse(value) {
    if (value === "tab") return "\t";
    if (/^[\t !#-~]$/.test(value)) return value;
    throw invalid(value, "tab, or one ASCII character other than a quote");
  },
  format: String,
  choices: ["tab"],
};

/** Files to read; `-` is standard input. */
export const files: OptionType<readonly string[]> = {
  parse: (value) => (value === "" ? [] : value.split(valueSeparator).map(parseFile)),
  format: (paths) => paths.join(" ") || "none",
};

function parseFile(path: string): string {
  if (path !== "") return path;
  throw invalid(path, "a file, or - for standard input");
}

/** A file to write. */
export const outputFile = shown((value) => {
  if (value !== "" && value !== "-") return value;
  throw invalid(value, "a file, because stdout has the results");
});

/** An id of a plant, as any integer in JSON: −2^63 … 2^63 − 1. */
export const plantId = shown((value) => {
  const id = toInteger(value);
  if (id !== undefined && id >= int64Min && id <= int64Max) return id;
  throw invalid(value, `an integer from ${int64Min} to ${int64Max}`);
});

/** A tag of a plant. */
export const plantTag = shown((value) => {
  if (value.isWellFormed()) return value;
  throw new InvalidValue(unpairedSurrogate);
});

const maxTokenName = 100;

/** The name of a token: 1 … 100 UTF-16 code units that do not look like a token. */
export const tokenName = shown((value) => {
  if (value.startsWith(tokenMarker)) {
    throw new InvalidValue(
      `must not start with ${tokenMarker}, as tokens do: use a name such as ci`,
    );
  }
  if (value !== "" && value.length <= maxTokenName && value.isWellFormed()) return value;
  throw invalid(value, `a name of 1 to ${maxTokenName} characters`);
});

/** Lifetime of a token: 1 minute … 10 years. */
export const lifetime = duration({ min: msPerUnit.m, max: 3650 * msPerUnit.d }, "90m, 12h or 30d");
