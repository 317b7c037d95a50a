/** Counts what became of many records, and says it to the person who waits. */
import type { RecordPlace } from "./record-input.ts";
import { isThere, type RecordStatus } from "./record-report.ts";

/** How much of the input has been read, where its size is known. */
export interface Extent {
  readonly bytesRead: number;
  readonly totalBytes: number | undefined;
}

/** Counts, since when. */
export class Tally {
  readonly #startedAtMs: number;
  readonly #counts: Record<RecordStatus, number> = {
    created: 0,
    unchanged: 0,
    replaced: 0,
    rejected: 0,
    failed: 0,
  };
  #firstFailed: RecordPlace | undefined;

  /** @param nowMs of any clock that only goes forward, in milliseconds */
  constructor(nowMs: number) {
    this.#startedAtMs = nowMs;
  }

  /** @param place of the record */
  add(status: RecordStatus, place: RecordPlace): void {
    this.#counts[status]++;
    // Of its place alone: a record may be large.
    if (status === "failed") this.#firstFailed ??= { path: place.path, line: place.line };
  }

  /** The first record that may fare better another time. */
  get firstFailed(): RecordPlace | undefined {
    return this.#firstFailed;
  }

  /** All records. */
  get total(): number {
    return Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
  }

  /** Records whose plant is not there. */
  get missing(): number {
    const missing = Object.entries(this.#counts).filter(
      ([status]) => !isThere(status as RecordStatus),
    );
    return missing.reduce((sum, [, count]) => sum + count, 0);
  }

  /** How far it is, in a line. */
  describeProgress({ bytesRead, totalBytes }: Extent, nowMs: number): string {
    const elapsedMs = nowMs - this.#startedAtMs;
    const parts = [`${format(this.total)} plants`];
    if (this.missing > 0) parts.push(`${format(this.missing)} not created`);
    parts.push(this.#describeRate(elapsedMs));
    if (totalBytes === undefined || totalBytes === 0) return parts.join(", ");
    // A file may grow while it is read.
    const share = Math.min(bytesRead / totalBytes, 1);
    parts.unshift(`${Math.floor(share * 100)} % read`);
    // What was read is not answered yet.
    if (share > 0 && share < 1) {
      parts.push(`${describeDuration((elapsedMs * (1 - share)) / share)} left`);
    }
    return parts.join(", ");
  }

  /** What came of it, in a line. */
  describeEnd(nowMs: number): string {
    const { created, unchanged, replaced, rejected, failed } = this.#counts;
    const elapsedMs = nowMs - this.#startedAtMs;
    const counts = `created ${format(created)}, unchanged ${format(unchanged)}, replaced ${format(replaced)}, refused ${format(rejected)}, failed ${format(failed)}`;
    return `${counts} in ${describeDuration(elapsedMs)} (${this.#describeRate(elapsedMs)})`;
  }

  #describeRate(elapsedMs: number): string {
    return `${format(Math.round((this.total * 1000) / Math.max(elapsedMs, 1)))}/s`;
  }
}

function format(count: number): string {
  return count.toLocaleString("en");
}

function describeDuration(timeMs: number): string {
  const seconds = timeMs / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
