/** The stream that node:http gets instead of a socket. */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Connection, ConnectionStream } from "./connection.ts";
import { requestCut } from "../request.ts";
import { endGently } from "./ending.ts";

/**
 * Bytes that node:http parses at once; the stream holds as many again. node:http makes objects for each request in them
 * before the server can stop it: one read of 64 KiB can contain 2,000 requests.
 */
const sliceBytes = 1024;
/** The same within a body, where fewer requests can follow. */
const bodySliceBytes = 4 * 1024;

/**
 * A plain or TLS socket as a stream. Node documents that an HTTP server accepts any Duplex as a connection. This one
 * withholds input from node:http after the last request, and while the connection is full. It also decides how the
 * connection ends: gently, and after the responses in flight if the client closes its side first. Node's own https server
 * fails with HPE_PAUSED when requests with bodies are pipelined over TLS; with this stream it does not.
 */
export class SocketStream extends Duplex implements ConnectionStream {
  readonly connection: Connection;
  readonly #socket: Socket;
  readonly #requestTimeoutMs: number;
  /** Bytes that node:http did not get yet. */
  #input: Buffer = Buffer.alloc(0);
  #isInputEnded: boolean;
  #isInputWanted = false;
  /** Time of the last input, in milliseconds of `performance.now()`. */
  lastInputAtMs = performance.now();

  /** @param requestTimeoutMs time without any input or output after which an incomplete request fails */
  constructor(connection: Connection, requestTimeoutMs: number) {
    super({
      allowHalfOpen: true,
      autoDestroy: false,
      decodeStrings: false,
      readableHighWaterMark: bodySliceBytes,
    });
    this.connection = connection;
    this.#socket = connection.socket;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#isInputEnded = this.#socket.readableEnded;
    connection.useStream(this);
    // node:http stops listening after CONNECT. The close event of the socket follows.
    this.on("error", () => undefined);
    this.#socket.on("timeout", () => {
      if (!this.emit("timeout")) this.destroy();
    });
    this.#socket.on("data", (chunk: Buffer) => this.receive(chunk));
    this.#socket.once("end", () => {
      this.#isInputEnded = true;
      this.resumeInput();
    });
    this.#socket.once("close", () => this.destroy());
  }

  /** Passes bytes to node:http, or discards them after the last request. */
  receive(chunk: Buffer): void {
    if (this.writableEnded) return;
    // node:http still uses the timeout of an idle connection until the head is complete.
    if (this.connection.isSettled) this.#socket.setTimeout(this.#requestTimeoutMs);
    this.lastInputAtMs = performance.now();
    this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
    this.resumeInput();
    if (this.#input.length > 0) this.#socket.pause();
  }

  override _read(): void {
    this.#isInputWanted = true;
    this.resumeInput();
  }

  /** Passes the next bytes or the end of the input to node:http, if it wants any and the connection is not full. */
  resumeInput(): void {
    if (!this.#isInputWanted || this.connection.isFull) return;
    const { isEnding, newest } = this.connection;
    const isPastLastRequest = this.writableEnded || (isEnding && newest?.isComplete !== false);
    if (isPastLastRequest) this.#input = Buffer.alloc(0);
    const isOver = this.#isInputEnded && this.#input.length === 0;
    if (this.#input.length === 0 && !isOver) {
      this.#socket.resume();
      return;
    }
    const maxBytes = newest?.isComplete === false ? bodySliceBytes : sliceBytes;
    const slice = this.#input.subarray(0, maxBytes);
    this.#input = this.#input.subarray(slice.length);
    this.#isInputWanted = false;
    this.push(isOver ? null : slice);
  }

  /** Used by node:http for its timeouts. */
  setTimeout(timeoutMs: number, listener?: () => void): this {
    this.#socket.setTimeout(timeoutMs, listener);
    return this;
  }

  /** Ends the connection after what has been written. */
  destroySoon(): void {
    this.#input = Buffer.alloc(0);
    if (!this.writableEnded) super.end();
  }

  /** Called by node:http when the client has closed its side, even in the middle of a request with `Upgrade`. */
  override end(): this {
    const { newest } = this.connection;
    if (newest?.isComplete === false) newest.fail(requestCut);
    else this.connection.end();
    return this;
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
