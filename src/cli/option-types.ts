/** Types of options that only the command line has. */
import { parseUrl } from "../core/base-url.ts";
import { int64Max, int64Min, toInteger } from "../core/int64.ts";
import { quoteInput } from "../core/quote.ts";
import {
  explainUrl,
  host,
  integer,
  invalid,
  InvalidValue,
  type OptionType,
} from "../library/option-types.ts";
import { faultOptions, type OptionValues, storeOptions } from "../library/options.ts";
import { duration, timeLimit } from "../library/quantities.ts";

/** A type whose values come from text only. */
export type TextType<T> = Omit<OptionType<T>, "check">;

/** Separates the values of a flag that is repeated. No argument and no environment variable contains it. */
export const valueSeparator = "\0";

/** Any text, unchanged. */
export const text: TextType<string> = { parse: String, format: String };

/** A text, or none for an empty one. */
export const optionalText: TextType<string | undefined> = optional(text);

/** A value, or none for empty text. */
export function optional<T>(type: TextType<T>): TextType<T | undefined> {
  return {
    ...type,
    parse: (value) => (value === "" ? undefined : type.parse(value)),
    format: (value) => (value === undefined ? "none" : type.format(value)),
  };
}

/** A switch: 1 or 0. The flag alone is 1. */
export const toggle: TextType<boolean> = {
  parse(value) {
    if (value === "0" || value === "1") return value === "1";
    throw invalid(value, "1 or 0");
  },
  format: (isOn) => (isOn ? "1" : "0"),
};

/** A switch for something that is on by default: 1 turns it off. */
export const negatedToggle: TextType<boolean> = {
  parse: (value) => !toggle.parse(value),
  format: (isOn) => (isOn ? "0" : "1"),
};

/** The address of metrics: the main one, or one of their own. */
export type MetricsPlace = "main" | { readonly host: string; readonly port: number };

/** `main`, or an address and a port such as `127.0.0.1:9526`. */
export const metricsPlace: TextType<MetricsPlace> = {
  parse(value) {
    if (value === "main") return value;
    const [, name = "", port = ""] = /^(.*):(\d+)$/.exec(value) ?? [];
    try {
      return { host: host.parse(name), port: storeOptions.port.type.parse(port) };
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      throw invalid(value, "main, or an address and a port such as 127.0.0.1:9526");
    }
  },
  format: (place) => (place === "main" ? place : `${place.host}:${place.port}`),
  choices: ["main"],
};

/** Origins as a browser writes them, or `*`, separated by commas or spaces. */
export const origins: TextType<readonly string[]> = {
  parse(value) {
    const list = value
      .split(/[\s,\0]+/)
      .flatMap((each) => (each === "" ? [] : [parseOrigin(each)]));
    if (list.length === 1 || !list.includes("*")) return list;
    throw new InvalidValue("must be * alone or a list of origins: * allows any origin");
  },
  format: (list) => list.join(" ") || "none",
};

function parseOrigin(value: string): string {
  if (value === "*") return value;
  const url = explainUrl(() => parseUrl(value));
  const isOrigin =
    url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  // A star is legal in a URL, but browsers do not treat it as a pattern.
  if (isOrigin && !url.hostname.includes("*")) return url.origin;
  throw new InvalidValue(
    `must be an origin such as https://app.example.org, without a path, or * for any (got "${quoteInput(value)}")`,
  );
}

/** A number per second: 0.001 … 1,000,000, or `none` for Infinity. */
export const rate: TextType<number> = {
  parse(value) {
    if (value === "none") return Number.POSITIVE_INFINITY;
    const perSecond = /^\d{1,7}(\.\d{1,3})?$/.test(value) ? Number(value) : 0;
    if (perSecond >= 0.001 && perSecond <= 1_000_000) return perSecond;
    throw invalid(value, "a number such as 100 or 0.5, at most 1000000, or none");
  },
  format: (perSecond) => (perSecond === Number.POSITIVE_INFINITY ? "none" : String(perSecond)),
};

/** A line of a file: 1 … 999,999,999,999,999. */
export const line: TextType<number> = {
  parse(value) {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : 0;
    if (number >= 1) return number;
    throw invalid(value, "a line number, at least 1");
  },
  format: String,
};

/** The character between the cells of a table; `tab` is a tab. */
export const delimiter: TextType<string> = {
  parse(value) {
    if (value === "tab") return "\t";
    if (/^[\t !#-~]$/.test(value)) return value;
    throw invalid(value, "tab, or one ASCII character other than a quote");
  },
  format: String,
  choices: ["tab"],
};

/** Files to read; `-` is standard input. */
export const files: TextType<readonly string[]> = {
  parse: (value) => (value === "" ? [] : value.split(valueSeparator).map(parseFile)),
  format: (paths) => paths.join(" ") || "none",
};

function parseFile(path: string): string {
  if (path !== "") return path;
  throw invalid(path, "a file, or - for standard input");
}

/** A file to write. */
export const outputFile: TextType<string> = {
  parse(value) {
    if (value !== "" && value !== "-") return value;
    throw invalid(value, "a file, because stdout has the results");
  },
  format: String,
};

/** An id of a plant, as any integer in JSON: −2^63 … 2^63 − 1. */
export const plantId: TextType<bigint> = {
  parse(value) {
    const id = toInteger(value);
    if (id !== undefined && id >= int64Min && id <= int64Max) return id;
    throw invalid(value, `an integer from ${int64Min} to ${int64Max}`);
  },
  format: String,
};

/** A tag of a plant. */
export const plantTag: TextType<string> = {
  parse(value) {
    if (value.isWellFormed()) return value;
    throw new InvalidValue("contains an unpaired surrogate: write the pair, or remove it");
  },
  format: String,
};

/** The parts of a list of faults, each with the name of its option in the library. */
const faultParts = [
  ["latency", "latencyMs"],
  ["fail", "failRate"],
  ["drop", "dropRate"],
  ["seed", "seed"],
] as const satisfies readonly (readonly [part: string, name: keyof typeof faultOptions])[];
const faultTypes: Readonly<
  Record<keyof typeof faultOptions, { readonly type: TextType<unknown> }>
> = faultOptions;

/** Faults of creates, such as `latency=200ms..2s fail=5% drop=1% seed=7`: any of the parts, each at most once. */
export const faults: TextType<Partial<OptionValues<typeof faultOptions>>> = {
  parse(list) {
    const values = new Map<string, unknown>();
    for (const item of list.split(/\s+/).filter(Boolean)) {
      const [word = ""] = item.split("=");
      const [part, name] = faultParts.find(([each]) => each === word) ?? [];
      if (name === undefined) {
        const known = faultParts.map(([each]) => each).join(", ");
        throw new InvalidValue(`has an unknown part "${quoteInput(word)}": known are ${known}`);
      }
      if (values.has(name)) throw new InvalidValue(`has two parts ${part}: remove one of them`);
      values.set(name, parsePart(part, item.slice(part.length + 1), faultTypes[name].type));
    }
    return Object.fromEntries(values);
  },
  format(values) {
    const isShown = (name: keyof typeof faultOptions): boolean =>
      values[name] !== undefined && (values[name] !== 0 || name === "seed");
    const shown = faultParts.filter(([, name]) => isShown(name));
    const parts = shown.map(
      ([part, name]) => `${part}=${faultTypes[name].type.format(values[name])}`,
    );
    return parts.join(" ") || "none";
  },
};

function parsePart<T>(part: string, value: string, type: TextType<T>): T {
  try {
    return type.parse(value);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new InvalidValue(`has an invalid part: ${part} ${error.message}`, { cause: error });
  }
}

/** The number of plants to list. */
export const listLimit = integer({ min: 1, max: 10_000 });

const maxTokenName = 100;
const tokenMarker = "pst_";

/** The name of a token: 1 … 100 UTF-16 code units that do not look like a token. */
export const tokenName: TextType<string> = {
  parse(value) {
    if (value.startsWith(tokenMarker)) {
      throw new InvalidValue(
        `must not start with ${tokenMarker}, as tokens do: use a name such as ci`,
      );
    }
    if (value !== "" && value.length <= maxTokenName && value.isWellFormed()) return value;
    throw invalid(value, `a name of 1 to ${maxTokenName} characters`);
  },
  format: String,
};

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Time to wait for a server: 0 … 1 day. */
export const waitTime = timeLimit({ min: 0, max: dayMs });

/** Lifetime of a token: 1 minute … 10 years. */
export const lifetime = duration({ min: minuteMs, max: 3650 * dayMs }, "90m, 12h or 30d");
