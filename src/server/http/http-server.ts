/** The part of a server that has sockets: it listens and passes requests to the handler through two transports. */
import type { Server, ServerOptions } from "node:http";
import type { Duplex } from "node:stream";
import type { Server as TlsServer } from "node:tls";
import { operations } from "../../core/contract.ts";
import type { PlantServerOptions, TlsCertificate } from "../options.ts";
import { maxHeaderBytes, maxTargetBytes } from "../request.ts";
import type { Connection, TransportContext } from "./connection.ts";
import { Connections } from "./connections.ts";
import { startFastLane } from "./fast-lane.ts";
import { listen, type ListeningAddress } from "./listen.ts";
import { createServer, createTlsServer } from "./node-http.ts";
import { startNodeTransport } from "./node-transport.ts";
import { SocketStream } from "./socket-stream.ts";
import { createUsualRequestParser } from "./usual-request.ts";

/** Additional time before an idle connection is closed: a client may be about to send a request. */
const idleGraceMs = 1000;

/** Maximum time for a TLS handshake. */
const maxHandshakeMs = 10_000;

/** All cipher suites of TLS 1.3; of TLS 1.2 those with forward secrecy and authenticated encryption. */
const ciphers =
  "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20";

/** An HTTP server that listens. */
export interface HttpServer extends ListeningAddress {
  /** Accepts connections. Call it once, in the turn of the event loop in which the server was opened. */
  serve(context: TransportContext): Connections;
  /**
   * Uses another certificate for new connections.
   *
   * @throws an OpenSSL error for an invalid certificate; the current one stays in use
   */
  setCertificate(certificate: TlsCertificate): void;
}

/**
 * Opens an HTTP server.
 *
 * @throws an error of node:net if it cannot listen (`EADDRINUSE`, `EACCES`, `ENOTFOUND` …), or of OpenSSL for an invalid
 *   certificate
 */
export async function openHttpServer(options: PlantServerOptions): Promise<HttpServer> {
  const { basePath, idleTimeoutMs, maxBodyBytes, onError } = options;
  const stallTimeoutMs = 2 * options.requestTimeoutMs + (options.faults?.maxDelayMs ?? 0);
  const isEncrypted = options.certificate !== undefined;
  const server = createHttpServer(options, stallTimeoutMs);
  const passToNode = takeConnectionListener(
    server,
    isEncrypted ? "secureConnection" : "connection",
  );
  const address = await listen(server, options, isEncrypted);
  server.on("error", onError);
  startNodeTransport(server, maxBodyBytes);
  const fastLane = {
    parse:
      options.fastLane === false
        ? () => undefined
        : createUsualRequestParser(basePath + operations.create.path, maxBodyBytes),
    idleTimeoutMs: idleTimeoutMs + idleGraceMs,
    stallTimeoutMs,
    handOver(connection: Connection, bytes: Buffer): void {
      const stream = new SocketStream(connection, stallTimeoutMs);
      passToNode(stream);
      stream.receive(bytes);
    },
  };
  return {
    ...address,
    serve: (context) =>
      new Connections(server, context, {
        maxConnections: options.maxConnections,
        isEncrypted,
        onOpen: (connection) => startFastLane(connection, fastLane),
      }),
    setCertificate(certificate) {
      if (!isEncrypted) return;
      (server as unknown as TlsServer).setSecureContext(toTlsOptions(certificate));
    },
  };
}

/**
 * Creates a server that does not listen yet.
 *
 * @param stallTimeoutMs time without input or output after which a connection with a request in flight is closed
 * @throws an OpenSSL error for an invalid certificate, or a key that does not belong to it
 */
function createHttpServer(
  { requestTimeoutMs, idleTimeoutMs, certificate }: PlantServerOptions,
  stallTimeoutMs: number,
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
  const handshakeTimeout = Math.min(maxHandshakeMs, headersTimeout);
  const server = certificate
    ? createTlsServer({ ...settings, ...toTlsOptions(certificate), handshakeTimeout })
    : createServer(settings);
  // Closes a connection whose client does not read its responses.
  server.timeout = stallTimeoutMs;
  // The size of the headers is limited; a limit on their number would drop the others silently.
  server.maxHeadersCount = 0;
  return server;
}

/**
 * Takes the listener by which node:http receives connections off the server.
 *
 * @param event `connection`, or `secureConnection` for TLS
 * @returns a function that passes a connection to node:http
 * @throws Error if the server does not have exactly one such listener
 */
function takeConnectionListener(
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

/** Adds the ciphers, which `setSecureContext` needs as well as `createServer`. */
function toTlsOptions(certificate: TlsCertificate) {
  return { ...certificate, ciphers };
}
