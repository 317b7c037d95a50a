/** Handles usual create requests straight from the socket; everything else goes to node:http. */
import type { BodyResult } from "../request.ts";
import { type HttpMessage, toText } from "../response.ts";
import { type Connection, TransportRequest } from "./connection.ts";
import type { UsualRequest, UsualRequestParser } from "./usual-request.ts";

/** Dependencies of the fast lane. */
export interface FastLaneOptions {
  readonly parse: UsualRequestParser;
  readonly idleTimeoutMs: number;
  /** Maximum time without input or output for a connection that waits for the store, or for its client to read. */
  readonly stallTimeoutMs: number;
  /** Hands a connection and its first unparsed bytes over to node:http for good. */
  readonly handOver: (connection: Connection, bytes: Buffer) => void;
}

/**
 * Starts a new connection in the fast lane. There it is idle or has complete requests in flight, so that it needs no
 * other timeouts than these.
 */
export function startFastLane(connection: Connection, options: FastLaneOptions): void {
  const { parse, idleTimeoutMs, stallTimeoutMs, handOver } = options;
  const { socket } = connection;
  let stalledMs = 0;

  function onData(chunk: Buffer): void {
    let start = 0;
    stalledMs = 0;
    while (start < chunk.length && !connection.isEnding) {
      const usual = connection.isFull ? undefined : parse(chunk, start);
      if (usual === undefined) {
        leave(chunk.subarray(start));
        return;
      }
      start = usual.end;
      connection.accept(new FastLaneRequest(connection, usual));
    }
    if (socket.writableNeedDrain) socket.pause();
  }

  function leave(bytes: Buffer): void {
    socket.pause();
    socket.off("data", onData).off("drain", onDrain).off("end", onEnd);
    connection.whenSettled(() => {
      socket.off("timeout", onTimeout);
      if (!connection.isEnding && !socket.destroyed) handOver(connection, bytes);
    });
  }

  function onDrain(): void {
    stalledMs = 0;
    socket.resume();
  }

  function onEnd(): void {
    connection.end();
  }

  function onTimeout(): void {
    stalledMs += idleTimeoutMs;
    if (connection.isSettled || stalledMs > stallTimeoutMs) socket.destroy();
    else socket.setTimeout(idleTimeoutMs);
  }

  socket.on("data", onData).on("drain", onDrain).once("end", onEnd).on("timeout", onTimeout);
  socket.setTimeout(idleTimeoutMs);
}

class FastLaneRequest extends TransportRequest {
  #body: Buffer | undefined;

  constructor(connection: Connection, usual: UsualRequest) {
    super(connection, usual);
    this.#body = usual.body;
  }

  readBody(): BodyResult {
    const body = this.#body ?? Buffer.alloc(0);
    // Not kept while the plant waits for the store.
    this.#body = undefined;
    return this.connection.admission.hold(this, body.length) ?? body;
  }

  evict(): void {
    this.connection.close();
  }

  send(message: HttpMessage, onSent: () => void): void {
    // Latin-1 is faster to write, and the same for ASCII.
    const encoding = message.bodyBytes === message.body.length ? "latin1" : "utf8";
    this.connection.socket.write(toText(message), encoding, onSent);
  }
}
