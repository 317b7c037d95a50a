/** Reports records: a line of JSON for each, rejects to their file, warnings to the user. */
import { UnavailableError } from "../../../client/client-error.ts";
import type { ItemResult, Rejection } from "../../../client/create-plants.ts";
import { toItemStatus } from "../../../client/item-status.ts";
import { type Plant, toPlantJson } from "../../../core/plant.ts";
import { toAdvice } from "../../failure.ts";
import type { PlacedRecord, RecordPlace } from "./record-input.ts";
import type { RejectsFile } from "./rejects-file.ts";
import type { ManyRun } from "./create-run.ts";
import { type RecordStatus, Tally } from "./tally.ts";
import { UnknownMembers } from "./unknown-members.ts";

/** Result of a record that was only checked. */
interface ValidResult {
  readonly ok: true;
  readonly plant: Plant;
  readonly result: "valid";
}

/** Result of a record. */
type RecordResult = ItemResult | ValidResult;

/** A record with its result; undefined if it was not sent or its response is unknown. */
export interface RecordOutcome {
  readonly item: PlacedRecord;
  readonly result: RecordResult | undefined;
}

/** Returns the status of a result. */
export function toStatus(result: RecordResult): RecordStatus {
  if ("isSkipped" in result) return "skipped";
  return "result" in result && result.result === "valid" ? "valid" : toItemStatus(result);
}

/** Reports the records of one run. */
export class RecordReport {
  readonly tally: Tally;
  /** The first record that has to be sent again. */
  resumeAt: RecordPlace | undefined;
  /** Number of bytes of all inputs up to the end of the last reported record. */
  bytesRead = 0;
  /** Removes progress from the terminal for a moment. */
  clearProgress: () => void = () => {};
  readonly #run: ManyRun;
  readonly #rejects: RejectsFile | undefined;
  readonly #unknownMembers = new UnknownMembers();
  readonly #showsAll: boolean;

  constructor(run: ManyRun, rejects: RejectsFile | undefined) {
    const { io } = run;
    const { isDryRun, isQuiet, isJson } = run.options.many;
    this.tally = new Tally(io.nowMs(), isDryRun);
    this.#run = run;
    this.#rejects = rejects;
    this.#showsAll = !isQuiet && (isJson || !io.stdout.isTTY);
  }

  /**
   * Reports outcomes in the order of the records.
   *
   * @throws OutputError; CommandError if the rejects cannot be written
   */
  async add(outcomes: readonly RecordOutcome[]): Promise<void> {
    const rejects = this.#findRejects(outcomes);
    const [first] = rejects;
    if (first !== undefined) {
      try {
        // Before the lines: a line says that the record needs no further attention.
        await this.#rejects?.add(rejects.map(({ item }) => item));
      } catch (error) {
        await this.#report(outcomes.slice(0, outcomes.indexOf(first)));
        this.#setResumeAt(first);
        throw error;
      }
    }
    await this.#report(outcomes);
  }

  /** The run that resumes this one meets all records from {@link resumeAt} on again. */
  #findRejects(outcomes: readonly RecordOutcome[]): readonly RecordOutcome[] {
    if (this.#rejects === undefined || this.resumeAt !== undefined) return [];
    const end = outcomes.findIndex(({ result }) => result === undefined);
    return outcomes.slice(0, end === -1 ? undefined : end).filter(isMissing);
  }

  /** Reports the counts of unknown members, and the summary if a record is missing or a user watches. */
  async end(): Promise<void> {
    const { io, terminal, options } = this.#run;
    if (!options.many.isQuiet) {
      for (const line of this.#unknownMembers.describeCounts()) await terminal.warning(line);
    }
    const isWatched = io.stderr.isTTY === true && !io.env["CI"];
    if (isWatched || this.tally.missing > 0) {
      await terminal.note(this.tally.describeEnd(io.nowMs()));
    }
  }

  async #report(outcomes: readonly RecordOutcome[]): Promise<void> {
    const { isSilent, isQuiet, isStrict } = this.#run.options.many;
    if (!isSilent) await this.#print(outcomes);
    for (const outcome of outcomes) {
      const { item, result } = outcome;
      this.bytesRead = item.bytesRead;
      this.tally.add(result === undefined ? "unfinished" : toStatus(result));
      if (this.#needsResend(outcome)) this.#setResumeAt(outcome);
    }
    if (isQuiet || isStrict) return;
    for (const { item, result } of outcomes) {
      if (result === undefined || item.unknownMembers.length === 0) continue;
      for (const warning of this.#unknownMembers.add(item)) {
        this.clearProgress();
        await this.#run.terminal.warning(warning);
      }
    }
  }

  async #print(outcomes: readonly RecordOutcome[]): Promise<void> {
    const { io, terminal, paths } = this.#run;
    const lines: string[] = [];
    // The run can be resumed after a record if no record up to there has to be sent again.
    let withCursor = this.resumeAt === undefined;
    for (const outcome of outcomes) {
      const { item, result } = outcome;
      withCursor &&= !this.#needsResend(outcome);
      if (result === undefined || !(this.#showsAll || isMissing(outcome))) continue;
      lines.push(toRecordJson(item, result, { withFile: paths.length > 1, withCursor }));
    }
    if (lines.length === 0) return;
    if (io.stdout.isTTY) this.clearProgress();
    try {
      await terminal.printJson(lines);
    } catch (error) {
      this.#setResumeAt(outcomes[0]);
      throw error;
    }
  }

  #needsResend({ result }: RecordOutcome): boolean {
    if (result === undefined) return true;
    // The file of rejects has the record already.
    if (this.#rejects !== undefined) return false;
    const status = toStatus(result);
    return status === "failed" || (status === "rejected" && this.#run.options.many.isFailFast);
  }

  #setResumeAt(outcome: RecordOutcome | undefined): void {
    // Not the record, which may be large.
    if (outcome !== undefined) {
      const { path, line } = outcome.item;
      this.resumeAt ??= { path, line };
    }
  }
}

/** Checks whether the plant of a record is not in the store. */
function isMissing({ result }: RecordOutcome): boolean {
  if (result === undefined) return true;
  const status = toStatus(result);
  return status === "rejected" || status === "failed";
}

/** Returns the line of a record, without a line break. */
function toRecordJson(
  { number, path, line, id, cursor }: PlacedRecord,
  result: RecordResult,
  { withFile, withCursor }: { readonly withFile: boolean; readonly withCursor: boolean },
): string {
  const file = withFile ? `"file":${JSON.stringify(path)},` : "";
  const idMember = id === undefined ? "" : `"id":${id},`;
  const hasCursor = withCursor && cursor !== undefined;
  const cursorMember = hasCursor ? `,"cursor":${JSON.stringify(cursor)}` : "";
  return `{"record":${number},${file}"line":${line},${idMember}"status":"${toStatus(result)}"${cursorMember}${toDetailJson(result)}}`;
}

/** Returns the members after the status, each after a comma. */
function toDetailJson(result: RecordResult): string {
  if ("isSkipped" in result) return "";
  // Without a number: the service did not respond.
  if (result instanceof UnavailableError) return toErrorJson({ message: toAdvice(result) });
  if (!("ok" in result)) return toErrorJson(result);
  if (result.ok) return `,"plant":${toPlantJson(result.plant)}`;
  const { error, requestId } = result;
  const request = requestId === undefined ? "" : `,"requestId":${JSON.stringify(requestId)}`;
  return toErrorJson(error) + request;
}

function toErrorJson({ error, message }: Rejection): string {
  return `,"error":${JSON.stringify({ error, message })}`;
}
