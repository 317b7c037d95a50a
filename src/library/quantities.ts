/** Types of options with units: sizes, times and shares. */
import {
  checkInteger,
  invalid,
  InvalidValue,
  type OptionType,
  type Range,
} from "./option-types.ts";

const byteUnits = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** A number of bytes; as text, such as `1048576` or `64KiB`. */
export function bytes(range: Range): OptionType<number> {
  const { min, max } = range;
  return {
    parse(text) {
      const [, digits = "", suffix = ""] = /^(\d{1,12})(\D*)$/.exec(text) ?? [];
      const units = Object.entries({ "": 1, ...byteUnits });
      const unit = units.find(([name]) => name.toLowerCase() === suffix.toLowerCase());
      const value = digits === "" || unit === undefined ? Number.NaN : Number(digits) * unit[1];
      if (value >= min && value <= max) return value;
      const examples = "a number of bytes such as 1048576, 64KiB or 1MiB";
      throw invalid(text, `${examples}, at most ${formatBytes(max)}`);
    },
    check: (value) => checkInteger(value, range),
    format: formatBytes,
  };
}

function formatBytes(value: number): string {
  return formatQuantity(value, byteUnits);
}

const msPerUnit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * A time in milliseconds; as text, such as `500ms`, `10s`, `2m`, `12h` or `30d`.
 *
 * @param examples for messages
 * @param defaultUnit unit of a number without one; by default such a number is invalid, except 0
 */
export function duration(
  range: Range,
  examples: string,
  defaultUnit?: keyof typeof msPerUnit,
): OptionType<number> {
  const ends = `from ${formatDuration(range.min)} to ${formatDuration(range.max)}`;
  return {
    parse(text) {
      const timeMs = parseDuration(text, defaultUnit);
      if (timeMs >= range.min && timeMs <= range.max) return timeMs;
      throw invalid(text, `a time such as ${examples}, ${ends}`);
    },
    check: (value) => checkInteger(value, range),
    format: formatDuration,
  };
}

/** A time limit in milliseconds; as text, such as `500ms`, `10s` or `2m`, or a number of seconds. */
export function timeLimit(range: Range): OptionType<number> {
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
export function latency(range: Range): OptionType<Latency> {
  const end = formatDuration(range.max);
  const rule = `a time such as 200ms, or a range such as 200ms..2s, at most ${end}`;
  return {
    parse(text) {
      const parts = text.split("..").map((part) => parseDuration(part));
      const [minMs = Number.NaN, maxMs = minMs, ...others] = parts;
      const isValid = others.length === 0 && minMs >= range.min && maxMs <= range.max;
      if (isValid && minMs <= maxMs) return minMs === maxMs ? minMs : [minMs, maxMs];
      throw invalid(text, rule);
    },
    check(value) {
      if (!Array.isArray(value)) return checkInteger(value, range);
      const [minMs = 0, maxMs = 0] = value.map((each) => checkInteger(each, range));
      if (value.length === 2 && minMs <= maxMs) return [minMs, maxMs];
      throw new InvalidValue("must be milliseconds or a pair of them, such as [200, 2000]");
    },
    format: (value) => [value].flat().map(formatDuration).join(".."),
  };
}

/** A share from 0 to 1; as text, a percentage such as `5%`. */
export const share: OptionType<number> = {
  parse(text) {
    const [, digits = ""] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text) ?? [];
    const value = Number(digits || Number.NaN) / 100;
    if (value <= 1) return value;
    throw invalid(text, "a percentage such as 5% or 0.5%, from 0% to 100%");
  },
  check(value) {
    const rule = "a number from 0 to 1, such as 0.05 for 5%";
    if (typeof value !== "number") throw invalid(value, rule);
    if (value >= 0 && value <= 1) return value;
    throw new InvalidValue(`must be ${rule} (got ${value})`, { isOutOfRange: true });
  },
  format: (value) => `${Number((value * 100).toFixed(6))}%`,
};

/** Formats a number with the largest unit that divides it. */
function formatQuantity(value: number, units: Readonly<Record<string, number>>): string {
  const unit = Object.entries(units).findLast(([, size]) => value > 0 && value % size === 0);
  return unit === undefined ? String(value) : `${value / unit[1]}${unit[0]}`;
}
