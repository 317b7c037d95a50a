/** Exact 64-bit integers from JSON number texts (contract.md "Body": exact ids). */

/** Smallest id: −2^63. */
export const int64Min = -(2n ** 63n);
/** Largest id: 2^63 − 1. */
export const int64Max = 2n ** 63n - 1n;

const numberParts = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Matches nearly every id; 18 digits always fit in int64. */
const plainInteger = /^-?(?:0|[1-9]\d{0,17})$/;

/** Maximum number of digits of an int64; a longer integer is out of range. */
const maxDigits = 19;

/**
 * Converts a JSON number text (RFC 8259 section 6) to an integer without rounding. `1`, `1.0`, `1e3` and `10e-1`
 * are integers, and `-0` is 0. An integer outside int64 becomes the nearest value outside, `int64Max + 1n` or
 * `int64Min - 1n`, so that `1e999999999` costs no more than `1`.
 *
 * @returns undefined if the text is not a JSON number or its value is not an integer
 */
export function toInteger(text: string): bigint | undefined {
  if (plainInteger.test(text)) return BigInt(text);
  const parts = numberParts.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = "", fraction = "", exponentText = "0"] = parts;

  // value = digits × 10^exponent; the digits neither start nor end with a zero.
  const leadingCut = `${whole}${fraction}`.replace(/^0+/, "");
  const digits = withoutTrailingZeros(leadingCut);
  if (digits === "") return 0n;
  // Number() can round or overflow a huge exponent, but never across the comparisons below.
  const exponent = Number(exponentText) - fraction.length + (leadingCut.length - digits.length);
  if (exponent < 0) return undefined;

  const isNegative = sign === "-";
  if (digits.length + exponent > maxDigits) return isNegative ? int64Min - 1n : int64Max + 1n;
  const magnitude = BigInt(digits) * 10n ** BigInt(exponent);
  const value = isNegative ? -magnitude : magnitude;
  if (value > int64Max) return int64Max + 1n;
  return value < int64Min ? int64Min - 1n : value;
}

/** Returns whether a text is a JSON number. */
export function isJsonNumber(text: string): boolean {
  return numberParts.test(text);
}

/** Uses a loop because `/0+$/` takes quadratic time on long runs of zeros before another digit. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}
