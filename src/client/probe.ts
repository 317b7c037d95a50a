/** Finds out what listens at a URL: a ready plant store, and whether it accepts the token. */
import { isLocalUrl, joinPath, toEndpoint } from "../core/base-url.ts";
import { tokenCheckHeader } from "../core/contract.ts";
import { errorTable } from "../core/errors.ts";
import type { ErrorBody } from "../core/plant.ts";
import { parseErrorBody } from "../core/read-plant.ts";
import { gatewayStatuses, parseResponse, readHeader, toCreateRequest } from "./create-plant.ts";
import { get, type ClientRequest, type ClientResponse, post } from "./http-request.ts";
import { categorizeError, NotAPlantStoreError, UnavailableError } from "./results.ts";

/** Options for {@link checkReadiness}. */
export interface CheckReadinessOptions extends Pick<ClientRequest, "ca" | "timeoutMs"> {
  /** The plant store, including its base path, without a trailing slash. */
  readonly baseUrl: string;
  /** Aborts the request, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** State of a plant store: `noPlantStore` if another server responded, `unavailable` without its response (`cause`). */
export type Readiness =
  /** `isVolatile`: its plants exist only in its memory. */
  | { readonly state: "ready"; readonly isVolatile: boolean }
  | { readonly state: "notReady"; readonly error: ErrorBody }
  | { readonly state: "unavailable"; readonly reason: string; readonly cause?: UnavailableError }
  /** `isOtherUrl`: a plant store is there, at another URL; `expectsTls`: with `https`. */
  | {
      readonly state: "noPlantStore";
      readonly reason: string;
      readonly isOtherUrl?: boolean;
      readonly expectsTls?: boolean;
    };

/**
 * Requests `/readyz`, and then creates at the URL itself, without a token: a plant store asks for one.
 *
 * @throws the signal's reason, once it is aborted
 */
export async function checkCreates(options: CheckReadinessOptions): Promise<Readiness> {
  const readiness = await checkReadiness(options);
  if (readiness.state !== "ready") return readiness;
  try {
    const check = await checkToken(options);
    if (check.isAccepted || check.error.error === errorTable.noCredential.error) return readiness;
    const { error } = check;
    if (categorizeError(error.error) === "unavailable") return { state: "notReady", error };
    return {
      state: "noPlantStore",
      reason: error.message,
      isOtherUrl: error.error === errorTable.noSuchPath.error,
    };
  } catch (error) {
    return explainUnready(error);
  }
}

/**
 * Requests `/readyz`, which is at the root of a server whatever its base path is.
 *
 * @throws the signal's reason, once it is aborted
 */
export async function checkReadiness({
  baseUrl,
  ca,
  timeoutMs,
  signal,
}: CheckReadinessOptions): Promise<Readiness> {
  const url = joinPath(toEndpoint(baseUrl).origin, "/readyz");
  try {
    const { status, body } = await get({ url, ca, timeoutMs, signal });
    const [match, store] = status === 200 ? parseReadyBody(body) : [];
    if (match !== undefined) return { state: "ready", isVolatile: store === "memory" };
    const error = status === 400 || status === 503 ? parseErrorBody(body) : undefined;
    if (error !== undefined) {
      return status === 503
        ? { state: "notReady", error }
        : { state: "noPlantStore", reason: error.message, expectsTls: true };
    }
    const state = gatewayStatuses.has(status) ? "unavailable" : "noPlantStore";
    return { state, reason: `${url} responded with status ${status}` };
  } catch (error) {
    return explainUnready(error);
  }
}

function explainUnready(error: unknown): Readiness {
  if (error instanceof UnavailableError) {
    return { state: "unavailable", reason: error.message, cause: error };
  }
  if (!(error instanceof NotAPlantStoreError)) throw error;
  return { state: "noPlantStore", reason: error.message };
}

/** Strictly, because another server on the same port may respond to every path with 200. */
function parseReadyBody(body: Uint8Array): readonly string[] {
  return (
    /^\{"status":"ready"(?:,"store":"(memory)")?\}$/.exec(new TextDecoder().decode(body)) ?? []
  );
}

/** Options for {@link checkToken}. */
export interface CheckTokenOptions extends CheckReadinessOptions {
  /** Undefined sends no token. A plant store rejects that request, which identifies it as one. */
  readonly token?: string | undefined;
}

/** Result of a check. The error of the store need not concern the token; its message names the right path for a wrong one. */
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
function readServerTime({ headers }: ClientResponse): number | undefined {
  const timeMs = Date.parse(readHeader(headers, "date") ?? "");
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/**
 * - `none`: no server listens
 * - `durable`, `volatile`: a plant store is ready; its plants exist in its store, or only in its memory
 * - `unknown`: another machine, or no plant store that is ready
 */
export type LocalServer = "none" | "durable" | "volatile" | "unknown";

/** Limit for the request, in milliseconds. */
const timeoutMs = 1000;

/** Finds out what listens at a URL of this machine. @throws the signal's reason, once it is aborted */
export async function findLocalServer(baseUrl: string, signal: AbortSignal): Promise<LocalServer> {
  if (!isLocalUrl(baseUrl)) return "unknown";
  const readiness = await checkReadiness({ baseUrl, timeoutMs, signal });
  if (readiness.state === "ready") return readiness.isVolatile ? "volatile" : "durable";
  const isRefused = readiness.state === "unavailable" && readiness.cause?.reason === "refused";
  return isRefused && readiness.cause.detail !== "EACCES" ? "none" : "unknown";
}
