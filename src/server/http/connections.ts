/** The open connections of a server: which ones it accepts, and how they end when it stops. */
import type { Server } from "node:http";
import { type Socket, Server as TcpServer } from "node:net";
import type { RequestError } from "../../core/errors.ts";
import type { Admission, IdleConnection } from "../admission.ts";
import { serverStopping } from "../failure.ts";
import { toConnectionHeaders, toText } from "../response.ts";
import { Connection, graceMs, type TransportContext } from "./connection.ts";
import { endGently } from "./ending.ts";

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
export interface ConnectionsOptions {
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** True if clients use TLS. */
  readonly isEncrypted: boolean;
  /** Called with each accepted connection, after its TLS handshake. */
  readonly onOpen: (connection: Connection) => void;
}

/** A socket in a TLS handshake. */
interface Handshake extends IdleConnection {
  /** Set if the client gets this error after the handshake. */
  readonly error: RequestError | undefined;
}

/** The connections of one server. */
export class Connections {
  readonly #server: Server;
  readonly #maxConnections: number;
  readonly #open = new Set<Connection>();
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
      const connection = new Connection(socket, context);
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
