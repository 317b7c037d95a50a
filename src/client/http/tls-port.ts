/** Recognises a port that expects TLS. */
import { connect } from "node:tls";

/** Limit for the handshake, in milliseconds. */
const timeoutMs = 1000;

/**
 * Checks whether a server starts a TLS handshake at the host and port of an `http:` URL. Sends no request.
 *
 * @param signal ends the check: false
 */
export function isTlsPort(url: string, signal?: AbortSignal): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return new Promise((resolve) => {
    // Nothing is sent, so that the certificate does not matter.
    const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false });
    const end = (isTls: boolean): void => {
      signal?.removeEventListener("abort", stop);
      socket.destroy();
      resolve(isTls);
    };
    const stop = (): void => end(false);
    signal?.addEventListener("abort", stop);
    socket.setTimeout(timeoutMs, stop);
    socket.once("secureConnect", () => end(true));
    // An alert is a message of TLS.
    socket.once("error", (error: Error) => end(/alert/.test(error.message)));
    if (signal?.aborted) stop();
  });
}
