/** Checks whether a plant store is ready, without creating a plant. */
import { joinPath, toEndpoint } from "../core/base-url.ts";
import type { ErrorBody } from "../core/plant.ts";
import { parseErrorBody } from "../core/read-body.ts";
import { gatewayStatuses } from "./create-messages.ts";
import { NotAPlantStoreError, UnavailableError } from "./client-error.ts";
import type { HttpRequest } from "./http/message.ts";
import { get } from "./http/post.ts";

/** Options for {@link checkReadiness}. */
export interface CheckReadinessOptions extends Pick<HttpRequest, "ca" | "timeoutMs"> {
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
  | { readonly state: "noPlantStore"; readonly reason: string };

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
    // 400: the port expects TLS.
    const error = status === 400 || status === 503 ? parseErrorBody(body) : undefined;
    if (error !== undefined && status === 503) return { state: "notReady", error };
    const state = gatewayStatuses.has(status) ? "unavailable" : "noPlantStore";
    return { state, reason: error?.message ?? `${url} responded with status ${status}` };
  } catch (error) {
    if (error instanceof UnavailableError) {
      return { state: "unavailable", reason: error.message, cause: error };
    }
    if (!(error instanceof NotAPlantStoreError)) throw error;
    return { state: "noPlantStore", reason: error.message };
  }
}

/** Strictly, because another server on the same port may respond to every path with 200. */
function parseReadyBody(body: Uint8Array): readonly string[] {
  return (
    /^\{"status":"ready"(?:,"store":"(memory)")?\}$/.exec(new TextDecoder().decode(body)) ?? []
  );
}
