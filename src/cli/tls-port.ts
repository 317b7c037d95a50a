/** Explains an unencrypted request to a port that expects TLS. */
import { NotAPlantStoreError, UnavailableError } from "../client/client-error.ts";
import { toEndpoint } from "../core/base-url.ts";

/**
 * Finds out whether TLS is the reason for an error. Connects to the server once more, but only for an error that TLS may cause.
 *
 * @param error or its cause: the error of the client
 * @param signal ends the check, without a sentence
 * @returns one sentence; undefined for another reason
 */
export async function explainTlsPort(
  error: unknown,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (!(error instanceof Error)) return undefined;
  const isPossible =
    error instanceof NotAPlantStoreError ||
    (error instanceof UnavailableError && error.reason === "lost");
  if (!isPossible) return explainTlsPort(error.cause, signal);
  if (!error.url.startsWith("http:")) return undefined;
  const { isTlsPort } = await import("../client/http/tls-port.ts");
  if (!(await isTlsPort(error.url, signal))) return undefined;
  const { origin } = toEndpoint(error.url);
  return `${origin} is a TLS port: try ${origin.replace("http:", "https:")}`;
}
