/** Reports records: a line of JSON for each, rejects to their file, warnings to the user. */
import type { Outcome } from "../../../client/create-plants.ts";
import type { ItemResult } from "../../../client/item-result.ts";
import type { CreateRun } from "./create-run.ts";
import type { PlacedRecord, RecordPlace } from "./record-input.ts";
import type { RejectsFile } from "./rejects-file.ts";
import { toResultMembers } from "./result-json.ts";
import { Tally } from "./tally.ts";
import { UnknownMembers } from "./unknown-members.ts";

type RecordOutcome = Outcome<PlacedRecord>;

/** Reports the records of one run. */
export class RecordReport {
  readonly tally: Tally;
  /** The first record that has to be sent again. */
  resumeAt: RecordPlace | undefined;
  /** Number of bytes of all inputs up to the end of the last reported record. */
  bytesRead = 0;
  /** Removes progress from the terminal for a moment. */
  clearProgress: () => void = () => {};
  readonly #run: CreateRun;
  readonly #withFile: boolean;
  readonly #rejects: RejectsFile | undefined;
  readonly #unknownMembers = new UnknownMembers();
  readonly #showsAll: boolean;

  /** @param withFile whether lines name the file of their record */
  constructor(run: CreateRun, withFile: boolean, rejects: RejectsFile | undefined) {
    const { isDryRun, isQuiet, json } = run.options;
    this.tally = new Tally(run.io.nowMs(), isDryRun === true);
    this.#run = run;
    this.#withFile = withFile;
    this.#rejects = rejects;
    this.#showsAll = !isQuiet && (json === true || !run.io.stdout.isTTY);
  }

  /**
   * Reports outcomes in the order of the records.
   *
   * @throws OutputError; CommandError if the rejects cannot be written
   */
  async add(outcomes: readonly RecordOutcome[]): Promise<void> {
    const rejects = this.#findRejects(outcomes);
    const [first] = rejects;
    try {
      // Before the lines: a line says that the record needs no further attention.
      if (first !== undefined) await this.#rejects?.add(rejects.map(({ item }) => item));
    } catch (error) {
      await this.#report(outcomes.slice(0, first && outcomes.indexOf(first)));
      this.#setResumeAt(first);
      throw error;
    }
    await this.#report(outcomes);
  }

  /** The run that resumes this one meets all records from {@link resumeAt} on again. */
  #findRejects(outcomes: readonly RecordOutcome[]): readonly RecordOutcome[] {
    if (this.#rejects === undefined || this.resumeAt !== undefined) return [];
    const end = outcomes.findIndex(({ result }) => result === undefined);
    return outcomes.slice(0, end === -1 ? undefined : end).filter(isMissing);
  }

  /** Prints the summary if a record is missing or a user watches. */
  async end(): Promise<void> {
    const { io, terminal } = this.#run;
    const isWatched = io.stderr.isTTY === true && !io.env["CI"];
    if (isWatched || this.tally.missing > 0) {
      await terminal.note(this.tally.describeEnd(io.nowMs()));
    }
  }

  async #report(outcomes: readonly RecordOutcome[]): Promise<void> {
    const { options, terminal } = this.#run;
    await this.#print(outcomes);
    for (const { item, result } of outcomes) {
      this.bytesRead = item.bytesRead;
      // A dry run has nothing to finish: it sends nothing.
      if (result !== undefined || !options.isDryRun) this.tally.add(result?.status ?? "unfinished");
      if (result === undefined || options.isQuiet || options.isStrict) continue;
      for (const warning of this.#unknownMembers.add(item)) {
        this.clearProgress();
        await terminal.warning(warning);
      }
    }
  }

  async #print(outcomes: readonly RecordOutcome[]): Promise<void> {
    const { io, terminal } = this.#run;
    const resumeAtBefore = this.resumeAt;
    const lines: string[] = [];
    for (const outcome of outcomes) {
      const { item, result } = outcome;
      if (this.#needsResend(outcome)) this.#setResumeAt(outcome);
      if (result === undefined) continue;
      if (!this.#showsAll && !isMissing(outcome)) continue;
      // The run can be resumed after a record if no record up to there has to be sent again.
      const withCursor = this.resumeAt === undefined;
      lines.push(toRecordJson(item, result, { withFile: this.#withFile, withCursor }));
    }
    if (lines.length === 0) return;
    if (io.stdout.isTTY) this.clearProgress();
    try {
      await terminal.printLines(lines);
    } catch (error) {
      this.resumeAt = resumeAtBefore;
      this.#setResumeAt(outcomes[0]);
      throw error;
    }
  }

  #needsResend({ result }: RecordOutcome): boolean {
    if (result === undefined) return true;
    // The file of rejects has the record already.
    if (this.#rejects !== undefined) return false;
    const { isFailFast } = this.#run.options;
    return result.status === "failed" || (result.status === "rejected" && isFailFast === true);
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
  return result === undefined || "error" in result;
}

/** Returns the line of a record, without a line break. */
function toRecordJson(
  { number, path, line, content: { id, cursor } }: PlacedRecord,
  result: ItemResult,
  { withFile, withCursor }: { readonly withFile: boolean; readonly withCursor: boolean },
): string {
  const file = withFile ? `"file":${JSON.stringify(path)},` : "";
  const members = toResultMembers(id, result, withCursor ? cursor : undefined);
  return `{"record":${number},${file}"line":${line},${members}}`;
}
