/** The plant store as an HTTP server: opens it, starts it, closes it. */
import { Server as TlsServer } from "node:tls";
import { Admission, type ServerLoad } from "./admission.ts";
import { createHandler } from "./handler.ts";
import type { Connection, ConnectionContext } from "./http/connection.ts";
import { Connections } from "./http/connections.ts";
import { startFastLane } from "./http/fast-lane.ts";
import { listen } from "./http/listen.ts";
import {
  createHttpServer,
  idleGraceMs,
  takeConnectionListener,
  type TlsCertificate,
  toTlsOptions,
} from "./http/listener.ts";
import { startNodeTransport } from "./http/node-transport.ts";
import { SocketStream } from "./http/socket-stream.ts";
import { createUsualRequestParser } from "./http/usual-request.ts";
import type { PlantServerOptions } from "./options.ts";

/** A server that listens. */
export interface PlantServer {
  /** URL in front of `/plants`: scheme, host, port and base path; `unix:` and a path for a Unix socket. */
  readonly url: string;
  /** Starts to serve. Creates that arrive earlier get 50301. */
  start(): void;
  /**
   * Uses another certificate for new connections.
   *
   * @throws an OpenSSL error for an invalid certificate; the current one stays in use
   */
  setCertificate(certificate: TlsCertificate): void;
  /** Returns the current load. */
  readLoad(): ServerLoad;
  /**
   * Stops accepting connections and requests, and waits for the responses in flight. After `timeoutMs`, requests in
   * flight get 50300. May be called twice. The store stays open.
   */
  close(timeoutMs: number): Promise<void>;
}

/**
 * Opens a server. It listens, but does not serve until {@link PlantServer.start} is called.
 *
 * @throws an error of node:net if it cannot listen (`EADDRINUSE`, `EACCES`, `ENOTFOUND` …), or of OpenSSL for an invalid
 *   certificate
 */
export async function openPlantServer(options: PlantServerOptions): Promise<PlantServer> {
  let phase: "starting" | "running" | "stopping" = "starting";
  let stoppedAtMs = Number.POSITIVE_INFINITY;
  let closed: Promise<void> | undefined;
  const { basePath, idleTimeoutMs, maxBodyBytes, onError, onResponse, socketPath } = options;
  const stallTimeoutMs = 2 * options.requestTimeoutMs;
  const isEncrypted = options.certificate !== undefined;
  const admission = new Admission(options);
  const server = createHttpServer(options, options.certificate);
  const passToNode = takeConnectionListener(
    server,
    isEncrypted ? "secureConnection" : "connection",
  );

  const origin = await listen(server, options, isEncrypted);
  server.on("error", onError);
  const url = socketPath === undefined ? origin + basePath : origin;
  const context: ConnectionContext = {
    handler: createHandler({
      ...options,
      // HTTP over a Unix socket needs some host name as well.
      url: socketPath === undefined ? url : `http://localhost${basePath}`,
      admission,
      phase: () => phase,
    }),
    admission,
    keepAliveSeconds: Math.floor(idleTimeoutMs / 1000),
    stoppedAtMs: () => stoppedAtMs,
    onError,
    onResponse,
  };
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
  const connections = new Connections(server, context, {
    maxConnections: options.maxConnections,
    isEncrypted,
    onOpen: (connection) => startFastLane(connection, fastLane),
  });

  return {
    url,
    start() {
      if (phase === "starting") phase = "running";
    },
    setCertificate(certificate) {
      if (server instanceof TlsServer) server.setSecureContext(toTlsOptions(certificate));
    },
    readLoad: () => admission.load,
    close(timeoutMs) {
      if (closed !== undefined) return closed;
      phase = "stopping";
      stoppedAtMs = performance.now();
      closed = connections.stop(timeoutMs);
      return closed;
    },
  };
}
