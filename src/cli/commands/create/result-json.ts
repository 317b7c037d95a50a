/** The result of a plant as JSON. */
import { UnavailableError } from "../../../client/client-error.ts";
import { type ItemResult, toSentResult } from "../../../client/item-result.ts";
import type { FinalResponse } from "../../../client/send-plant.ts";
import { toPlantJson } from "../../../core/plant.ts";
import { toAdvice } from "../../command-failure.ts";

/** Returns the result of a single plant as one line. */
export function toResultLine(
  id: bigint | undefined,
  result: ItemResult | FinalResponse | UnavailableError,
): string {
  const isSent = result instanceof UnavailableError || "ok" in result;
  return `{${toResultMembers(id, isSent ? toSentResult(result) : result)}}`;
}

/**
 * Returns the members of an object: the id, the status, the cursor, and the Plant or the Error.
 *
 * @param id undefined if the record has no valid one
 * @param cursor undefined for none
 */
export function toResultMembers(
  id: bigint | undefined,
  result: ItemResult,
  cursor?: string,
): string {
  const idMember = id === undefined ? "" : `"id":${id},`;
  const cursorMember = cursor === undefined ? "" : `,"cursor":${JSON.stringify(cursor)}`;
  return `${idMember}"status":"${result.status}"${cursorMember}${toDetailJson(result)}`;
}

/** Returns the members after the status, each after a comma. */
function toDetailJson(result: ItemResult): string {
  if ("plant" in result) return `,"plant":${toPlantJson(result.plant)}`;
  if (!("error" in result)) return "";
  const { error: rejection, requestId } = result;
  const { error } = rejection;
  const message = rejection instanceof UnavailableError ? toAdvice(rejection) : rejection.message;
  const request = requestId === undefined ? "" : `,"requestId":${JSON.stringify(requestId)}`;
  return `,"error":${JSON.stringify({ error, message })}${request}`;
}
