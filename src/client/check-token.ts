/** Checks a token without creating a plant. */
import { errorTable } from "../core/errors.ts";
import { tokenCheckHeader } from "../core/contract.ts";
import type { ErrorBody } from "../core/plant.ts";
import type { CheckReadinessOptions } from "./check-readiness.ts";
import { NotAPlantStoreError } from "./client-error.ts";
import { parseResponse, readHeader, toCreateRequest } from "./create-messages.ts";
import type { HttpResponse } from "./http/message.ts";
import { post } from "./http/post.ts";

/** Options for {@link checkToken}. */
export interface CheckTokenOptions extends CheckReadinessOptions {
  /** Undefined sends no token. A plant store rejects that request, which identifies it as one. */
  readonly token?: string | undefined;
}

/** Result of a check. The error of the store need not concern the token. */
export type TokenCheck = (
  | { readonly isAccepted: true }
  | { readonly isAccepted: false; readonly error: ErrorBody }
) & {
  /** The server's clock, to the second, in milliseconds since the epoch; undefined without a Date header. */
  readonly serverTimeMs?: number | undefined;
};

/**
 * Checks a token with a create that cannot succeed: if the store rejects the plant, it accepted the token.
 *
 * @throws UnavailableError without a response
 * @throws NotAPlantStoreError if another server responded
 */
export async function checkToken({
  baseUrl,
  token,
  ca,
  timeoutMs,
  signal,
}: CheckTokenOptions): Promise<TokenCheck> {
  const request = toCreateRequest(baseUrl, token, { ca });
  // Keeps the rejection of the plant out of the server's log.
  const headers = { ...request.headers, [tokenCheckHeader]: "token" };
  // Not a plant, because the required members are missing.
  const httpResponse = await post({ ...request, headers, body: "{}", timeoutMs, signal });
  const response = parseResponse(httpResponse, request);
  if (response.ok) {
    throw new NotAPlantStoreError(request.url, "it accepted a plant without an id and a name");
  }
  const { error } = response;
  const serverTimeMs = readServerTime(httpResponse);
  if (error.error === errorTable.idMissing.error) return { isAccepted: true, serverTimeMs };
  return { isAccepted: false, error, serverTimeMs };
}

/** RFC 9110 section 6.6.1 */
function readServerTime({ headers }: HttpResponse): number | undefined {
  const timeMs = Date.parse(readHeader(headers, "date") ?? "");
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
