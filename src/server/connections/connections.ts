/** The connections of a server: how many there may be, and which has to go when there is no room for one more. */
import type { Server } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Refusal } from "../../core/errors.ts";
import { Connection, type Exchange } from "../exchange/exchange.ts";
import type { ServerLimits } from "../limits.ts";

/** Those that are refused linger for a moment; beyond so many of them, node:net drops the next without a word. */
const refusalRoom = 100;

/**
 * Requests without an answer on one connection; one more is refused and ends it. They come in one piece, thousands of
 * them at a time, and nobody else would have a turn before the last.
 */
const maxPipelined = 32;

/** How often idle connections are looked for. */
const sweepMs = 1000;
/** How much longer they are kept than clients are told, who may be about to send something: as long as by node:http. */
const graceMs = 1000;

/** Sends the last answer on a connection, on which nothing else is under way. */
export type AnswerAndClose = (socket: Duplex, refusal: Refusal) => void;

/** Those of a server's limits that are connections' own. */
export type ConnectionLimits = Pick<
  ServerLimits,
  "maxConnections" | "idleTimeoutMs" | "requestTimeoutMs"
>;

/** Who deals with what happens to connections. */
export interface ConnectionsListener {
  /** One that was not refused; nothing has been read of it. */
  readonly onOpen: (connection: Connection) => void;
  readonly answerAndClose: AnswerAndClose;
}

/** Follows the connections of a server from its beginning on. */
export class Connections {
  readonly #max: number;
  readonly #open = new Map<Duplex, Connection>();
  /** Those to which no answer is owed; the first has been so for longest. */
  readonly #idle = new Set<Connection>();
  readonly #onOpen: (connection: Connection) => void;
  /** Clients of TLS that have not said hello to the end, by their address and port. */
  readonly #greeting = new Map<string, Socket>();
  #count = 0;

  /**
   * @param isEncrypted whether it speaks TLS; then nobody can be told of a refusal before the handshake
   * @param max at least 1. One more ends the one that has been idle for longest; when all of them wait for answers, it is
   * refused itself
   */
  constructor(
    server: Server,
    { maxConnections: max, idleTimeoutMs, requestTimeoutMs }: ConnectionLimits,
    isEncrypted: boolean,
    { onOpen, answerAndClose }: ConnectionsListener,
  ) {
    this.#max = max;
    this.#onOpen = onOpen;
    server.maxConnections = max + refusalRoom;
    server.once("listening", () => {
      const sweep = (): void => this.#endIdle(idleTimeoutMs, requestTimeoutMs);
      // Timers come before what has arrived is read: after a standstill that could be a request on an idle connection.
      const sweeping = setInterval(() => setImmediate(sweep), sweepMs).unref();
      server.once("close", () => clearInterval(sweeping));
    });
    server.on("connection", (socket) => {
      this.#count++;
      socket.once("close", () => this.#count--);
      if (this.#count <= this.#max || this.#endLongestIdle()) {
        if (isEncrypted) this.#awaitHandshake(socket);
        else this.#add(socket);
      } else if (isEncrypted) socket.destroy();
      else answerAndClose(socket, overloaded(this.#max));
    });
    server.on("secureConnection", (socket: Socket) => {
      this.#greeting.delete(toPeer(socket));
      this.#add(socket);
    });
  }

  /** How many are open. */
  get count(): number {
    return this.#count;
  }

  /** @returns undefined for a connection that was refused */
  of(socket: Duplex): Connection | undefined {
    return this.#open.get(socket);
  }

  /** Those that were not refused, in the order in which they came. */
  get sockets(): Iterable<Duplex> {
    return this.#open.keys();
  }

  /** Ends those on which no byte of a request has come. */
  endUnused(): void {
    for (const socket of this.#greeting.values()) socket.destroy();
    for (const socket of this.#open.keys()) {
      if (socket instanceof Socket && socket.bytesRead === 0) socket.destroy();
    }
  }

  /** An answer is owed from now on. */
  begin(exchange: Exchange): void {
    const { connection } = exchange;
    connection.exchanges.push(exchange);
    if (connection.unanswered++ === 0) this.#idle.delete(connection);
    exchange.isExcess = connection.unanswered > maxPipelined;
    connection.isEnding ||= exchange.head.isLast || exchange.isExcess;
  }

  /** The answer of an exchange is given, even if not all of the request has come. */
  answered({ connection }: Exchange): void {
    if (--connection.unanswered === 0 && this.#open.has(connection.socket)) {
      this.#idle.add(connection);
    }
  }

  /** Nothing more comes of an exchange. */
  ended(exchange: Exchange): void {
    const { connection } = exchange;
    const { exchanges, socket } = connection;
    const index = exchanges.indexOf(exchange);
    if (index >= 0) exchanges.splice(index, 1);
    connection.idleSinceMs = performance.now();
    connection.idleBytesRead = socket.bytesRead;
  }

  /** Lets node:http have all that it was spared, so that it can tell who is idle. */
  release(): void {
    for (const connection of this.#open.values()) connection.release();
  }

  #add(socket: Socket): void {
    const connection = new Connection(socket);
    this.#open.set(socket, connection);
    this.#idle.add(connection);
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#idle.delete(connection);
    });
    this.#onOpen(connection);
  }

  #awaitHandshake(socket: Socket): void {
    const peer = toPeer(socket);
    this.#greeting.set(peer, socket);
    socket.once("close", () => this.#greeting.delete(peer));
  }

  /** Ends those that are idle for long. Behind an answer of its own node:http does so too, but of others it knows nothing. */
  #endIdle(idleTimeoutMs: number, requestTimeoutMs: number): void {
    const nowMs = performance.now();
    for (const connection of this.#idle) {
      const { socket, exchanges, idleBytesRead } = connection;
      // The answer is not sent yet, or the rest of its request not read.
      if (exchanges.length > 0 || socket.writableLength > 0) connection.idleSinceMs = nowMs;
      const idleMs = nowMs - connection.idleSinceMs;
      // How long the head of a request may take to come, the first one included, node:http sees; but not that what has
      // come may be no more than a line break.
      const isHeadAwaited = socket.bytesRead === 0 || socket.bytesRead > idleBytesRead;
      const patienceMs = isHeadAwaited ? idleTimeoutMs + requestTimeoutMs : idleTimeoutMs;
      if (idleMs > patienceMs + graceMs) socket.destroy();
    }
  }

  #endLongestIdle(): boolean {
    for (const connection of this.#idle) {
      this.#idle.delete(connection);
      connection.socket.destroy();
      return true;
    }
    return false;
  }
}

/** More requests have come on a connection than it may have at a time. */
export function tooManyAtATime(): Refusal {
  return new Refusal(
    "overloaded",
    `${maxPipelined} requests wait on this connection already: try again`,
  );
}

/** The same for a connection and what speaks TLS on it. */
function toPeer({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function overloaded(max: number): Refusal {
  return new Refusal("overloaded", `${max} connections are open already: try again`);
}
