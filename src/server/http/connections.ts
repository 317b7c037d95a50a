/** The open connections of a server: which ones it accepts, and how they end when it stops. */
import type { Server } from "node:http";
import { type Socket, Server as TcpServer } from "node:net";
import type { RequestError } from "../../core/errors.ts";
import { serverStopping } from "../failure.ts";
import { toConnectionHeaders, toText } from "../response.ts";
import { Connection, graceMs, type TransportContext } from "./connection.ts";
import { endGently } from "./ending.ts";

/** Connections above the maximum that can receive an error response; node:net drops the others. */
const rejectedConnections = 100;

/** Maximum number of connections before the server has started. Many systems allow a process 1,024 descriptors. */
const maxStartingConnections = 512;

/** Time after the stop for the rest of an incomplete request head to arrive. */
const lastHeadMs = 500;
/** Time after the stop for clients to read their last response. */
const lastReadMs = 1500;
/** Time for the responses to requests that are cut off to be sent. */
const lastResponsesMs = 250;

/** Options of {@link Connections}. */
export interface ConnectionsOptions {
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** True if clients use TLS. */
  readonly isEncrypted: boolean;
  /** Called with each accepted connection, after its TLS handshake. */
  readonly onOpen: (connection: Connection) => void;
}

/** The connections of one server. */
export class Connections {
  readonly #server: Server;
  readonly #maxConnections: number;
  readonly #open = new Set<Connection>();
  /** Sockets in a TLS handshake, by {@link toPeer}. */
  readonly #handshakes = new Map<string, Socket>();
  /** Sockets that were not accepted and get an error response. */
  readonly #rejected = new Set<Socket>();

  constructor(server: Server, context: TransportContext, options: ConnectionsOptions) {
    const { isEncrypted, maxConnections, onOpen } = options;
    this.#server = server;
    this.#maxConnections = maxConnections + rejectedConnections;
    server.maxConnections = Math.min(this.#maxConnections, maxStartingConnections);
    const open = (socket: Socket): void => {
      const connection = new Connection(socket, context);
      this.#open.add(connection);
      socket.once("close", () => this.#open.delete(connection));
      onOpen(connection);
    };
    server.on("connection", (socket: Socket) => {
      const error = context.admission.addConnection();
      if (error !== undefined) {
        context.admission.removeConnection();
        if (isEncrypted) socket.destroy();
        else this.#reject(socket, error, context);
        return;
      }
      socket.once("close", () => context.admission.removeConnection());
      if (isEncrypted) this.#awaitHandshake(socket);
      else open(socket);
    });
    server.on("secureConnection", (socket: Socket) => {
      this.#handshakes.delete(toPeer(socket));
      // Like a plain socket of node:http: a client may close its side and still read the response.
      socket.allowHalfOpen = true;
      open(socket);
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
    for (const socket of this.#handshakes.values()) socket.destroy();
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

  /** Sends an error on a socket that is not accepted, and closes it. */
  #reject(socket: Socket, error: RequestError, context: TransportContext): void {
    const headers = toConnectionHeaders(undefined);
    const message = context.handler.complete(undefined, error, performance.now(), false, headers);
    this.#rejected.add(socket);
    socket.once("close", () => this.#rejected.delete(socket));
    socket.on("error", () => undefined);
    socket.write(toText(message));
    endGently(socket);
  }

  #closeUnused(isDue: (connection: Connection) => boolean): void {
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

  #awaitHandshake(socket: Socket): void {
    const peer = toPeer(socket);
    this.#handshakes.set(peer, socket);
    socket.once("close", () => this.#handshakes.delete(peer));
  }
}

/** The same for a socket and the TLS socket on it. */
function toPeer({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
