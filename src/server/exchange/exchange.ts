/** One request and its answer, and the connection on which they are exchanged. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Refusal } from "../../core/errors.ts";
import { readHead, type RequestHead } from "./headers.ts";
import { makeRequestId } from "./request-id.ts";
import type { Operation } from "./routes.ts";

/** A client's connection. */
export class Connection {
  readonly socket: Duplex;
  /** What is under way, in the order of the requests: a client may pipeline. */
  readonly exchanges: Exchange[] = [];
  /** How many of them have no answer yet. */
  unanswered = 0;
  /** What comes behind the last of them is not read as a request any more. */
  isEnding = false;

  constructor(socket: Duplex) {
    this.socket = socket;
  }
}

/** One request and its answer. */
export class Exchange {
  readonly connection: Connection;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
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
  #broken: Refusal | undefined;
  #onBroken: ((refusal: Refusal) => void) | undefined;

  constructor(
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    isContinueAwaited: boolean,
  ) {
    this.connection = connection;
    this.request = request;
    this.response = response;
    this.head = readHead(request);
    this.requestId = this.head.requestId ?? makeRequestId();
    this.isContinueAwaited = isContinueAwaited;
  }

  /** Whether more of this request was announced than has arrived. */
  get isBodyComing(): boolean {
    const { complete, headers } = this.request;
    if (complete) return false;
    return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
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
