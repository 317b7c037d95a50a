/** A request through node:http: its head, its body while the handler reads it, and its response. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestError } from "../../core/errors.ts";
import {
  type BodyCollector,
  type BodyResult,
  createBodyCollector,
  keepsAlive,
  requestCut,
  toRequestHead,
} from "../request.ts";
import { type HttpMessage, toHeaderPairs } from "../response.ts";
import { type Connection, TransportRequest } from "./connection.ts";

/** A request that node:http parsed. */
export class NodeRequest extends TransportRequest {
  override readonly isFinal: boolean;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #maxDrainBytes: number;
  #awaitsContinue: boolean;
  #readBytes = 0;
  #failure: RequestError | undefined;
  #onFailure: ((error: RequestError) => void) | undefined;

  constructor(
    connection: Connection,
    message: IncomingMessage,
    response: ServerResponse,
    maxDrainBytes: number,
    awaitsContinue: boolean,
  ) {
    super(connection, toRequestHead(message));
    // node:http discards the bytes after a request for another protocol; bytes after a malformed head are ambiguous.
    this.isFinal =
      this.error !== undefined || !keepsAlive(message) || this.headers["upgrade"] !== undefined;
    this.#message = message;
    this.#response = response;
    this.#maxDrainBytes = maxDrainBytes;
    this.#awaitsContinue = awaitsContinue;
  }

  readBody(maxBytes: number): BodyResult | Promise<BodyResult> {
    if (this.#failure !== undefined) return this.#failure;
    // Its close event has passed.
    if (this.#message.destroyed) return requestCut;
    if (this.#awaitsContinue) this.#response.writeContinue();
    this.#awaitsContinue = false;
    return new Promise((resolve) => {
      let body: BodyCollector | undefined;
      body = createBodyCollector(this, this.connection.admission, maxBytes);
      const settle = (result: BodyResult): void => {
        body = undefined;
        resolve(result);
      };
      this.#message.on("data", (chunk: Buffer) => {
        if (body === undefined) return;
        this.#readBytes += chunk.length;
        const error = body.add(chunk);
        if (error !== undefined) settle(error);
      });
      this.#message.once("end", () => {
        if (body !== undefined) settle(body.end());
      });
      this.#message.once("close", () => {
        settle(requestCut);
      });
      this.#onFailure = settle;
    });
  }

  override fail(error: RequestError): void {
    if (this.#response.headersSent) this.connection.end();
    this.#failure ??= error;
    this.#onFailure?.(error);
  }

  override get isComplete(): boolean {
    return this.#message.complete;
  }

  override get canContinue(): boolean {
    if (this.#failure !== undefined) return false;
    if (this.#message.complete) return true;
    // A chunked body has no announced length.
    const bodyBytes = Number(this.headers["content-length"]?.[0] ?? this.#readBytes);
    return bodyBytes <= this.#maxDrainBytes && !this.#awaitsContinue;
  }

  send(message: HttpMessage, onSent: () => void): void {
    this.#response.once("close", onSent);
    this.#response.writeHead(message.status, toHeaderPairs(message).flat()).end(message.body);
    if (!this.#message.complete) this.#drain();
  }

  /** Discards the rest of the body, up to the limit. */
  #drain(): void {
    this.#message.on("data", ({ length }: Buffer) => {
      this.#readBytes += length;
      if (this.#readBytes > this.#maxDrainBytes) this.connection.end();
    });
  }

  evict(error: RequestError): void {
    if (this.#response.headersSent) this.connection.close();
    else this.fail(error);
  }
}
