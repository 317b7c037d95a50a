/**
 * A socket as node:http sees it, in slices. node:http makes objects for every request of a read before anyone can stop it:
 * 1,900 in 64 KiB, whatever `highWaterMark` and `pause()` say. 1,500 clients that never read took 3 GB.
 * `server.emit("connection", slicer)` gives it to a server of node:http.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { lingeringClose } from "./response-bytes.ts";

/** Bytes that are read ahead. A client without a valid token that has more behind its request loses its connection. */
export const maxReadAheadBytes = 32 * 1024;

export class Slicer extends Duplex {
  readonly #socket: Socket;
  readonly #countBytes: (input: Buffer) => number;
  #input: Buffer;
  #isWanted = false;
  #hasStopped = false;
  /** Bytes that node:http has got. */
  passedBytes = 0;

  /**
   * @param input bytes that were read from the socket before
   * @param countBytes returns how many bytes of the input node:http may parse next; 0 for none until {@link Slicer.readMore}
   */
  constructor(socket: Socket, input: Buffer, countBytes: (input: Buffer) => number) {
    super({ autoDestroy: false, readableHighWaterMark: 16 * 1024 });
    this.#socket = socket;
    this.#input = input;
    this.#countBytes = countBytes;
    this.on("error", () => undefined).once("close", () => socket.destroy());
    socket.on("data", this.#onData).once("end", this.#onEnd);
    socket.once("close", () => this.destroy());
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.writableEnded) return;
    this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
    this.readMore();
    if (this.bufferedBytes > maxReadAheadBytes) this.#socket.pause();
  };

  readonly #onEnd = (): void => this.readMore();

  /** Reads no more. @returns the bytes that node:http did not get */
  stopReading(): Buffer {
    this.#hasStopped = true;
    this.#socket.pause().off("data", this.#onData).off("end", this.#onEnd);
    return this.#input;
  }

  /** Number of bytes that node:http did not get. */
  get bufferedBytes(): number {
    return this.#input.length;
  }

  /** Passes the next bytes to node:http, if it wants any and may have them; or the end of the input. */
  readMore(): void {
    if (!this.#isWanted || this.#hasStopped || this.isPaused() || this.writableEnded) return;
    if (this.bufferedBytes === 0 && !this.#socket.readableEnded) this.#socket.resume();
    else {
      const slice = this.#input.subarray(0, this.#countBytes(this.#input));
      if (this.bufferedBytes > 0 && slice.length === 0) return;
      this.#input = this.#input.subarray(slice.length);
      this.passedBytes += slice.length;
      this.#isWanted = false;
      this.push(slice.length > 0 ? slice : null);
    }
  }

  override _read(): void {
    this.#isWanted = true;
    // Not at once: the stream asks for more before node:http has parsed what it has.
    queueMicrotask(() => this.readMore());
  }

  override resume(): this {
    super.resume();
    queueMicrotask(() => this.readMore());
    return this;
  }

  // As bytes: a socket that gets a string reserves three times its length.
  override _write(chunk: Buffer, _: BufferEncoding, callback: () => void): void {
    // node:http ends each response with an empty write.
    if (chunk.length === 0) callback();
    else this.#socket.write(chunk, callback);
  }

  /** node:http calls this when the client has closed its side, and responses may follow. */
  override end(): this {
    return this;
  }

  /** Ends the connection after what has been written. */
  destroySoon(): void {
    this.#input = Buffer.alloc(0);
    if (!this.writableEnded) super.end();
  }

  override _final(callback: () => void): void {
    lingeringClose(this.#socket);
    callback();
  }
}
