/** Finds out what listens at a URL: a ready plant store, and whether it accepts the token. */
import { attempt } from "../core/attempt.ts";
import { joinPath, toEndpoint } from "../core/base-url.ts";
import { tokenCheckHeader } from "../core/contract.ts";
import { errorTable, truncateMessage } from "../core/errors.ts";
import type { ErrorBody } from "../core/plant.ts";
import { parseErrorBody } from "../core/read-plant.ts";
import { parseResponse, toCreateRequest } from "./create-plant.ts";
import { type ClientRequest, type Post, post as postOnce } from "./http-request.ts";
import { type ErrorResponse, NotAPlantStoreError, UnavailableError } from "./results.ts";

export interface CheckReadinessOptions extends Pick<ClientRequest, "ca" | "timeoutMs"> {
  /** The plant store, including its base path, without a trailing slash. */
  readonly baseUrl: string;
  /** Aborts the request, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Sends the request; by default with node:http. */
  readonly post?: Post | undefined;
}

/** State of what listens at a URL. */
export type Readiness =
  /** `isVolatile`: its plants exist only in its memory. */
  | { readonly state: "ready"; readonly isVolatile: boolean }
  | { readonly state: "notReady"; readonly error: ErrorBody }
  /** No plant store said that it is one: a proxy may hide the path. `cause`: nothing responded. */
  | { readonly state: "unknown"; readonly cause?: UnavailableError };

/**
 * Requests `/readyz`, which is at the root of a server whatever its base path is.
 *
 * @throws the signal's reason, once it is aborted
 */
export async function checkReadiness(options: CheckReadinessOptions): Promise<Readiness> {
  const { baseUrl, ca, timeoutMs, signal, post = postOnce } = options;
  const url = joinPath(toEndpoint(baseUrl).origin, "/readyz");
  try {
    const headers = { accept: "application/json" };
    const request = { method: "GET", url, ca, headers, body: "", timeoutMs, signal } as const;
    const { status, body } = await post(request);
    const ready = status === 200 ? parseReadyBody(body) : undefined;
    if (ready !== undefined) return { state: "ready", isVolatile: ready.store === "memory" };
    const error = status === 503 ? parseErrorBody(body) : undefined;
    if (error === undefined) return { state: "unknown" };
    return { state: "notReady", error: { ...error, message: truncateMessage(error.message) } };
  } catch (error) {
    if (error instanceof UnavailableError) return { state: "unknown", cause: error };
    if (error instanceof NotAPlantStoreError) return { state: "unknown" };
    throw error;
  }
}

/** @returns undefined for another body: a server of another kind may respond to every path with 200 */
function parseReadyBody(body: Uint8Array): { readonly store: unknown } | undefined {
  const value = attempt(
    () => JSON.parse(new TextDecoder().decode(body)) as { status: unknown; store: unknown } | null,
  );
  return value?.status === "ready" ? value : undefined;
}

export interface CheckTokenOptions extends CheckReadinessOptions {
  /** Undefined sends no token. A plant store rejects that request, which identifies it as one. */
  readonly token?: string | undefined;
}

/** Result of a check. The error of the store need not concern the token; its message names the right path for a wrong one. */
export type TokenCheck =
  | { readonly isAccepted: true; readonly mayCreate: boolean }
  | { readonly isAccepted: false; readonly response: ErrorResponse };

/**
 * Checks a token with a create that cannot succeed: if the store rejects the plant, or says that the token may not create any,
 * it accepted the token.
 *
 * @throws UnavailableError without a response
 * @throws NotAPlantStoreError if another server responded
 */
export async function checkToken(options: CheckTokenOptions): Promise<TokenCheck> {
  const { baseUrl, token, ca, timeoutMs, signal, post = postOnce } = options;
  const request = toCreateRequest(baseUrl, token, ca);
  // Keeps the rejection of the plant out of the server's log.
  const headers = { ...request.headers, [tokenCheckHeader]: "token" };
  // Not a plant, because the required members are missing.
  const httpResponse = await post({ ...request, headers, body: "{}", timeoutMs, signal });
  const response = parseResponse(httpResponse, request);
  if (response.ok) {
    throw new NotAPlantStoreError(request.url, "it accepted a plant without an id and a name");
  }
  const { error } = response.error;
  const mayCreate = error === errorTable.idMissing.error;
  const isAccepted = mayCreate || error === errorTable.forbidden.error;
  return isAccepted ? { isAccepted, mayCreate } : { isAccepted, response };
}
