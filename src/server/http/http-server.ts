/** The part of a server that has sockets: accepts connections, gives each a transport, and ends them when it stops. */
import type { Server, ServerOptions } from "node:http";
import { Server as TcpServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Server as TlsServer } from "node:tls";
import { operations } from "../../core/contract.ts";
import type { RequestError } from "../../core/errors.ts";
import type { Admission, IdleConnection, ServerLimits } from "../admission.ts";
import type { ServerFaults } from "../faults.ts";
import { maxHeaderBytes, maxTargetBytes } from "../request.ts";
import { serverStopping, toConnectionHeaders } from "../response.ts";
import {
  ClientConnection,
  endGently,
  graceMs,
  toText,
  type TransportContext,
} from "./connection.ts";
import { createUsualRequestParser, startFastLane } from "./fast-lane.ts";
import { listen, type ListenAddress, type ListeningAddress } from "./listen.ts";
import { createServer, createTlsServer } from "./node-http.ts";
import { SocketStream, startNodeTransport } from "./node-transport.ts";

/** Options for {@link openHttpServer}. */
export interface HttpServerOptions extends ServerLimits, ListenAddress {
  /** Certificate for HTTPS; plain HTTP without it. */
  readonly certificate?: TlsCertificate | undefined;
  /** Prefix of `/plants`: empty, or with a leading and without a trailing slash. */
  readonly basePath: string;
  readonly maxBodyBytes: number;
  readonly faults?: ServerFaults | undefined;
  /** Receives the errors of the listening socket. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** `false` sends every request through node:http. For tests and benchmarks. */
  readonly fastLane?: boolean;
}

/** Certificate of the server, in PEM. */
export interface TlsCertificate {
  /** The certificate, followed by intermediate certificates. */
  readonly cert: string;
  readonly key: string;
}

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
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
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
    handOver(connection: ClientConnection, bytes: Buffer): void {
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
  { requestTimeoutMs, idleTimeoutMs, certificate }: HttpServerOptions,
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

/** Connections above the maximum that can receive an error response; the others are closed. */
const maxRejected = 100;

/** Maximum number of connections before the server has started. Many systems allow a process 1,024 descriptors. */
const maxStartingConnections = 512;

/** Time after the stop for the rest of an incomplete request head to arrive. */
const lastHeadMs = 500;
/** Time after the stop for clients to read their last response. */
const lastReadMs = 1500;
/** Time for the responses to requests that are cut off to be sent. */
const lastResponsesMs = 250;

/** Options of {@link Connections}. */
interface ConnectionsOptions {
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** True if clients use TLS. */
  readonly isEncrypted: boolean;
  /** Called with each accepted connection, after its TLS handshake. */
  readonly onOpen: (connection: ClientConnection) => void;
}

/** A socket in a TLS handshake. */
interface Handshake extends IdleConnection {
  /** Set if the client gets this error after the handshake. */
  readonly error: RequestError | undefined;
}

/** The connections of one server. */
class Connections {
  readonly #server: Server;
  readonly #maxConnections: number;
  readonly #open = new Set<ClientConnection>();
  /** Handshakes, oldest first, by {@link toPeer}. */
  readonly #handshakes = new Map<string, Handshake>();
  /** Sockets that were not accepted and get an error response. */
  readonly #rejected = new Set<Socket>();

  constructor(server: Server, context: TransportContext, options: ConnectionsOptions) {
    const { isEncrypted, maxConnections, onOpen } = options;
    this.#server = server;
    // One more, so that it can take the place of a handshake.
    this.#maxConnections = maxConnections + maxRejected + 1;
    server.maxConnections = Math.min(this.#maxConnections, maxStartingConnections);
    const accept = (socket: Socket, error: RequestError | undefined): void => {
      if (error !== undefined) {
        this.#reject(socket, error, context);
        return;
      }
      const connection = new ClientConnection(socket, context);
      this.#open.add(connection);
      socket.once("close", () => this.#open.delete(connection));
      onOpen(connection);
    };
    server.on("connection", (socket: Socket) => {
      const error = context.admission.addConnection();
      if (error === undefined) {
        socket.once("close", () => context.admission.removeConnection());
      } else {
        context.admission.removeConnection();
        if (!this.#addRejected(socket)) return;
      }
      if (isEncrypted) this.#awaitHandshake(socket, error, context.admission);
      else accept(socket, error);
    });
    server.on("secureConnection", (socket: Socket) => {
      const peer = toPeer(socket) ?? "";
      const handshake = this.#handshakes.get(peer);
      this.#handshakes.delete(peer);
      if (handshake !== undefined) context.admission.markBusy(handshake);
      // Like a plain socket of node:http: a client may close its side and still read the response.
      socket.allowHalfOpen = true;
      accept(socket, handshake?.error);
    });
  }

  /** Accepts as many connections as the options allow. Before, the server needs descriptors to open its store. */
  acceptAll(): void {
    this.#server.maxConnections = this.#maxConnections;
  }

  /**
   * Stops listening and closes all connections after the responses in flight.
   *
   * @param timeoutMs requests in flight for longer get 50300
   */
  async stop(timeoutMs: number): Promise<void> {
    // node:http overrides the method of net.Server to close idle connections as well, even if their response is not sent.
    const closed = new Promise<void>((resolve) => {
      TcpServer.prototype.close.call(this.#server, () => resolve());
    });
    for (const handshake of this.#handshakes.values()) handshake.close();
    this.#closeUnused((connection) => !connection.isExpectingRequest);
    const timers = [
      setTimeout(() => this.#closeUnused(() => true), Math.min(graceMs, timeoutMs)),
      setTimeout(() => this.#rejectHeads(), Math.min(lastHeadMs, timeoutMs)),
      setTimeout(() => this.#closeEnded(), lastReadMs),
      setTimeout(() => this.#cutOff(), timeoutMs),
      setTimeout(() => this.#closeAll(), timeoutMs + lastResponsesMs),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
    // Ends the timer with which node:http checks for timeouts.
    this.#server.close(() => undefined);
  }

  /** Counts a socket that is not accepted. Returns false, and closes it, if too many others are being rejected. */
  #addRejected(socket: Socket): boolean {
    if (this.#rejected.size === maxRejected) {
      // Accepted handshakes would be idle, and have made room.
      const [oldest] = this.#handshakes.values();
      if (oldest === undefined) {
        socket.destroy();
        return false;
      }
      oldest.close();
    }
    this.#rejected.add(socket);
    socket.once("close", () => this.#rejected.delete(socket));
    return true;
  }

  /** Sends an error on a socket that is not accepted, and closes it. */
  #reject(socket: Socket, error: RequestError, context: TransportContext): void {
    const headers = toConnectionHeaders(undefined);
    const message = context.handler.complete(undefined, error, performance.now(), false, headers);
    socket.on("error", () => undefined);
    socket.write(toText(message));
    endGently(socket);
  }

  #closeUnused(isDue: (connection: ClientConnection) => boolean): void {
    for (const connection of this.#open) {
      if (connection.isEnding || connection.isReceiving || !isDue(connection)) continue;
      if (connection.isSettled) connection.close();
      else if (connection.isIdle) connection.end();
    }
  }

  #rejectHeads(): void {
    for (const connection of this.#open) {
      if (!connection.isEnding && connection.isIdle) connection.reject(serverStopping);
    }
  }

  #closeEnded(): void {
    for (const connection of this.#open) if (connection.isSettled) connection.close();
    for (const socket of this.#rejected) socket.destroy();
  }

  #cutOff(): void {
    for (const connection of this.#open) connection.cutOff(serverStopping);
  }

  #closeAll(): void {
    for (const connection of this.#open) connection.close();
    for (const socket of this.#rejected) socket.destroy();
  }

  /** A handshake that is accepted makes room for others like an idle connection: its client may never finish it. */
  #awaitHandshake(socket: Socket, error: RequestError | undefined, admission: Admission): void {
    const peer = toPeer(socket);
    if (peer === undefined) {
      if (error !== undefined) socket.destroy();
      return;
    }
    const forget = (): void => {
      admission.markBusy(handshake);
      this.#handshakes.delete(peer);
      this.#rejected.delete(socket);
    };
    const handshake: Handshake = {
      error,
      close() {
        forget();
        socket.destroy();
      },
    };
    this.#handshakes.set(peer, handshake);
    if (error === undefined) admission.markIdle(handshake);
    socket.once("close", forget);
  }
}

/** The same for a socket and the TLS socket on it. @returns undefined for a Unix socket, whose clients have no name */
function toPeer({ remoteAddress, remotePort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}
