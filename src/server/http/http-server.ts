/** The part of a server that has sockets: it listens and passes requests to the handler through two transports. */
import { Server as TlsServer } from "node:tls";
import type { PlantServerOptions } from "../options.ts";
import type { Connection, ConnectionContext } from "./connection.ts";
import { Connections } from "./connections.ts";
import { startFastLane } from "./fast-lane.ts";
import { listen, type ListeningAddress } from "./listen.ts";
import {
  createHttpServer,
  idleGraceMs,
  takeConnectionListener,
  type TlsCertificate,
  toTlsOptions,
} from "./listener.ts";
import { startNodeTransport } from "./node-transport.ts";
import { SocketStream } from "./socket-stream.ts";
import { createUsualRequestParser } from "./usual-request.ts";

/** An HTTP server that listens. */
export interface HttpServer extends ListeningAddress {
  /** Accepts connections. Call it once, in the turn of the event loop in which the server was opened. */
  serve(context: ConnectionContext): Connections;
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
  const server = createHttpServer(options, stallTimeoutMs, options.certificate);
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
        : createUsualRequestParser(`${basePath}/plants`, maxBodyBytes),
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
      if (server instanceof TlsServer) server.setSecureContext(toTlsOptions(certificate));
    },
  };
}
