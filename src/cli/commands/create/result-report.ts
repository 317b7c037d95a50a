/** Result lines, warnings, counts and the summary of a bulk create. */
import type { ItemOutcome, ItemResult } from "../../../client/results.ts";
import { escapeUnprintable, toInputName } from "../../../core/messages.ts";
import { toPlantJson } from "../../../core/plant.ts";
import type { CreateRun } from "./create-run.ts";
import {
  type NumberedRecord,
  type RecordInput,
  type RecordPosition,
  UnknownMembers,
} from "./record-input.ts";
import type { RejectsFile } from "./rejects-file.ts";

/** A record without a result has to be sent again. */
type RecordOutcome = ItemOutcome<NumberedRecord>;

export class RecordReport {
  readonly tally: Tally;
  /** The first record that has to be sent again. */
  resumeAt: RecordPosition | undefined;
  /** Number of bytes of all inputs up to the end of the last reported record. */
  bytesRead = 0;
  /** Line of the first rejected record. */
  rejectedAt: number | undefined;
  /** The outcome of a record that may be the only plant. */
  readonly held: RecordOutcome[] = [];
  readonly #run: CreateRun;
  readonly #input: RecordInput;
  /** Lines name the file of their record. */
  readonly #withFile: boolean;
  readonly #rejects: RejectsFile | undefined;
  readonly #unknownMembers = new UnknownMembers();
  /** Sentences about rejected and failed records, instead of JSON. */
  readonly #hasSentences: boolean;

  constructor(run: CreateRun, input: RecordInput, rejects: RejectsFile | undefined) {
    const { isDryRun, json, paths } = run.options;
    this.tally = new Tally(run.io.nowMs(), isDryRun === true);
    this.#run = run;
    this.#input = input;
    this.#withFile = paths.length > 1;
    this.#rejects = rejects;
    this.#hasSentences = json !== true && run.io.stdout.isTTY === true;
  }

  count(outcomes: readonly RecordOutcome[]): void {
    for (const [item, result] of outcomes) {
      this.bytesRead = item.bytesRead;
      // A dry run has nothing to finish: it sends nothing.
      if (result !== undefined || !this.#run.options.isDryRun) {
        this.tally.add(result?.status ?? "unfinished");
      }
    }
  }

  /**
   * Prints outcomes in the order of the records; that of a first record only once a second one comes.
   *
   * @throws OutputError
   */
  async print(outcomes: readonly RecordOutcome[]): Promise<void> {
    const rejects = this.#findRejects(outcomes);
    const [first] = rejects;
    try {
      // Before the lines: a line says that the record needs no further attention.
      if (first !== undefined) await this.#rejects?.add(rejects.map(([item]) => item));
    } catch (error) {
      this.held.push(...outcomes.slice(0, first && outcomes.indexOf(first)));
      if (this.#input.isMany) await this.printHeld();
      this.#setResumeAt(first);
      throw error;
    }
    this.held.push(...outcomes);
    if (this.#input.isMany) await this.printHeld();
  }

  /** Prints the outcomes that are held back. @throws OutputError */
  async printHeld(): Promise<void> {
    const outcomes = this.held.splice(0);
    await this.#print(outcomes);
    for (const [item, result] of outcomes) if (result !== undefined) await this.warn(item);
  }

  async warn(record: NumberedRecord): Promise<void> {
    const { options, terminal } = this.#run;
    if (options.isQuiet || options.isStrict) return;
    for (const warning of this.#unknownMembers.add(record)) await terminal.warning(warning);
  }

  /** The run that resumes this one sends all records from {@link resumeAt} on again. */
  #findRejects(outcomes: readonly RecordOutcome[]): readonly RecordOutcome[] {
    if (this.#rejects === undefined || this.resumeAt !== undefined) return [];
    const end = outcomes.findIndex(([, result]) => result === undefined);
    return outcomes.slice(0, end === -1 ? undefined : end).filter(isNotStored);
  }

  /** Prints the summary if a record is missing, the run ends early, a user watches, or nothing was sent. */
  async end(isEarly: boolean): Promise<void> {
    const { io, options, terminal } = this.#run;
    const isWatched = io.stderr.isTTY === true && !io.env["CI"];
    const dryRun = options.isDryRun ? "; nothing was sent" : "";
    const isNews = isEarly || (dryRun !== "" && options.isQuiet !== true);
    if (isWatched || isNews || this.tally.missing > 0) {
      const summary = this.tally.describeEnd(io.nowMs(), isEarly) + dryRun;
      if (isEarly || this.tally.missing > 0) await terminal.note(summary);
      else await terminal.success(summary);
    }
  }

  async #print(outcomes: readonly RecordOutcome[]): Promise<void> {
    const resumeAtBefore = this.resumeAt;
    const lines: string[] = [];
    for (const outcome of outcomes) {
      const [item, result] = outcome;
      if (this.#needsResend(outcome)) this.#setResumeAt(outcome);
      if (result?.status === "rejected") this.rejectedAt ??= item.line;
      if (result === undefined) continue;
      if (this.#hasSentences) {
        if (!result.ok) lines.push(toRecordSentence(item, result, this.#withFile));
      } else if (!this.#run.options.isQuiet || isNotStored(outcome)) {
        lines.push(toRecordJson(item, result, this.#withFile));
      }
    }
    if (lines.length === 0) return;
    try {
      await this.#run.terminal.printLines(lines);
    } catch (error) {
      this.resumeAt = resumeAtBefore;
      this.#setResumeAt(outcomes[0]);
      throw error;
    }
  }

  #needsResend([, result]: RecordOutcome): boolean {
    if (result === undefined) return true;
    // The file of rejects has the record already.
    if (this.#rejects !== undefined) return false;
    const { isFailFast } = this.#run.options;
    return result.status === "failed" || (result.status === "rejected" && isFailFast === true);
  }

  #setResumeAt(outcome: RecordOutcome | undefined): void {
    // Not the record, which may be large.
    if (outcome !== undefined) {
      const [{ path, line }] = outcome;
      this.resumeAt ??= { path, line };
    }
  }
}

function isNotStored([, result]: RecordOutcome): boolean {
  return result?.ok !== true;
}

function toRecordJson(
  { number, path, line, content: { id } }: NumberedRecord,
  result: ItemResult,
  withFile: boolean,
): string {
  const file = withFile ? `"file":${JSON.stringify(path)},` : "";
  return `{"record":${number},${file}"line":${line},${toResultMembers(id, result)}}`;
}

/** The result of a rejected or failed record as a sentence, without control characters. */
function toRecordSentence(
  { path, line, content: { id } }: NumberedRecord,
  { status, error: rejection, requestId }: Extract<ItemResult, { readonly ok: false }>,
  withFile: boolean,
): string {
  const position = `${withFile ? `${toInputName(path)} ` : ""}line ${line}  `;
  const plant = id === undefined ? "" : `id ${id}  `;
  const number = rejection.error === undefined ? "" : ` ${rejection.error}`;
  const request = requestId === undefined ? "" : ` (request ${requestId})`;
  return escapeUnprintable(`${position}${plant}${status}${number}: ${rejection.message}${request}`);
}

/** The result of a single plant as a line of JSON. */
export function toResultLine(id: bigint | undefined, result: ItemResult): string {
  return `{${toResultMembers(id, result)}}`;
}

/** @param id undefined if the record has no valid one */
function toResultMembers(id: bigint | undefined, result: ItemResult): string {
  const idMember = id === undefined ? "" : `"id":${id},`;
  const start = `${idMember}"status":"${result.status}"`;
  if (result.ok) return `${start},"plant":${toPlantJson(result.plant)}`;
  const { error: rejection, requestId } = result;
  const { error, message } = rejection;
  const request = requestId === undefined ? "" : `,"requestId":${JSON.stringify(requestId)}`;
  return `${start},"error":${JSON.stringify({ error, message })}${request}`;
}

export type RecordStatus = ItemResult["status"];

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
    unfinished: 0,
  };
  /** Statuses that no record of this run has. */
  readonly #impossible: readonly string[];

  /** @param nowMs of a monotonic clock */
  constructor(nowMs: number, isDryRun: boolean) {
    this.#startedAtMs = nowMs;
    this.#impossible = isDryRun ? ["created", "unchanged", "replaced", "unfinished"] : ["valid"];
  }

  add(status: RecordStatus | "unfinished"): void {
    this.#counts[status]++;
  }

  /** Number of records with a result. */
  get total(): number {
    const all = Object.values(this.#counts).reduce((sum, count) => sum + count);
    return all - this.#counts.unfinished;
  }

  get missing(): number {
    return this.#counts.rejected + this.#counts.failed;
  }

  /** Describes the progress in one line. @param totalBytes undefined if the size of the input is not known */
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

  /** Describes the result of the run in one line. @param isEarly true to name unfinished records even if there are none */
  describeEnd(nowMs: number, isEarly: boolean): string {
    const elapsedMs = nowMs - this.#startedAtMs;
    const counts = Object.entries(this.#counts)
      .filter(([status, count]) => count > 0 || this.#isShown(status, isEarly))
      .map(([status, count]) => `${status} ${format(count)}`);
    const summary = `${counts.join(", ")} in ${describeDuration(elapsedMs)}`;
    const hasRate = elapsedMs >= minRateMs || this.total >= minRateRecords;
    return hasRate ? `${summary} (${this.#describeRate(elapsedMs)})` : summary;
  }

  #isShown(status: string, isEarly: boolean): boolean {
    return (status !== "unfinished" || isEarly) && !this.#impossible.includes(status);
  }

  #describeRate(elapsedMs: number): string {
    return `${format(Math.round((this.total * 1000) / Math.max(elapsedMs, 1)))}/s`;
  }
}

/** The rate of a shorter run with fewer records means nothing. */
const minRateMs = 1000;
const minRateRecords = 1000;

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
