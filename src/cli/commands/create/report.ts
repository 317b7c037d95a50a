/** Reports records: a line of JSON for each, rejects to their file, warnings to the user. */
import { UnavailableError } from "../../../client/client-error.ts";
import type { ItemResult } from "../../../client/create-plants.ts";
import { toItemStatus } from "../../../client/item-status.ts";
import { type Plant, toPlantJson } from "../../../core/plant.ts";
import { toAdvice } from "../../failure.ts";
import type { PlacedRecord, RecordPlace } from "./record-input.ts";
import type { RejectsFile } from "./rejects-file.ts";
import type { CreateRun } from "./create-run.ts";
import { type RecordStatus, Tally } from "./tally.ts";
import { UnknownMembers } from "./unknown-members.ts";

/** Result of a record that was only checked. */
export interface ValidResult {
  readonly ok: true;
  readonly plant: Plant;
  readonly result: "valid";
}

/** A record with its result; undefined if it was not sent or its response is unknown. */
export interface RecordOutcome {
  readonly item: PlacedRecord;
  readonly result: ItemResult | ValidResult | undefined;
}

/** Options for {@link RecordReport}. */
export interface ReportOptions {
  /** True to name the file of each record. */
  readonly withFile: boolean;
  readonly rejects: RejectsFile | undefined;
  /** Removes progress from the terminal for a moment. */
  readonly clearProgress: () => void;
}

/** Returns the status of a result. */
export function toStatus(result: ItemResult | ValidResult): RecordStatus {
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
  readonly #run: CreateRun;
  readonly #options: ReportOptions;
  readonly #unknownMembers = new UnknownMembers();
  readonly #showsAll: boolean;

  constructor(run: CreateRun, options: ReportOptions) {
    const { io } = run;
    const { isDryRun, isQuiet, isJson } = run.options.many;
    this.tally = new Tally(io.nowMs(), isDryRun);
    this.#run = run;
    this.#options = options;
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
        await this.#options.rejects?.add(rejects);
      } catch (error) {
        await this.#report(
          outcomes.slice(
            0,
            outcomes.findIndex(({ item }) => item === first),
          ),
        );
        this.#setResumeAt(first);
        throw error;
      }
    }
    await this.#report(outcomes);
  }

  /** The run that resumes this one meets all records from {@link resumeAt} on again. */
  #findRejects(outcomes: readonly RecordOutcome[]): readonly PlacedRecord[] {
    if (this.#options.rejects === undefined || this.resumeAt !== undefined) return [];
    const end = outcomes.findIndex(({ result }) => result === undefined);
    const reported = end === -1 ? outcomes : outcomes.slice(0, end);
    return reported
      .filter(({ result }) => result !== undefined && isMissing(toStatus(result)))
      .map(({ item }) => item);
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
    const known = outcomes.filter(
      (outcome): outcome is KnownOutcome => outcome.result !== undefined,
    );
    try {
      await this.#print(known, this.#findResumable(outcomes));
    } catch (error) {
      this.#setResumeAt(outcomes[0]?.item);
      throw error;
    }
    for (const { item, result } of outcomes) this.#count(item, result);
    await this.#warn(known);
  }

  async #print(
    outcomes: readonly KnownOutcome[],
    resumable: ReadonlySet<RecordOutcome>,
  ): Promise<void> {
    const { io, terminal, options } = this.#run;
    const shown = this.#showsAll
      ? outcomes
      : outcomes.filter(({ result }) => isMissing(toStatus(result)));
    if (shown.length === 0 || options.many.isSilent) return;
    if (io.stdout.isTTY) this.#options.clearProgress();
    const withFile = this.#options.withFile;
    const lines = shown.map((outcome) =>
      toRecordJson(outcome, { withFile, withCursor: resumable.has(outcome) }),
    );
    await terminal.printJson(lines);
  }

  #count(item: PlacedRecord, result: RecordOutcome["result"]): void {
    this.bytesRead = item.bytesRead;
    if (result === undefined) {
      this.tally.addUnfinished();
      this.#setResumeAt(item);
      return;
    }
    this.tally.add(toStatus(result));
    if (this.#needsResend(result)) this.#setResumeAt(item);
  }

  #needsResend(result: RecordOutcome["result"]): boolean {
    if (result === undefined) return true;
    // The file of rejects has the record already.
    if (this.#options.rejects !== undefined) return false;
    const status = toStatus(result);
    return status === "failed" || (status === "rejected" && this.#run.options.many.isFailFast);
  }

  /** Finds the outcomes after which the run can be resumed: no record up to there has to be sent again. */
  #findResumable(outcomes: readonly RecordOutcome[]): ReadonlySet<RecordOutcome> {
    if (this.resumeAt !== undefined) return new Set();
    const end = outcomes.findIndex(({ result }) => this.#needsResend(result));
    return new Set(end === -1 ? outcomes : outcomes.slice(0, end));
  }

  async #warn(outcomes: readonly KnownOutcome[]): Promise<void> {
    const { isQuiet, isStrict } = this.#run.options.many;
    if (isQuiet || isStrict) return;
    for (const { item } of outcomes) {
      if (item.unknownMembers.length === 0) continue;
      for (const warning of this.#unknownMembers.add(item)) {
        this.#options.clearProgress();
        await this.#run.terminal.warning(warning);
      }
    }
  }

  #setResumeAt(place: RecordPlace | undefined): void {
    // Not the record, which may be large.
    if (place !== undefined) this.resumeAt ??= { path: place.path, line: place.line };
  }
}

interface KnownOutcome {
  readonly item: PlacedRecord;
  readonly result: ItemResult | ValidResult;
}

/** Checks whether the plant of a record is not in the store. */
function isMissing(status: RecordStatus): boolean {
  return status === "rejected" || status === "failed";
}

/** Returns the line of a record, without a line break. */
function toRecordJson(
  { item, result }: KnownOutcome,
  { withFile, withCursor }: { readonly withFile: boolean; readonly withCursor: boolean },
): string {
  const { number, path, line, id, cursor } = item;
  const file = withFile ? `"file":${JSON.stringify(path)},` : "";
  const idMember = id === undefined ? "" : `"id":${id},`;
  const hasCursor = withCursor && cursor !== undefined;
  const cursorMember = hasCursor ? `,"cursor":${JSON.stringify(cursor)}` : "";
  return `{"record":${number},${file}"line":${line},${idMember}"status":"${toStatus(result)}"${cursorMember}${toDetailJson(result)}}`;
}

/** Returns the members after the status, each after a comma. */
function toDetailJson(result: ItemResult | ValidResult): string {
  if ("isSkipped" in result) return "";
  // Without a number: the service did not respond.
  if (result instanceof UnavailableError) return toErrorJson({ message: toAdvice(result) });
  if (!("ok" in result)) return toErrorJson(result);
  if (result.ok) return `,"plant":${toPlantJson(result.plant)}`;
  const { error, requestId } = result;
  const request = requestId === undefined ? "" : `,"requestId":${JSON.stringify(requestId)}`;
  return toErrorJson(error) + request;
}

function toErrorJson({
  error,
  message,
}: {
  readonly error?: number;
  readonly message: string;
}): string {
  return `,"error":${JSON.stringify({ error, message })}`;
}
