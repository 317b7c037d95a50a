/** What is printed of each of many records: one line of JSON (README "Many plants"). */
import type { RecordOutcome, RecordResult } from "../../client/create-plants.ts";
import { UnavailableError } from "../../client/client-error.ts";
import { RequestError } from "../../core/errors.ts";
import { type ErrorBody, toPlantJson } from "../../core/plant.ts";
import { exitCodes } from "../exit-codes.ts";
import { toAdvice, toExitCode } from "../failure.ts";
import type { PlacedRecord } from "./record-input.ts";

/**
 * What became of a record:
 * - `created`, `unchanged`, `replaced`: the plant is there
 * - `rejected`: it is no plant, or the store refuses it; the same again would fare no better
 * - `failed`: the store could not, or did not answer; the same again may fare better
 */
export type RecordStatus = "created" | "unchanged" | "replaced" | "rejected" | "failed";

/** Whether the plant is there. */
export function isThere(status: RecordStatus): boolean {
  return status !== "rejected" && status !== "failed";
}

/** What became of a record. */
export function toStatus(result: RecordResult): RecordStatus {
  if (result instanceof RequestError) return "rejected";
  if (result instanceof UnavailableError) return "failed";
  if (result.ok) return result.result ?? "created";
  return toExitCode(result.error.error) === exitCodes.unavailable.code ? "failed" : "rejected";
}

/**
 * The line of a record, without a line break.
 *
 * @param withFile whether to name the input as well
 */
export function toReportJson(
  { work, result }: RecordOutcome<PlacedRecord>,
  withFile: boolean,
): string {
  const file = withFile ? `"file":${JSON.stringify(work.path)},` : "";
  return `{${file}"line":${work.line},"status":"${toStatus(result)}",${toDetailJson(result)}}`;
}

function toDetailJson(result: RecordResult): string {
  // Without a number: those are of the service, and it said nothing.
  if (result instanceof UnavailableError) {
    return `"error":${JSON.stringify({ message: toAdvice(result) })}`;
  }
  if (result instanceof RequestError) return toErrorJson(result);
  if (result.ok) return `"plant":${toPlantJson(result.plant)}`;
  const { error, requestId } = result;
  // Under which the server's log has it.
  const request = requestId === undefined ? "" : `,"requestId":${JSON.stringify(requestId)}`;
  return toErrorJson(error) + request;
}

function toErrorJson({ error, message }: ErrorBody): string {
  return `"error":${JSON.stringify({ error, message })}`;
}
