/** Statistics of several rounds of one measurement: on a shared machine a single number means little. */

/** A median with the smallest and the largest value. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** @throws RangeError when there are no values */
export function toSpread(values: readonly number[]): Spread {
  const sorted = values.toSorted((left, right) => left - right);
  const [min, max] = [sorted[0], sorted.at(-1)];
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  const high = sorted[Math.ceil((sorted.length - 1) / 2)];
  if (min === undefined || max === undefined || low === undefined || high === undefined) {
    throw new RangeError("nothing was measured");
  }
  return { median: (low + high) / 2, min, max };
}

/** `0.57 (0.55–0.60)`; the median alone when there was one round. */
export function toText({ median, min, max }: Spread, digits: number): string {
  if (min === max) return median.toFixed(digits);
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}
