/** The open connections of a server: which ones it accepts, and how they end when it stops. */
import type { Server } from "node:http";
import { type Socket, Server as TcpServer } from "node:net";
import { RequestError } from "../../core/errors.ts";
import { Connection, type ConnectionContext, rejectSocket } from "./connection.ts";

/** Connections above the maximum that can receive an error response; node:net drops the others. */
const rejectedConnections = 100;

/** A client that got a response so shortly before the stop may be sending its next request already. */
const activeMs = 1000;

/** When the steps of a stop happen, in milliseconds after its beginning. */
const steps = {
  /** Active connections may send one more request until then. */
  closeActiveMs: 250,
  /** Incomplete request heads get 50300. */
  rejectHeadsMs: 500,
  /** Clients had time to read their last response. */
  closeEndedMs: 1500,
};
/** Time for the responses to requests that are cut off to be sent. */
const lastResponsesMs = 250;

/** Options of {@link Connections}. */
export interface ConnectionsOptions {
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** Whether clients use TLS. */
  readonly isEncrypted: boolean;
  /** Called with each accepted connection, after its TLS handshake. */
  readonly onOpen: (connection: Connection) => void;
}

/** The connections of one server. */
export class Connections {
  readonly #server: Server;
  readonly #open = new Set<Connection>();
  /** Sockets in a TLS handshake, by {@link toPeer}. */
  readonly #handshakes = new Map<string, Socket>();
  #stoppedAtMs = Number.POSITIVE_INFINITY;

  constructor(server: Server, context: ConnectionContext, options: ConnectionsOptions) {
    const { isEncrypted, maxConnections, onOpen } = options;
    this.#server = server;
    server.maxConnections = maxConnections + rejectedConnections;
    const open = (socket: Socket): void => {
      const connection = new Connection(socket, context);
      this.#open.add(connection);
      socket.once("close", () => this.#open.delete(connection));
      onOpen(connection);
    };
    server.on("connection", (socket: Socket) => {
      const error = context.admission.addConnection();
      socket.once("close", () => context.admission.removeConnection());
      if (error === undefined) {
        if (isEncrypted) this.#awaitHandshake(socket);
        else open(socket);
      } else if (isEncrypted) socket.destroy();
      else rejectSocket(socket, error, context.onResponse);
    });
    server.on("secureConnection", (socket: Socket) => {
      this.#handshakes.delete(toPeer(socket));
      // Like a plain socket of node:http: a client may close its side and still read the response.
      socket.allowHalfOpen = true;
      open(socket);
    });
  }

  /** Returns whether a request of this connection arrives too late to be handled. */
  isLate(connection: Connection): boolean {
    const sinceStopMs = performance.now() - this.#stoppedAtMs;
    return sinceStopMs > steps.closeActiveMs || (sinceStopMs >= 0 && !this.#wasActive(connection));
  }

  /**
   * Stops listening and closes all connections after the responses in flight.
   *
   * @param timeoutMs requests in flight for longer get 50300
   */
  async stop(timeoutMs: number): Promise<void> {
    this.#stoppedAtMs = performance.now();
    // The method of node:http would close connections whose response is not sent yet.
    const closed = new Promise<void>((resolve) => {
      TcpServer.prototype.close.call(this.#server, () => resolve());
    });
    for (const socket of this.#handshakes.values()) socket.destroy();
    this.#closeUnused((connection) => !this.#wasActive(connection));
    const timers = [
      setTimeout(() => this.#closeUnused(() => true), Math.min(steps.closeActiveMs, timeoutMs)),
      setTimeout(() => this.#rejectHeads(), Math.min(steps.rejectHeadsMs, timeoutMs)),
      setTimeout(() => this.#closeEnded(), steps.closeEndedMs),
      setTimeout(() => this.#cutOff(), timeoutMs),
      setTimeout(() => this.#closeAll(), timeoutMs + lastResponsesMs),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
    // Ends the timer with which node:http checks for timeouts.
    this.#server.close(() => undefined);
  }

  #wasActive(connection: Connection): boolean {
    return connection.wasActiveSince(this.#stoppedAtMs - activeMs);
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
      if (!connection.isEnding && connection.isIdle) connection.reject(serverStopping());
    }
  }

  #closeEnded(): void {
    for (const connection of this.#open) if (connection.isSettled) connection.close();
  }

  #cutOff(): void {
    for (const connection of this.#open) connection.cutOff(serverStopping());
  }

  #closeAll(): void {
    for (const connection of this.#open) connection.close();
  }

  #awaitHandshake(socket: Socket): void {
    const peer = toPeer(socket);
    this.#handshakes.set(peer, socket);
    socket.once("close", () => this.#handshakes.delete(peer));
  }
}

function serverStopping(): RequestError {
  return new RequestError("shuttingDown", "the server is stopping: try again");
}

/** The same for a socket and the TLS socket on it. */
function toPeer({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
