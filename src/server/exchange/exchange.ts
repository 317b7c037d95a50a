/** One request and its answer, and the connection on which they are exchanged. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Refusal } from "../../core/errors.ts";
import type { RequestHead } from "./headers.ts";
import type { PlantRequest } from "./plant-request.ts";
import { makeRequestId } from "./request-id.ts";
import type { Operation } from "./routes.ts";

/** A client's connection. */
export class Connection {
  readonly socket: Socket;
  /** What is under way, in the order of the requests: a client may pipeline. */
  readonly exchanges: Exchange[] = [];
  /** How many of them have no answer yet. */
  unanswered = 0;
  /** What comes behind the last of them is not read as a request any more. */
  isEnding = false;
  /** A request whose rest is expected in this turn of the event loop; behind it, nothing else was read. */
  held: PlantRequest | undefined;
  /** Since when nothing was under way; milliseconds of `performance.now()`. */
  idleSinceMs = performance.now();
  /** How much had been read by then; what was read since is the beginning of a request. */
  idleBytesRead = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Lets node:http have a request that has not become whole. */
  releaseHeld(): void {
    this.held?.release();
    this.held = undefined;
  }

  /** Lets node:http have all of this connection that it was spared. */
  release(): void {
    this.releaseHeld();
    // Behind the first there is another one only if node:http has both.
    this.exchanges[0]?.request.release();
  }
}

/** One request and its answer. */
export class Exchange {
  readonly connection: Connection;
  readonly request: PlantRequest;
  readonly head: RequestHead;
  readonly requestId: string;
  /** When the head of the request had come; milliseconds of `performance.now()`. */
  readonly startedAtMs = performance.now();
  /** The client waits for a 100 before it sends the body (RFC 9110 section 10.1.1). */
  isContinueAwaited: boolean;
  /** What it asks for, once that is known. */
  operation: Operation | undefined;
  /** It is one more than a connection may have at a time. */
  isExcess = false;
  /** What is held in memory of the body. */
  heldBytes = 0;
  #response: ServerResponse | undefined;
  #broken: Refusal | undefined;
  #onBroken: ((refusal: Refusal) => void) | undefined;

  constructor(connection: Connection, request: PlantRequest, isContinueAwaited: boolean) {
    this.connection = connection;
    this.request = request;
    this.head = request.head;
    this.requestId = this.head.requestId ?? makeRequestId();
    this.isContinueAwaited = isContinueAwaited;
  }

  /** Takes what node:http has made to answer with. */
  setResponse(response: ServerResponse): void {
    this.#response = response;
  }

  /** Whether node:http has made something to answer with. */
  get hasResponse(): boolean {
    return this.#response !== undefined;
  }

  /** What node:http answers with. If the request was kept from it, it is told of it now, and makes one. */
  requireResponse(): ServerResponse {
    if (this.#response === undefined) this.request.release();
    if (this.#response === undefined) throw new Error("node:http announced no request");
    return this.#response;
  }

  /** Whether more of this request was announced than has arrived. */
  get isBodyComing(): boolean {
    if (this.request.complete) return false;
    return this.head.transferEncodings.length > 0 || (this.head.contentLength ?? 0) > 0;
  }

  /** Whether {@link Exchange.break} was called; the connection is of no more use then. */
  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  /** The rest of this request is not waited for: what did come is not HTTP, it took too long, or others need the room. */
  break(refusal: Refusal): void {
    this.#broken = refusal;
    this.#onBroken?.(refusal);
  }

  /** Calls the listener when {@link Exchange.break} is, or was, called; it replaces an earlier listener. */
  onBroken(listener: (refusal: Refusal) => void): void {
    this.#onBroken = listener;
    if (this.#broken !== undefined) listener(this.#broken);
  }
}
