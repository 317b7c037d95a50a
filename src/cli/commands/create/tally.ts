/** Counts the records of a run by status, and describes its progress and its summary. */
import type { ItemResult } from "../../../client/item-result.ts";

/** Status of a record. */
export type RecordStatus = ItemResult["status"];

/** Counters of a run. */
export class Tally {
  readonly #startedAtMs: number;
  /** In the order of the summary. `unfinished` records were read but have no result when the run stops. */
  readonly #counts: Record<RecordStatus | "unfinished", number> = {
    created: 0,
    unchanged: 0,
    replaced: 0,
    valid: 0,
    rejected: 0,
    failed: 0,
    skipped: 0,
    unfinished: 0,
  };
  /** Statuses that the summary omits if they have no records. */
  readonly #optional: readonly string[];

  /**
   * @param nowMs of a monotonic clock
   * @param isDryRun whether records are only checked
   */
  constructor(nowMs: number, isDryRun: boolean) {
    this.#startedAtMs = nowMs;
    const impossible = isDryRun ? ["created", "unchanged", "replaced"] : ["valid"];
    this.#optional = ["skipped", "unfinished", ...impossible];
  }

  add(status: RecordStatus | "unfinished"): void {
    this.#counts[status]++;
  }

  /** Number of records with a status. */
  get total(): number {
    const all = Object.values(this.#counts).reduce((sum, count) => sum + count);
    return all - this.#counts.unfinished;
  }

  /** Number of rejected and failed records. */
  get missing(): number {
    return this.#counts.rejected + this.#counts.failed;
  }

  /**
   * Describes the progress in one line.
   *
   * @param totalBytes undefined if the size of the input is not known
   */
  describeProgress(bytesRead: number, totalBytes: number | undefined, nowMs: number): string {
    const elapsedMs = nowMs - this.#startedAtMs;
    const { rejected, failed } = this.#counts;
    const parts = [`${format(this.total)} records`];
    if (rejected > 0) parts.push(`${format(rejected)} rejected`);
    if (failed > 0) parts.push(`${format(failed)} failed`);
    parts.push(this.#describeRate(elapsedMs));
    if (totalBytes === undefined || totalBytes === 0) return parts.join(", ");
    // A file may grow while it is read.
    const share = Math.min(bytesRead / totalBytes, 1);
    parts.unshift(`${Math.floor(share * 100)} %`);
    if (share > 0 && share < 1) {
      parts.push(`${describeDuration((elapsedMs * (1 - share)) / share)} left`);
    }
    return parts.join(", ");
  }

  /** Describes the result of the run in one line. */
  describeEnd(nowMs: number): string {
    const elapsedMs = nowMs - this.#startedAtMs;
    const counts = Object.entries(this.#counts)
      .filter(([status, count]) => count > 0 || !this.#optional.includes(status))
      .map(([status, count]) => `${status} ${format(count)}`);
    return `${counts.join(", ")} in ${describeDuration(elapsedMs)} (${this.#describeRate(elapsedMs)})`;
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
