/** The stream that node:http gets instead of a socket. */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { type Connection, endGently } from "./connection.ts";

/**
 * Bytes that node:http parses at once. It makes objects for each request in them before the server can stop it:
 * one read of 64 KiB can contain 2,000 requests.
 */
const sliceBytes = 8 * 1024;

/**
 * A plain or TLS socket as a stream. Node documents that an HTTP server accepts any Duplex as a connection. This one
 * decides what node:http reads (nothing after the last request) and how the connection ends (gently, and after the
 * responses in flight if the client closes its side first). Node's own https server fails with HPE_PAUSED when requests
 * with bodies are pipelined over TLS; with this stream it does not.
 */
export class SocketStream extends Duplex {
  readonly connection: Connection;
  readonly #socket: Socket;
  /** Time of the last input, in milliseconds of `performance.now()`. */
  lastInputAtMs = performance.now();

  constructor(connection: Connection) {
    super({ allowHalfOpen: true, autoDestroy: false, decodeStrings: false });
    this.connection = connection;
    this.#socket = connection.socket;
    connection.useStream(this);
    this.#socket.on("data", (chunk: Buffer) => this.receive(chunk));
    this.#socket.once("end", () => this.push(null));
    this.#socket.once("close", () => this.destroy());
    this.#socket.on("timeout", () => this.emit("timeout"));
  }

  /** Passes bytes to node:http, or discards them after the last request. */
  receive(chunk: Buffer): void {
    this.lastInputAtMs = performance.now();
    for (let start = 0; start < chunk.length; start += sliceBytes) {
      if (this.#isPastLastRequest()) return;
      if (!this.push(chunk.subarray(start, start + sliceBytes))) this.#socket.pause();
    }
  }

  #isPastLastRequest(): boolean {
    const { isEnding, newest } = this.connection;
    return this.writableEnded || (isEnding && newest?.isComplete() !== false);
  }

  /** Used by node:http for its timeouts. */
  setTimeout(timeoutMs: number, listener?: () => void): this {
    this.#socket.setTimeout(timeoutMs, listener);
    return this;
  }

  /** Ends the connection after what has been written. */
  destroySoon(): void {
    if (!this.writableEnded) super.end();
  }

  /** Called by node:http when the client has closed its side. */
  override end(): this {
    this.connection.end();
    return this;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(
    chunk: string | Buffer,
    encoding: BufferEncoding,
    callback: (error?: Error | null) => void,
  ): void {
    this.#socket.write(chunk, encoding, callback);
  }

  override _final(callback: () => void): void {
    endGently(this.#socket);
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#socket.destroy();
    callback(error);
  }
}
