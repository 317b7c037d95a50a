/** The HTTP server of node:http or node:https, with a listener of our own in front of it. */
import { createServer, type Server, type ServerOptions } from "node:http";
import {
  createServer as createTlsServer,
  type ServerOptions as TlsServerOptions,
} from "node:https";
import type { Duplex } from "node:stream";
import type { ServerLimits } from "../limits.ts";
import { maxHeaderBytes, maxTargetBytes } from "../request.ts";

/** Certificate of the server, in PEM. */
export interface TlsCertificate {
  /** The certificate, followed by intermediate certificates. */
  readonly cert: string;
  readonly key: string;
}

/** Additional time before an idle connection is closed: a client may be about to send a request. */
export const idleGraceMs = 1000;

/** All cipher suites of TLS 1.3; of TLS 1.2 those with forward secrecy and authenticated encryption. */
const ciphers =
  "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20";

/** Adds the ciphers, which `setSecureContext` needs as well as `createServer`. */
export function toTlsOptions(certificate: TlsCertificate) {
  return { ...certificate, ciphers };
}

/**
 * Creates a server that does not listen yet.
 *
 * @param stallTimeoutMs time without input or output after which a connection with a request in flight is closed
 * @throws an OpenSSL error for an invalid certificate, or a key that does not belong to it
 */
export function createHttpServer(
  { requestTimeoutMs, idleTimeoutMs }: ServerLimits,
  stallTimeoutMs: number,
  certificate: TlsCertificate | undefined,
): Server {
  const headersTimeout = Math.ceil(requestTimeoutMs / 3);
  const settings: ServerOptions = {
    // Far above the limits of this server, so that mostly checkHead says which one was exceeded.
    maxHeaderSize: 4 * (maxTargetBytes + maxHeaderBytes),
    requestTimeout: requestTimeoutMs,
    headersTimeout,
    keepAliveTimeout: idleTimeoutMs + idleGraceMs,
    connectionsCheckingInterval: Math.min(1000, headersTimeout),
    // node:http would respond without a body.
    requireHostHeader: false,
  };
  const server = certificate
    ? toHttpServer({ ...settings, ...toTlsOptions(certificate), handshakeTimeout: headersTimeout })
    : createServer(settings);
  // Closes a connection whose client does not read its responses.
  server.timeout = stallTimeoutMs;
  // The size of the headers is limited; a limit on their number would drop the others silently.
  server.maxHeadersCount = 0;
  return server;
}

/** node:https's server has all members of node:http's, although the types are not related. */
function toHttpServer(options: TlsServerOptions): Server {
  const server: unknown = createTlsServer(options);
  return server as Server;
}

/**
 * Takes the listener by which node:http receives connections off the server.
 *
 * @param event `connection`, or `secureConnection` for TLS
 * @returns a function that passes a connection to node:http
 * @throws Error if the server does not have exactly one such listener
 */
export function takeConnectionListener(
  server: Server,
  event: "connection" | "secureConnection",
): (stream: Duplex) => void {
  const listeners = server.listeners(event);
  const [listener] = listeners;
  if (listener === undefined || listeners.length > 1) {
    throw new Error(`expected one ${event} listener of node:http but found ${listeners.length}`);
  }
  server.removeListener(event, listener as () => void);
  return (stream) => void Reflect.apply(listener, server, [stream]);
}
