/** Reads the values of settings that only a server has. */
import { parseUrl } from "../../core/base-url.ts";
import { quoteInput } from "../../core/quote.ts";
import { basePathRule, hostRule, optionRanges, toBasePath, toHost } from "../../server/limits.ts";
import { explainUrl, invalid, InvalidValue, parseInteger } from "./setting-values.ts";

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

/** How much may be under way at a time: 1 … 1,000,000. */
export function parseInflight(text: string): number {
  return parseInteger(text, optionRanges.maxInflight);
}

/** How many connections may be open: 1 … 1,000,000. */
export function parseConnections(text: string): number {
  return parseInteger(text, { min: 1, max: 1_000_000 });
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

/** The size of a plant, such as `1048576`, `64KiB` or `1MiB`: 1 byte … 64 MiB. */
export function parseByteSize(text: string): number {
  return parseBytes(text, optionRanges.maxBodyBytes.max, "64MiB");
}

/** An amount of memory, such as `64MiB` or `1GiB`: 1 byte … 64 GiB. */
export function parseMemorySize(text: string): number {
  return parseBytes(text, 64 * 1024 ** 3, "64GiB");
}

/** Whether something is switched on: 1 or 0. */
export function parseSwitch(text: string): boolean {
  if (text !== "0" && text !== "1") throw invalid(text, "1 or 0");
  return text === "1";
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
  const url = explainUrl(() => parseUrl(text));
  const isOrigin =
    url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  // A star is legal in a URL, but is no pattern there.
  if (isOrigin && !url.hostname.includes("*")) return url.origin;
  throw new InvalidValue(
    `has "${quoteInput(text)}": it must be an origin such as https://app.example.org, without a path, or * alone for any`,
  );
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
