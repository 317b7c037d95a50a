/** Converts JSON numbers in any form to integers, without rounding. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { int64Max, int64Min, toInteger } from "../../src/core/plant.ts";

const above = 2n ** 63n;
const below = -(2n ** 63n) - 1n;
const many = 100_000;

it("has the limits of a signed 64-bit integer", () => {
  expect([int64Min, int64Max]).toEqual([-9223372036854775808n, 9223372036854775807n]);
});

describe("toInteger converts an integer, one outside int64 to the nearest value outside:", () => {
  it.each([
    ["zero", "0", 0n],
    ["zero has no sign", "-0", 0n],
    ["zero with a fraction", "-0.000", 0n],
    ["zero times anything", "0e999999999", 0n],
    ["zero divided by anything", "0.000e-5", 0n],
    ["one", "1", 1n],
    ["a negative one", "-1", -1n],
    ["a fraction of zero", "1.0", 1n],
    ["an exponent", "1e3", 1000n],
    ["an exponent with plus and a capital", "1E+3", 1000n],
    ["an exponent of zero", "7e-0", 7n],
    ["an exponent with leading zeros", "1e0000000000003", 1000n],
    ["a negative exponent", "10e-1", 1n],
    ["a negative exponent with leading zeros", "-1200e-02", -12n],
    ["a fraction that the exponent takes up", "1.5e1", 15n],
    ["a fraction smaller than one", "0.00012e5", 12n],
    ["beyond what a double holds", "9007199254740993", 9007199254740993n],
    ["15 digits", "999999999999999", 999999999999999n],
    ["18 digits", "-999999999999999999", -999999999999999999n],
    ["19 digits", "1000000000000000001", 1000000000000000001n],
    ["the largest", "9223372036854775807", int64Max],
    ["the largest with a fraction", "9223372036854775807.0", int64Max],
    ["the largest with an exponent", "92233720368547758.07e2", int64Max],
    ["the largest with zeros taken away", "9223372036854775807000e-3", int64Max],
    ["the smallest", "-9223372036854775808", int64Min],
    ["the smallest with an exponent", "-9.223372036854775808e18", int64Min],
    ["thousands of zeros in a fraction", `5.${"0".repeat(many)}`, 5n],
    ["thousands of zeros that an exponent takes away", `5${"0".repeat(many)}e-${many}`, 5n],
    ["thousands of zeros that an exponent skips", `0.${"0".repeat(many)}5e${many + 1}`, 5n],
    ["an exponent of thousands of zeros", `5e${"0".repeat(many)}`, 5n],
    ["zero with an exponent of thousands of digits", `0e-${"9".repeat(many)}`, 0n],

    ["one above", "9223372036854775808", above],
    ["one above with a fraction", "9223372036854775808.0", above],
    ["one below", "-9223372036854775809", below],
    ["the largest of 19 digits", "9999999999999999999", above],
    ["20 digits", "10000000000000000000", above],
    ["a short text", "1e19", above],
    ["a short negative text", "-1e19", below],
    ["an exponent without end", "1e999999999", above],
    ["a negative number with such an exponent", "-1e999999999", below],
    ["a fraction with such an exponent", "1.5e999999999", above],
    ["an exponent of thousands of digits", `1e${"9".repeat(many)}`, above],
    ["thousands of digits", `-${"9".repeat(many)}`, below],
    ["thousands of zeros", `1${"0".repeat(many)}`, above],
  ])("%s", (_rule, text, expected) => {
    expect(toInteger(text)).toBe(expected);
  });
});

describe("toInteger rejects a number that is not an integer, and a text that is not a JSON number:", () => {
  it.each([
    ["a half", "1.5"],
    ["a negative fraction", "-0.1"],
    ["what a double would round to an integer", "123456789012345.9999999"],
    ["what a double would round to the largest id", "9223372036854775806.5"],
    ["a fraction above int64", "9223372036854775808.5"],
    ["a negative exponent", "1e-1"],
    ["a negative exponent that takes more than the zeros", "100e-3"],
    ["a fraction that outlasts the exponent", "1.25e1"],
    ["a double would make it zero", "1e-999999999"],
    ["a negative exponent of thousands of digits", `1e-${"9".repeat(many)}`],
    ["a digit behind thousands of zeros", `1.${"0".repeat(many)}1`],
    ["the exponent falls one short of it", `0.${"0".repeat(many)}5e${many}`],

    ["nothing", ""],
    ["a sign alone", "-"],
    ["a plus", "+1"],
    ["a leading zero", "01"],
    ["a leading zero behind a sign", "-00"],
    ["no digit before the point", ".5"],
    ["no digit behind the point", "1."],
    ["no digit in the exponent", "1e"],
    ["no digit behind the exponent's sign", "1e+"],
    ["a fraction in the exponent", "1e1.0"],
    ["space before it", " 1"],
    ["a line feed behind it", "1\n"],
    ["hexadecimal", "0x10"],
    ["a bigint literal", "1n"],
    ["a separator", "1_000"],
    ["digits of another script", "١"],
    ["infinity", "Infinity"],
    ["a word", "one"],
  ])("%s", (_rule, text) => {
    expect(toInteger(text)).toBeUndefined();
  });
});

/** A form of an integer: zeros after it, the point moved to the left, and an exponent that compensates for both. */
interface NumberForm {
  zeros: number;
  movedBy: number;
  exponentZeros: number;
  letter: string;
  plus: string;
}

const numberForm: fc.Arbitrary<NumberForm> = fc.record({
  zeros: fc.nat({ max: 40 }),
  movedBy: fc.nat({ max: 40 }),
  exponentZeros: fc.nat({ max: 5 }),
  letter: fc.constantFrom("e", "E"),
  plus: fc.constantFrom("", "+"),
});

describe("toInteger", () => {
  const int64 = fc.bigInt({ min: int64Min, max: int64Max });

  it("converts every int64 in any form", () => {
    fc.assert(
      fc.property(int64, numberForm, (value, form) => {
        expect(toInteger(writeAs(form, value))).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  it("rejects every number with a fraction other than zero", () => {
    const fraction = fc.stringMatching(/^\d{0,30}[1-9]0{0,5}$/);
    fc.assert(
      fc.property(int64, fraction, (value, digits) => {
        expect(toInteger(`${value}.${digits}`)).toBeUndefined();
      }),
    );
  });

  it("agrees with exact arithmetic on every JSON number", () => {
    const text = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,24})?([eE][+-]?\d{1,2})?$/);
    fc.assert(
      fc.property(text, (number) => {
        expect(toInteger(number)).toBe(slowInteger(number));
      }),
      { numRuns: 5000 },
    );
  });
});

function writeAs(form: NumberForm, value: bigint): string {
  const magnitude = (value < 0n ? -value : value) * 10n ** BigInt(form.zeros);
  const digits = String(magnitude).padStart(form.movedBy + 1, "0");
  const point = digits.length - form.movedBy;
  const fraction = form.movedBy === 0 ? "" : `.${digits.slice(point)}`;
  const exponent = form.movedBy - form.zeros;
  const exponentDigits = `${"0".repeat(form.exponentZeros)}${Math.abs(exponent)}`;
  const mantissa = `${value < 0n ? "-" : ""}${digits.slice(0, point)}${fraction}`;
  return `${mantissa}${form.letter}${exponent < 0 ? "-" : form.plus}${exponentDigits}`;
}

/** Converts a number in a different way: as a quotient of two integers. */
function slowInteger(text: string): bigint | undefined {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const numerator =
    BigInt(whole.replace("-", "") + fraction) * 10n ** BigInt(99 + Number(exponent));
  const denominator = 10n ** BigInt(99 + fraction.length);
  if (numerator % denominator !== 0n) return undefined;
  const magnitude = numerator / denominator;
  const value = text.startsWith("-") ? -magnitude : magnitude;
  if (value > int64Max) return above;
  return value < int64Min ? below : value;
}
