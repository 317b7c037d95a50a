/** Explains an unencrypted request to a port that expects TLS. */
import { NotAPlantStoreError, UnavailableError } from "../client/client-error.ts";
import { toEndpoint } from "../core/base-url.ts";

/**
 * Finds out whether TLS is the reason for an error. Connects to the server once more, but only for an error that TLS may cause.
 *
 * @param error or its cause: the error of the client
 * @returns one sentence; undefined for another reason
 */
export async function explainTlsPort(error: unknown): Promise<string | undefined> {
  if (!(error instanceof Error)) return undefined;
  const isPossible =
    error instanceof NotAPlantStoreError ||
    (error instanceof UnavailableError && error.reason === "lost");
  if (!isPossible) return explainTlsPort(error.cause);
  if (!error.url.startsWith("http:")) return undefined;
  const { isTlsPort } = await import("../client/http/tls-port.ts");
  if (!(await isTlsPort(error.url))) return undefined;
  const { origin } = toEndpoint(error.url);
  return `${origin} is a TLS port: try ${origin.replace("http:", "https:")}`;
}
