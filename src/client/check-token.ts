/** Finds out whether a plant store takes a token, without creating a plant. */
import { errorTable } from "../core/errors.ts";
import type { ErrorBody } from "../core/plant.ts";
import { parseAnswer, readHeader } from "./answer.ts";
import { NotAPlantStoreError } from "./client-error.ts";
import { toCreateRequest } from "./create-request.ts";
import type { HttpAnswer } from "./http/message.ts";
import { post } from "./http/post.ts";

/** Which token, and where. */
export interface CheckTokenOptions {
  /** The plant store, with its base path if it has one; without a slash at the end. */
  readonly baseUrl: string;
  /** Absent: asks without one, which a plant store refuses, and by that it is known. */
  readonly token?: string | undefined;
  /** From the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Ends it early; it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** What came of it; an error is the store's answer, which need not be about the token. */
export type TokenCheck = (
  | { readonly isAccepted: true }
  | { readonly isAccepted: false; readonly error: ErrorBody }
) & {
  /** The server's clock when it answered, to the second, in milliseconds since the epoch; absent where it does not tell. */
  readonly serverTimeMs?: number | undefined;
};

/** No plant: an id and a name are required (CONTRACT part 1). It is looked at only after the credential. */
const noPlant = "{}";

/**
 * Tries a token with a create that can't succeed: that the plant is what is refused means that the token is not.
 *
 * @throws UnavailableError when no answer came
 * @throws NotAPlantStoreError when something else answered
 */
export async function checkToken({
  baseUrl,
  token,
  timeoutMs,
  signal,
}: CheckTokenOptions): Promise<TokenCheck> {
  const request = toCreateRequest(baseUrl, token);
  const answer = await post({ ...request, body: noPlant, timeoutMs, signal });
  const parsed = parseAnswer(answer, request.url);
  if (parsed.ok) {
    throw new NotAPlantStoreError(request.url, "it took a plant without an id and a name");
  }
  const serverTimeMs = readServerTime(answer);
  if (parsed.error.error === errorTable.idMissing.error) return { isAccepted: true, serverTimeMs };
  return { isAccepted: false, error: parsed.error, serverTimeMs };
}

/** RFC 9110 section 6.6.1 */
function readServerTime({ headers }: HttpAnswer): number | undefined {
  const timeMs = Date.parse(readHeader(headers, "date") ?? "");
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
