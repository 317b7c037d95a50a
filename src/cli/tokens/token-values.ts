/** Reads what the command line says of a token to issue. */
import { quoteInput } from "../../core/quote.ts";
import { InvalidValue } from "../settings/setting-values.ts";

/** UTF-16 code units. */
const maxNameLength = 100;
/** Tokens and their prefixes begin so. */
const tokenMarker = "pst_";

const duration = /^(\d{1,6})([mhd])$/;
const msPerUnit: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const maxDays = 3650;

/** The name of a token: a text that can be told from a prefix. */
export function parseTokenName(text: string): string {
  if (text.startsWith(tokenMarker)) {
    throw new InvalidValue(`begins with ${tokenMarker}, as tokens do: choose a name such as ci`);
  }
  if (text === "" || text.length > maxNameLength || !text.isWellFormed()) {
    throw new InvalidValue(
      `is "${quoteInput(text)}": it must be a name of 1 to ${maxNameLength} characters`,
    );
  }
  return text;
}

/** How long a token can be used, such as `90m`, `12h` or `30d`, in milliseconds: 1 minute … 10 years. */
export function parseTokenLifetime(text: string): number {
  const [, count = "", unit = ""] = duration.exec(text) ?? [];
  const timeMs = Number(count) * (msPerUnit[unit] ?? 0);
  if (timeMs < 1 || timeMs > maxDays * 86_400_000) {
    throw new InvalidValue(
      `is "${quoteInput(text)}": it must be a time such as 90m, 12h or 30d, and at most ${maxDays}d`,
    );
  }
  return timeMs;
}
