/** The part of a server that has sockets: accepts connections, gives each a transport, and ends them when it stops. */
import type { Server, ServerOptions } from "node:http";
import { Server as TcpServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
// Not the global function, which tests may replace with a fake.
import { setImmediate, setTimeout as setTimer } from "node:timers";
import type { Server as TlsServer } from "node:tls";
import { operations } from "../../core/contract.ts";
import { RequestError } from "../../core/errors.ts";
import {
  type Admission,
  type IdleConnection,
  maxDraining,
  type ServerLimits,
} from "../admission.ts";
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
import { createUsualRequestParser, maxRestMs, startFastLane } from "./fast-lane.ts";
import { listen, type ListenAddress, type ListeningAddress } from "./listen.ts";
import { createServer, createTlsServer } from "./node-http.ts";
import { SocketStream, startNodeTransport } from "./node-transport.ts";

/** Options for {@link openHttpServer}. */
export interface HttpServerOptions extends ServerLimits, ListenAddress {
  /** Certificate for HTTPS; plain HTTP without it. */
  readonly certificate?: TlsCertificate | undefined;
  /** Prefix of `/plants`: empty, or with a leading and without a trailing slash. */
  readonly basePath: string;
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

/** Time after the stop in which requests arrive that clients on this machine have sent before. */
const localGraceMs = 5;

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
  // TLS starts after the first byte, so that a client that does not use TLS gets an Error.
  const startTls = isEncrypted ? takeConnectionListener(server, "connection") : undefined;
  const address = await listen(server, options, isEncrypted);
  server.on("error", onError);
  startNodeTransport(server, maxBodyBytes);
  const fastLane = {
    parse:
      options.fastLane === false
        ? () => undefined
        : createUsualRequestParser(basePath + operations.create.path, maxBodyBytes),
    idleTimeoutMs: idleTimeoutMs + idleGraceMs,
    restTimeoutMs: Math.min(maxRestMs, options.requestTimeoutMs / 3),
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
        startTls,
        firstByteTimeoutMs: toHandshakeTimeout(options.requestTimeoutMs),
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
  const handshakeTimeout = toHandshakeTimeout(requestTimeoutMs);
  const server = certificate
    ? createTlsServer({ ...settings, ...toTlsOptions(certificate), handshakeTimeout })
    : createServer(settings);
  // Closes a connection whose client does not read its responses.
  server.timeout = stallTimeoutMs;
  // The size of the headers is limited; a limit on their number would drop the others silently.
  server.maxHeadersCount = 0;
  return server;
}

/** Limits both the wait for the first byte and the handshake after it. */
function toHandshakeTimeout(requestTimeoutMs: number): number {
  return Math.min(maxHandshakeMs, Math.ceil(requestTimeoutMs / 3));
}

/**
 * Takes a listener of Node off the server: that of node:http, or that of node:tls, which starts the handshake.
 *
 * @param event `connection`, or `secureConnection` for TLS
 * @returns a function that passes a connection to it
 * @throws Error if the server does not have exactly one such listener
 */
function takeConnectionListener(
  server: Server,
  event: "connection" | "secureConnection",
): (stream: Duplex) => void {
  const listeners = server.listeners(event);
  const [listener] = listeners;
  if (listener === undefined || listeners.length > 1) {
    throw new Error(`expected one ${event} listener but found ${listeners.length}`);
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
  /** Starts TLS on a socket; undefined if clients use none. */
  readonly startTls: ((socket: Socket) => void) | undefined;
  /** Maximum time for the first byte on a TLS port. The handshake has another limit. */
  readonly firstByteTimeoutMs: number;
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
    const { startTls, firstByteTimeoutMs, maxConnections, onOpen } = options;
    this.#server = server;
    // One more, so that it can take the place of a handshake.
    this.#maxConnections = maxConnections + maxDraining + maxRejected + 1;
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
      context.flushQueue.shorten();
      const error = context.admission.addConnection();
      const uncount = (): void => context.admission.removeConnection();
      if (error === undefined) {
        socket.once("close", uncount);
      } else {
        uncount();
        this.#addRejected(socket);
      }
      if (startTls === undefined) {
        accept(socket, error);
        return;
      }
      const forget = this.#awaitHandshake(socket, error, context.admission);
      socket.setTimeout(firstByteTimeoutMs, () => socket.destroy());
      awaitFirstByte(socket, (isPlainHttp) => {
        socket.setTimeout(0);
        if (!isPlainHttp) {
          startTls(socket);
          return;
        }
        forget();
        if (error === undefined) {
          socket.off("close", uncount);
          uncount();
        }
        this.#addRejected(socket);
        this.#reject(socket, plainHttp, context);
      });
    });
    server.on("secureConnection", (socket: Socket) => {
      context.flushQueue.shorten();
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
   * @param isClientLocal true if clients run on this machine: what they have sent arrives at once, so that no connection is
   *   kept for longer
   */
  async stop(timeoutMs: number, isClientLocal = false): Promise<void> {
    // node:http overrides the method of net.Server to close idle connections as well, even if their response is not sent.
    const closed = new Promise<void>((resolve) => {
      TcpServer.prototype.close.call(this.#server, () => resolve());
    });
    for (const handshake of this.#handshakes.values()) handshake.close();
    this.#closeUnused((connection) => !connection.isExpectingRequest);
    const closeUnused = (): void => this.#closeUnused(() => true);
    // The turn after the timer reads what had arrived before, even if the event loop was blocked.
    if (isClientLocal) setTimer(() => setImmediate(closeUnused), localGraceMs);
    const timers = [
      setTimeout(closeUnused, Math.min(graceMs, timeoutMs)),
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

  /** Counts a socket that is not accepted. If there are too many, closes the oldest: it is silent, or has got its response. */
  #addRejected(socket: Socket): void {
    if (this.#rejected.size === maxRejected) {
      const [oldest] = this.#rejected;
      if (oldest !== undefined) this.#rejected.delete(oldest);
      oldest?.destroy();
    }
    this.#rejected.add(socket);
    socket.once("close", () => this.#rejected.delete(socket));
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

  /**
   * A handshake that is accepted makes room for others like an idle connection: its client may never finish it.
   *
   * @returns a function that ends the wait
   */
  #awaitHandshake(
    socket: Socket,
    error: RequestError | undefined,
    admission: Admission,
  ): () => void {
    const peer = toPeer(socket);
    if (peer === undefined) {
      if (error !== undefined) socket.destroy();
      return () => undefined;
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
    return forget;
  }
}

/** Error for a request without TLS on a TLS port. */
const plainHttp = new RequestError(
  "malformedHttp",
  "this port expects TLS: use https:// instead of http:// in the URL",
);

/**
 * Waits for the first byte of a socket, and leaves it there. A letter begins an HTTP request, and never a TLS record
 * (RFC 8446 section 5.1).
 */
function awaitFirstByte(socket: Socket, next: (isPlainHttp: boolean) => void): void {
  // TLS adds a listener of its own. The close event follows.
  socket.on("error", () => undefined);
  socket.once("readable", () => {
    const bytes = socket.read() as Buffer | null;
    if (bytes === null) {
      socket.destroy();
      return;
    }
    socket.unshift(bytes);
    next(/^[A-Za-z]/.test(bytes.toString("latin1", 0, 1)));
  });
}

/** The same for a socket and the TLS socket on it. @returns undefined for a Unix socket, whose clients have no name */
function toPeer({ remoteAddress, remotePort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}
