/** Checks a server on this machine before a command explains why it lacks something. */
import { checkReadiness } from "../client/check-readiness.ts";
import { isLocalUrl } from "../core/base-url.ts";

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
  return isRefused && readiness.cause.detail !== "permission denied" ? "none" : "unknown";
}
