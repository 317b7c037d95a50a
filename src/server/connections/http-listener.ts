/** node:http as this server needs it: its limits, and nothing answered over our heads. */
import { createServer, type Server, type ServerOptions } from "node:http";
import {
  createServer as createTlsServer,
  type ServerOptions as TlsServerOptions,
} from "node:https";
import { maxHeaderBytes, maxTargetBytes } from "../exchange/headers.ts";
import { PlantRequest } from "../exchange/plant-request.ts";
import type { ServerLimits } from "../limits.ts";

/** What a server shows for its name, in PEM. */
export interface TlsCertificate {
  /** The certificate, and those between it and an authority's. */
  readonly cert: string;
  readonly key: string;
}

/**
 * A server that does not listen yet, and on which nobody listens.
 *
 * @throws the error of OpenSSL when a certificate is none, or its key another one's
 */
export function createHttpServer(
  { requestTimeoutMs, idleTimeoutMs }: ServerLimits,
  certificate: TlsCertificate | undefined,
): Server<typeof PlantRequest> {
  const headersTimeout = Math.ceil(requestTimeoutMs / 3);
  const settings: ServerOptions<typeof PlantRequest> = {
    IncomingMessage: PlantRequest,
    // Far above what is allowed, so that mostly readHead tells which of the limits was passed.
    maxHeaderSize: 4 * (maxTargetBytes + maxHeaderBytes),
    requestTimeout: requestTimeoutMs,
    headersTimeout,
    keepAliveTimeout: idleTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, headersTimeout),
    // node:http would answer without a body; ours has one.
    requireHostHeader: false,
  };
  const server: Server<typeof PlantRequest> = certificate
    ? toHttpServer({ ...settings, ...certificate, handshakeTimeout: headersTimeout })
    : createServer(settings);
  // A client that never reads its answers would keep its connection for ever.
  server.timeout = 2 * requestTimeoutMs;
  // Header bytes are bounded; a bound on their count would drop the rest silently.
  server.maxHeadersCount = 0;
  // A client may close its side after the request and still wait for the answer.
  return Object.assign(server, { httpAllowHalfOpen: true });
}

/** A server of node:https has all that one of node:http has, though their types are not related. */
function toHttpServer(options: TlsServerOptions<typeof PlantRequest>): Server<typeof PlantRequest> {
  const server: unknown = createTlsServer(options);
  return server as Server<typeof PlantRequest>;
}
