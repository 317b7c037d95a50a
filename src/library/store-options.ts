/** Options of a plant store: its URL, faults and limits. They have a file of their own because clients need no store. */
import { parseUrl } from "../core/base-url.ts";
import { invalid, InvalidValue, quoteInput } from "../core/messages.ts";
import { existsSync } from "node:fs";
import { attempt } from "../core/attempt.ts";
import { operationSets, type OperationSet } from "../core/contract.ts";
import { type StatusMode, statusModes } from "../core/errors.ts";
import { conflictPolicies, type ConflictPolicy, StoreError } from "../core/store.ts";
import {
  checkInteger,
  choice,
  formatDuration,
  formatQuantity,
  httpUrl,
  integer,
  msPerUnit,
  optional,
  type OptionType,
  parseDuration,
  type Range,
  ranged,
  string,
  timeLimit,
} from "./option-types.ts";
import { parseStoreUrl, toFileUrl } from "../store/store-url.ts";
import {
  assertKnownOptions,
  checkObject,
  checkOption,
  checkOptions,
  type OptionValues,
  type Specs,
  type SpecsOf,
} from "./client-options.ts";

/** The URL of a store, or the path of its file if that has a slash or the file exists. */
export const storeUrlOrPath = string(
  (text) => {
    try {
      const url = isPath(text) ? toFileUrl(text) : text;
      parseStoreUrl(url);
      return url;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      throw new InvalidValue(`is invalid: ${error.message}`, { cause: error });
    }
  },
  (url) => parseStoreUrl(url).url,
);

/** Returns the path of the file that a text of {@link storeUrlOrPath} names; undefined for any other text. */
export function findStorePath(text: string): string | undefined {
  return attempt(() => parseStoreUrl(isPath(text) ? toFileUrl(text) : text).path);
}

/** A single letter before a colon is a drive of Windows. A mistyped URL of a database, which may contain a password, is no path. */
function isPath(text: string): boolean {
  if (/^[a-z][a-z\d+.-]+:/i.test(text) || text.includes("://")) return false;
  return /[\\/]/.test(text) || existsSync(text);
}

const hostName = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i;
/** RFC 3986 section 2.3, segment by segment. Clients would resolve `.` and `..`. */
const validBasePath = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9\-._~]+)*$/;

/** A host to listen on. An IPv6 address may be in brackets; one with a zone is invalid, because no URL can contain it. */
const host = string((text) => {
  const name = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  const isAddress = /^[\da-f:.]+$/i.test(name) && URL.canParse(`http://[${name}]`);
  if (isAddress || hostName.test(text)) return name;
  throw invalid(text, "a host name or an IP address, without a port or a zone");
});

/** A port; 0 selects a free one. */
const port = integer({ min: 0, max: 65_535 });

/** A prefix of paths: `/v1`, or empty. */
const basePath = string((text) => {
  const inner = text.replace(/^\//, "").replace(/\/$/, "");
  const path = inner === "" ? "" : `/${inner}`;
  if (validBasePath.test(path)) return path;
  throw invalid(text, "a path such as /v1, of letters, digits and - . _ ~");
});

/** As {@link httpUrl}, or none for an empty text. */
const optionalHttpUrl = {
  ...optional(httpUrl),
  check: (value: unknown) => (value === undefined ? undefined : httpUrl.check(value)),
} satisfies OptionType<string | undefined>;

/** Origins as a browser writes them, or `*`, separated by commas or spaces. */
const origins = {
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

export const bytesPerUnit = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** A number of bytes; as text, such as `1048576` or `64KiB`. */
function bytes(range: Range) {
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

/** A delay in milliseconds, or a range of delays: shortest and longest. */
export type Latency = number | readonly [minMs: number, maxMs: number];

/** A {@link Latency}; as text, such as `200ms` or `200ms..2s`. */
function latency(range: Range) {
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
const share = {
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

const faultKinds = ["fail", "drop", "status", "token", "cut", "silent", "pass"] as const;

/** A fault of one change; `pass` is none. */
export type PlannedFault = (typeof faultKinds)[number];

const plannedFault = choice<PlannedFault>(faultKinds);

/** Faults in their order; as text, such as `fail,drop`. */
const plannedFaults = {
  parse: (list: string): readonly PlannedFault[] =>
    list.split(",").map((each) => plannedFault.parse(each)),
  check(value: unknown): readonly PlannedFault[] {
    if (!Array.isArray(value)) throw invalid(value, 'an array such as ["fail", "drop"]');
    return value.map((each) => plannedFault.check(each));
  },
  format: (faults) => faults.join(","),
} satisfies OptionType<readonly PlannedFault[]>;

const mebibyte = bytesPerUnit.MiB;

/** Range of the maximum size of a request body: no server accepts a larger plant. */
export const maxBodyRange = { min: 1, max: 64 * mebibyte };

/** Options of a plant store. */
export interface StoreOptions {
  /** Where plants are stored: `memory:` (the default), `sqlite:PATH`, a path with a slash, or `postgres://…`. */
  readonly store?: string | undefined;
  /** The only host name or IP address to listen on; by default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Port to listen on: 0 … 65535; 0, the default, selects a free port. */
  readonly port?: number | undefined;
  /** Prefix of `/plants`, such as `/v1`: letters, digits and `- . _ ~`; by default empty. */
  readonly basePath?: string | undefined;
  /** URL that clients use, with the base path, if a proxy is in front: the description and the page name it; by default that of the store. */
  readonly publicUrl?: string | undefined;
  /** Origins whose pages may use the store, such as `["https://app.example.org"]`, or `["*"]`; by default none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Maximum size of a request body, in bytes: 1 … 67108864 (64 MiB); by default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Maximum number of changes that wait for the store: 1 … 1000000; by default 4096. */
  readonly maxInflight?: number | undefined;
  /** Operations: `create` (the default), or `all`, which lists and deletes plants too. */
  readonly operations?: OperationSet | undefined;
  /** Policy for a create whose id belongs to a different plant: `reject` (the default) or `replace`. */
  readonly onConflict?: ConflictPolicy | undefined;
  /** Status of an error: `contract` (the default) is always 400; `http` is the status that the error number begins with. */
  readonly statusMode?: StatusMode | undefined;
}

export const storeOptions = {
  store: { type: storeUrlOrPath, default: "memory:" },
  host: { type: host, default: "127.0.0.1" },
  port: { type: port, default: 0 },
  basePath: { type: basePath, default: "" },
  publicUrl: { type: optionalHttpUrl, default: undefined },
  corsOrigins: { type: origins, default: [] },
  maxBodyBytes: { type: bytes(maxBodyRange), default: mebibyte },
  maxInflight: { type: integer({ min: 1, max: 1_000_000 }), default: 4096 },
  operations: { type: choice<OperationSet>(operationSets), default: "create" },
  onConflict: { type: choice<ConflictPolicy>(conflictPolicies), default: "reject" },
  statusMode: { type: choice<StatusMode>(statusModes), default: "contract" },
} as const satisfies SpecsOf<StoreOptions>;

/** Limits of a server that only the command line can change. */
export const limitOptions = {
  /** Maximum number of connections. */
  maxConnections: { type: integer({ min: 1, max: 1_000_000 }), default: 10_000 },
  /** Time for a complete request to arrive; its headers must arrive in a third of it. */
  requestTimeoutMs: { type: timeLimit({ min: 1, max: msPerUnit.d }), default: 60_000 },
  /** Time after which an idle connection is closed. */
  idleTimeoutMs: { type: timeLimit({ min: 1, max: msPerUnit.d }), default: 75_000 },
  /** Time for which a server that stops still accepts requests, but is not ready. */
  drainMs: { type: timeLimit({ min: 0, max: msPerUnit.d }), default: 0 },
  /** Time for requests in flight when the server stops. */
  shutdownTimeoutMs: { type: timeLimit({ min: 1, max: msPerUnit.d }), default: 10_000 },
} as const satisfies Specs;

/** Largest seed of a sequence of faults. */
export const maxFaultSeed = 999_999_999;

/** Faults of creates and deletes, which are called changes, for tests of clients. A 200 still means that the plant is stored. */
export interface FaultOptions {
  /** Delay of each response, in milliseconds, or a pair of the shortest and the longest: 0 … 3600000; by default 0. */
  readonly latencyMs?: Latency | undefined;
  /** Share of changes that get 50301 before the store is used: 0 … 1; by default 0. */
  readonly failRate?: number | undefined;
  /** Share of changes that are stored, but whose connection is closed instead of a response: 0 … 1; by default 0. */
  readonly dropRate?: number | undefined;
  /** Share of changes that get a page of HTML before the store is used, as from a proxy: 0 … 1; by default 0. */
  readonly statusRate?: number | undefined;
  /** Share of changes that get 40102 before the store is used, although the token is valid: 0 … 1; by default 0. */
  readonly tokenRate?: number | undefined;
  /** Share of changes that are stored, but whose response ends in the middle: 0 … 1; by default 0. */
  readonly cutRate?: number | undefined;
  /** Share of changes that are stored, but have no response until the client closes its connection: 0 … 1; by default 0. */
  readonly silentRate?: number | undefined;
  /** Status of the pages of HTML: 400 … 599; by default 502. */
  readonly pageStatus?: number | undefined;
  /** Selects the sequence of faults: 0 … 999999999; by default 0. */
  readonly seed?: number | undefined;
  /** Faults of the first valid changes, one for each, such as `["fail", "pass", "drop"]`; the shares concern only those after them. */
  readonly first?: readonly PlannedFault[] | undefined;
}

export const faultOptions = {
  latencyMs: { type: latency({ min: 0, max: msPerUnit.h }), default: 0 },
  failRate: { type: share, default: 0 },
  dropRate: { type: share, default: 0 },
  statusRate: { type: share, default: 0 },
  tokenRate: { type: share, default: 0 },
  cutRate: { type: share, default: 0 },
  silentRate: { type: share, default: 0 },
  pageStatus: { type: integer({ min: 400, max: 599 }), default: 502 },
  seed: { type: integer({ min: 0, max: maxFaultSeed }), default: 0 },
  first: { type: plannedFaults, default: [] },
} as const satisfies SpecsOf<FaultOptions>;

/** The parts of a list of faults. Each is named as its option, without the kind of its value: `fail` for `failRate`. */
const faultParts = Object.entries<FaultSpec>(faultOptions).map(([name, spec]) => ({
  ...spec,
  name: name as keyof typeof faultOptions,
  part: name.replace(/(?:Ms|Rate|Status)$/, ""),
}));
type FaultSpec = { readonly type: OptionType<unknown>; readonly default: unknown };

/** Faults of changes, such as `latency=200ms..2s fail=5% drop=1% seed=7`: any of the parts, each at most once. */
export const faultList: OptionType<Partial<OptionValues<typeof faultOptions>>> = {
  parse(list) {
    const values = new Map<string, unknown>();
    for (const item of list.split(/\s+/).filter(Boolean)) {
      const [word = ""] = item.split("=");
      const found = faultParts.find(({ part }) => part === word);
      if (found === undefined) {
        const known = faultParts.map(({ part }) => part).join(", ");
        throw new InvalidValue(`has an unknown part "${quoteInput(word)}": known are ${known}`);
      }
      const { name, part, type } = found;
      if (values.has(name)) throw new InvalidValue(`has two parts ${part}: remove one of them`);
      values.set(name, parsePart(part, item.slice(part.length + 1), type));
    }
    return Object.fromEntries(values);
  },
  format(values) {
    const shown = faultParts.filter(
      ({ name, default: fallback }) =>
        values[name] !== undefined &&
        (name === "seed" || String(values[name]) !== String(fallback)),
    );
    const parts = shown.map(({ part, name, type }) => `${part}=${type.format(values[name])}`);
    return parts.join(" ") || "none";
  },
};

function parsePart<T>(part: string, value: string, type: OptionType<T>): T {
  try {
    return type.parse(value);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new InvalidValue(`has an invalid part: ${part} ${error.message}`, { cause: error });
  }
}

/** Checks the option `faults` of a program. @throws as {@link checkOption} and {@link assertKnownOptions} */
export function checkFaults(faults: unknown): OptionValues<typeof faultOptions> {
  const options = checkOption("faults", checkObject, faults);
  assertKnownOptions(options, Object.keys(faultOptions), [], "faults.");
  return checkOptions(faultOptions, options, "faults.");
}
