/** The part of a server that has sockets: accepts connections, limits their number, and ends them when it stops. */
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
// Not the global function, which tests may replace with a fake.
import { setImmediate, setTimeout as setTimer } from "node:timers";
import type { Server as TlsServer } from "node:tls";
import { operations } from "../../core/contract.ts";
import { RequestError } from "../../core/errors.ts";
import { type IdleConnection, maxDraining, type ServerLimits } from "../admission.ts";
import type { ServerFaults } from "../faults.ts";
import { serverStopping } from "../response.ts";
import { Connection, type ConnectionContext } from "./connection.ts";
import { createSimpleCreateParser, Lane } from "./lane.ts";
import { listen, type ListenAddress, type ListeningAddress } from "./listen.ts";
import { createNodeHttp } from "./node-exchange.ts";
import { lingeringClose, createConnectionHeaders, toResponseText } from "./response-bytes.ts";
import { Scheduler } from "./scheduler.ts";

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

/** Maximum time for a TLS handshake. */
const maxHandshakeMs = 10_000;

/** All cipher suites of TLS 1.3; of TLS 1.2 those with forward secrecy and authenticated encryption. */
const ciphers =
  "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20";

/** The parts of a server that its connections use. */
export type ServerContext = Pick<ConnectionContext, "handler" | "admission" | "stoppedAtMs">;

/** An HTTP server that listens. */
export interface HttpServer extends ListeningAddress {
  /** Accepts connections. Call it once, in the turn of the event loop in which the server was opened. */
  serve(context: ServerContext): ServerConnections;
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
  const { basePath, certificate, fastLane, maxBodyBytes, onError, requestTimeoutMs } = options;
  const handshakeTimeout = Math.min(maxHandshakeMs, Math.ceil(requestTimeoutMs / 3));
  const tlsServer =
    certificate &&
    // Only here, because loading it takes 10 ms.
    (await import("node:tls")).createServer({ ...toTlsOptions(certificate), handshakeTimeout });
  // A client may close its side and still read the response, but not in a handshake.
  const server = createTcpServer({ allowHalfOpen: tlsServer === undefined, noDelay: true });
  const address = await listen(server, options, tlsServer !== undefined);
  server.on("error", onError);
  const passToNode = createNodeHttp(maxBodyBytes);
  const parse = createSimpleCreateParser(basePath + operations.create.path, maxBodyBytes);
  return {
    ...address,
    serve: (context) =>
      new ServerConnections(server, {
        context: {
          ...context,
          onError,
          scheduler: new Scheduler(),
          requestTimeoutMs,
          idleTimeoutMs: options.idleTimeoutMs,
          connectionHeaders: createConnectionHeaders(options.idleTimeoutMs),
          readTimeoutMs: 2 * requestTimeoutMs + (options.faults?.maxDelayMs ?? 0),
        },
        maxConnections: options.maxConnections,
        tlsServer,
        handshakeTimeoutMs: handshakeTimeout,
        start(connection) {
          if (fastLane === false) passToNode(connection, Buffer.alloc(0));
          else void new Lane(connection, parse, passToNode);
        },
      }),
    setCertificate(renewed) {
      tlsServer?.setSecureContext(toTlsOptions(renewed));
    },
  };
}

/** Adds the ciphers, which `setSecureContext` needs as well as `createServer`. */
function toTlsOptions(certificate: TlsCertificate) {
  return { ...certificate, ciphers };
}

/** Connections above the maximum that can receive an error response; the others are closed. */
const maxRejected = 100;

/** Maximum number of connections before the server has started. Many systems allow a process 1,024 descriptors. */
const maxStartingConnections = 512;

/** Time after the stop in which each connection may carry one more request: its client may be sending it already. */
const graceMs = 250;
/** The same for clients on this machine: what they have sent arrives at once. */
const localGraceMs = 5;
/** Time after the stop for the rest of an incomplete request head to arrive. */
const lastHeadMs = 500;
/** Time after the stop for clients to read their last response. */
const lastReadMs = 1500;
/** Time to send the responses to requests that the stop has cut off. */
const lastResponsesMs = 250;

/** Options of {@link ServerConnections}. */
interface ConnectionsOptions {
  readonly context: ConnectionContext;
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** Does the handshakes; undefined if clients use no TLS. It does not listen. */
  readonly tlsServer: TlsServer | undefined;
  /** Maximum time for the first byte on a TLS port, and for the handshake after it. */
  readonly handshakeTimeoutMs: number;
  /** Called with each accepted connection, after its TLS handshake. */
  readonly start: (connection: Connection) => void;
}

/** The connections of one server. */
class ServerConnections {
  readonly #server: Server;
  readonly #options: ConnectionsOptions;
  readonly #maxSockets: number;
  readonly #open = new Set<Connection>();
  /** TLS handshakes by {@link toPeer}, and the error that a client gets after it. */
  readonly #handshakes = new Map<string, IdleConnection & { readonly error?: RequestError }>();
  /** Sockets that were not accepted and get an error response. */
  readonly #rejected = new Set<Socket>();

  constructor(server: Server, options: ConnectionsOptions) {
    this.#server = server;
    this.#options = options;
    // One more, so that it can take the place of a handshake.
    this.#maxSockets = options.maxConnections + maxDraining + maxRejected + 1;
    server.maxConnections = Math.min(this.#maxSockets, maxStartingConnections);
    server.on("connection", (socket: Socket) => this.#onConnection(socket));
    options.tlsServer?.on("secureConnection", (socket: Socket) => {
      const peer = toPeer(socket);
      const handshake = this.#handshakes.get(peer);
      this.#handshakes.delete(peer);
      if (handshake !== undefined) options.context.admission.idle.delete(handshake);
      // A client may close its side and still read the response.
      socket.allowHalfOpen = true;
      this.#accept(socket, handshake?.error);
    });
  }

  /** Accepts as many connections as the options allow. Before, the server needs descriptors to open its store. */
  acceptAll(): void {
    this.#server.maxConnections = this.#maxSockets;
  }

  #onConnection(socket: Socket): void {
    const { admission } = this.#options.context;
    const error = admission.addConnection();
    const uncount = (): void => void admission.connections--;
    socket.once("close", uncount);
    if (error !== undefined) this.#addRejected(socket, uncount);
    if (this.#options.tlsServer === undefined) this.#accept(socket, error);
    else this.#startTls(socket, error, uncount, this.#options.tlsServer);
  }

  /** TLS starts after the first byte. A letter begins an HTTP request, and never a TLS record (RFC 8446 section 5.1). */
  #startTls(
    socket: Socket,
    error: RequestError | undefined,
    uncount: () => void,
    tlsServer: TlsServer,
  ): void {
    const { context, handshakeTimeoutMs } = this.#options;
    const peer = toPeer(socket);
    const handshake = { ...(error && { error }), close: () => void socket.destroy() };
    const forget = (): void => {
      context.admission.idle.delete(handshake);
      this.#handshakes.delete(peer);
    };
    this.#handshakes.set(peer, handshake);
    // It makes room for others like an idle connection: its client may never finish it.
    if (error === undefined) context.admission.idle.add(handshake);
    socket.setTimeout(handshakeTimeoutMs, () => socket.destroy());
    // After an error, the close event follows.
    socket.on("error", () => undefined).once("close", forget);
    socket.once("readable", () => {
      const bytes = socket.read() as Buffer | null;
      if (bytes === null) {
        socket.destroy();
        return;
      }
      socket.setTimeout(0);
      if (/^[A-Za-z]/.test(bytes.toString("latin1", 0, 1))) {
        forget();
        if (error === undefined) this.#addRejected(socket, uncount);
        this.#reject(socket, plainHttp);
      } else {
        socket.unshift(bytes);
        tlsServer.emit("connection", socket);
      }
    });
  }

  #accept(socket: Socket, error: RequestError | undefined): void {
    if (error !== undefined) {
      this.#reject(socket, error);
      return;
    }
    const connection = new Connection(socket, this.#options.context);
    this.#open.add(connection);
    socket.once("close", () => this.#open.delete(connection));
    this.#options.start(connection);
  }

  /**
   * Stops listening and closes all connections after the responses in flight.
   *
   * @param timeoutMs requests in flight for longer get 50300 or 50302
   * @param isClientLocal true if clients run on this machine
   */
  async stop(timeoutMs: number, isClientLocal = false): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const handshake of this.#handshakes.values()) handshake.close();
    const forEach = (action: (connection: Connection) => void) => (): void => {
      for (const connection of this.#open) action(connection);
    };
    const closeAllUnused = forEach(closeUnused);
    // The turn after the timer reads what had arrived before, even if the event loop was blocked.
    if (isClientLocal) setTimer(() => setImmediate(closeAllUnused), localGraceMs);
    const close = (isDue: (connection: Connection) => boolean): void => {
      for (const connection of this.#open) if (isDue(connection)) connection.close();
      for (const socket of this.#rejected) socket.destroy();
    };
    const timers = [
      setTimeout(closeAllUnused, Math.min(graceMs, timeoutMs)),
      setTimeout(forEach(rejectHead), Math.min(lastHeadMs, timeoutMs)),
      setTimeout(() => close((each) => each.isSettled), lastReadMs),
      setTimeout(
        forEach((each) => each.giveUp()),
        timeoutMs,
      ),
      setTimeout(() => close(() => true), timeoutMs + lastResponsesMs),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
  }

  /** Counts a socket as one that is not accepted. If there are too many, closes the oldest: it is silent, or has its response. */
  #addRejected(socket: Socket, uncount: () => void): void {
    socket.off("close", uncount);
    uncount();
    const [oldest] = this.#rejected;
    if (this.#rejected.size === maxRejected && oldest !== undefined) {
      this.#rejected.delete(oldest);
      oldest.destroy();
    }
    this.#rejected.add(socket);
    socket.once("close", () => this.#rejected.delete(socket));
  }

  /** Sends an error on a socket that is not accepted, and closes it. */
  #reject(socket: Socket, error: RequestError): void {
    const { handler, connectionHeaders } = this.#options.context;
    const response = handler.reject(error);
    handler.report(undefined, response, false);
    socket.on("error", () => undefined);
    socket.write(toResponseText(response, connectionHeaders(true)));
    lingeringClose(socket);
  }
}

/** Closes a connection whose client sends nothing. */
function closeUnused(connection: Connection): void {
  if (connection.isEnding || connection.isReceiving) return;
  if (connection.isSettled) connection.close();
  else if (connection.isIdle) connection.end();
}

function rejectHead(connection: Connection): void {
  if (connection.isEnding || !connection.isIdle) return;
  connection.reject(serverStopping);
}

/** Error for a request without TLS on a TLS port. */
const plainHttp = new RequestError(
  "malformedHttp",
  "this port expects TLS: use https:// instead of http:// in the URL",
);

/** The same for a socket and the TLS socket on it. */
function toPeer({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
