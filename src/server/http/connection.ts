/** One client connection: its requests and their responses, in order, whichever transport it uses; responses as text. */
import type { Socket } from "node:net";
// Not the global function, which tests may replace with a fake.
import { setImmediate } from "node:timers";
import type { RequestError } from "../../core/errors.ts";
import { type Admission, maxPipelined } from "../admission.ts";
import type { Handler } from "../handler.ts";
import { ServerRequest, type RequestHead } from "../request.ts";
import {
  type HttpMessage,
  isDropped,
  type RequestResult,
  toConnectionHeaders,
} from "../response.ts";
import { STATUS_CODES } from "./node-http.ts";

/** Dependencies of the transports. */
export interface TransportContext {
  readonly handler: Handler;
  readonly admission: Admission;
  /** Time that the Keep-Alive header announces. */
  readonly keepAliveSeconds: number;
  /** When the server began to stop, in milliseconds of `performance.now()`; infinite while it runs. */
  readonly stoppedAtMs: () => number;
  readonly flushQueue: FlushQueue;
  readonly onError: (error: unknown) => void;
}

/** A request on a connection, and what its transport does for it. The defaults are those of a request that has arrived. */
export abstract class TransportRequest extends ServerRequest {
  readonly connection: ClientConnection;
  readonly isLate: boolean;
  /** True if no request is read after this one. */
  readonly isFinal: boolean = false;

  constructor(connection: ClientConnection, head: RequestHead) {
    super(head);
    this.connection = connection;
    this.isLate = connection.isLate(this.receivedAtMs);
  }

  /** True if the whole request has arrived. */
  get isComplete(): boolean {
    return true;
  }

  /** The rest of the request will not arrive, or cannot be read. Call it only while the request is incomplete. */
  fail(_error: RequestError): void {}

  /** True if the connection can carry another request. */
  get canContinue(): boolean {
    return true;
  }

  override trustClient(isTrusted: boolean): void {
    this.connection.isTrusted = isTrusted;
  }

  /** Sends the response and calls `onSent` once, when the operating system has all of it. */
  abstract send(message: HttpMessage, onSent: () => void): void;
}

/** The stream through which node:http uses a connection. */
export interface ConnectionStream {
  /** Time of the last input, in milliseconds of `performance.now()`. */
  readonly lastInputAtMs: number;
  write(text: string): boolean;
  /** Passes further input to node:http, unless the connection is full. */
  resumeInput(): void;
  /** Ends the connection after what has been written. */
  destroySoon(): void;
}

/** A request without a response yet; or, without a request, a response to bytes that are not one. */
interface PendingRequest {
  readonly request: TransportRequest | undefined;
  result: RequestResult | undefined;
}

/** A client that connected or got a response so shortly before the stop may be sending a request already. */
const activeMs = 1000;
/** Time after the stop in which an active client may send one more request. */
export const graceMs = 250;

/**
 * Bytes of responses after which a further response waits until the client has read these. It also waits for the next
 * turn of the event loop, so that one client does not delay others.
 */
const maxUnsentBytes = 32 * 1024;

/** Memory for a request and its response, in bytes, without their text. */
const requestBytes = 512;

/** An open connection. */
export class ClientConnection {
  readonly socket: Socket;
  readonly #context: TransportContext;
  /** Requests without a response, oldest first. The first {@link maxPipelined} are in flight, the others are queued. */
  readonly #queue: PendingRequest[] = [];
  /** Requests whose response is handed to the transport but not yet sent, oldest first. */
  readonly #unsent: TransportRequest[] = [];
  /** Bytes of responses handed to the transport since all earlier ones were sent. */
  #unsentBytes = 0;
  #newest: TransportRequest | undefined;
  #stream: ConnectionStream | undefined;
  #isEnding = false;
  /** True while the fast lane waits for the rest of a request. */
  #isAwaitingRest = false;
  #onSettled: (() => void) | undefined;
  #onRoom: (() => void) | undefined;
  /**
   * True if the server accepted the last credential of the client. A client without one has one request at a time, so that
   * strangers who never read cost little memory.
   */
  isTrusted = false;
  readonly #openedAtMs = performance.now();
  #lastSentAtMs = Number.NEGATIVE_INFINITY;

  constructor(socket: Socket, context: TransportContext) {
    this.socket = socket;
    this.#context = context;
    context.admission.markIdle(this);
    // The close event follows.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      context.admission.markBusy(this);
      for (const request of this.#unsent.splice(0)) context.admission.release(request);
      this.#unsentBytes = 0;
      // Responses that waited for those before them release their memory too.
      this.flush();
    });
  }

  get admission(): Admission {
    return this.#context.admission;
  }

  /** True if no response is owed. */
  get isIdle(): boolean {
    return this.#queue.length === 0;
  }

  /** True if all responses are sent as well. */
  get isSettled(): boolean {
    return this.isIdle && this.#unsent.length === 0;
  }

  /** True if no further request is read. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** The request that arrived last. */
  get newest(): TransportRequest | undefined {
    return this.#newest;
  }

  /** True if bytes arrived after the last response: a request may be incomplete. */
  get isReceiving(): boolean {
    if (this.#isAwaitingRest) return true;
    return (this.#stream?.lastInputAtMs ?? Number.NEGATIVE_INFINITY) > this.#lastSentAtMs;
  }

  /** Returns whether a request arrives too late to be handled: after the stop, or after the grace period of an active client. */
  isLate(receivedAtMs: number): boolean {
    const sinceStopMs = receivedAtMs - this.#context.stoppedAtMs();
    const wasActive = this.#lastSentAtMs > this.#context.stoppedAtMs() - activeMs;
    return sinceStopMs > graceMs || (sinceStopMs >= 0 && !wasActive);
  }

  /** True if its client may be sending a request at the time of the stop. */
  get isExpectingRequest(): boolean {
    return Math.max(this.#lastSentAtMs, this.#openedAtMs) > this.#context.stoppedAtMs() - activeMs;
  }

  /**
   * True if more requests are in flight than the client may have, or if it has many bytes to read. No further input is read
   * then. Without a token, the rest of the body of the only request is still read.
   */
  get isFull(): boolean {
    if (!this.isTrusted) return !this.isSettled && this.#newest?.isComplete !== false;
    const requests = this.#queue.length + this.#unsent.length;
    return requests > this.admission.pipelineDepth || this.#unsentBytes >= maxUnsentBytes;
  }

  /** Returns whether the body of a create is worth waiting for: the server rejects nothing in its head. */
  isWelcome(head: RequestHead): boolean {
    return this.#context.handler.isWelcome(head);
  }

  /** A connection is not idle while the fast lane waits for the rest of a request. */
  awaitRest(isAwaited: boolean): void {
    this.#isAwaitingRest = isAwaited;
    if (isAwaited) this.admission.markBusy(this);
    else if (this.isSettled && !this.socket.destroyed) this.admission.markIdle(this);
  }

  /** Calls the listener once, when the connection is no longer full. */
  whenRoom(listener: () => void): void {
    this.#onRoom = listener;
  }

  /** Handles a request as soon as fewer than {@link maxPipelined} others are in flight. */
  accept(request: TransportRequest): void {
    this.#newest = request;
    if (request.isFinal) this.#isEnding = true;
    const pending = this.#enqueue(request);
    if (this.#queue.length <= maxPipelined) this.#handle(pending);
  }

  /**
   * Closes the connection after the responses in flight and an error for bytes that are not a complete request.
   * Bytes that belong to a request with a response get no second one.
   */
  reject(error: RequestError): void {
    this.#isEnding = true;
    if (this.#newest?.isComplete === false) {
      this.#settle();
      return;
    }
    this.#enqueue(undefined, error);
    this.#context.flushQueue.add(this);
  }

  /** Sends this error for each request in flight, and closes the connection. */
  cutOff(error: RequestError): void {
    this.#isEnding = true;
    for (const pending of this.#queue) pending.result ??= error;
    this.flush();
    this.#settle();
  }

  /** Closes the connection after the responses in flight. */
  end(): void {
    this.#isEnding = true;
    this.#settle();
  }

  /** Closes an idle connection. */
  close(): void {
    this.#isEnding = true;
    this.socket.destroy();
  }

  /** Sends everything through this stream from now on. */
  useStream(stream: ConnectionStream): void {
    this.#stream = stream;
  }

  /** Calls the listener once, when all responses are sent. */
  whenSettled(listener: () => void): void {
    this.#onSettled = listener;
    this.#settle();
  }

  /** Sends the responses that are known, in the order of the requests. Queued requests take their places. */
  flush(): void {
    const isMultiple = this.#queue.length > 1;
    if (isMultiple) this.socket.cork();
    for (;;) {
      const pending = this.#queue[0];
      if (pending?.result === undefined || this.#unsentBytes >= maxUnsentBytes) break;
      const { request, result } = pending;
      // node:http may hold back the responses before one that bypasses it.
      if ((request === undefined || isDropped(result)) && this.#unsent.length > 0) break;
      this.#queue.shift();
      const next = this.#queue[maxPipelined - 1];
      if (next !== undefined) this.#handle(next);
      try {
        this.#send(request, result);
      } catch (error) {
        // Only a bug gets here. It costs this connection and no other one.
        if (request !== undefined) this.admission.release(request);
        this.#context.onError(error);
        this.socket.destroy();
      }
    }
    if (isMultiple) this.socket.uncork();
    // node:http passes a response to the socket only at the end of the turn.
    if (this.socket.writableLength > 0 || this.#stream !== undefined) {
      for (const request of this.#unsent) this.admission.startTransfer(request);
    }
    if (this.socket.destroyed) return;
    if (this.isSettled && !this.#isAwaitingRest) this.admission.markIdle(this);
    this.#stream?.resumeInput();
    if (this.#onRoom === undefined || this.isFull) return;
    const onRoom = this.#onRoom;
    this.#onRoom = undefined;
    onRoom();
  }

  #enqueue(request: TransportRequest | undefined, result?: RequestResult): PendingRequest {
    const pending = { request, result };
    if (this.#queue.push(pending) === 1) this.admission.markBusy(this);
    return pending;
  }

  #handle(pending: PendingRequest): void {
    if (pending.request === undefined || pending.result !== undefined) return;
    void this.#context.handler.handle(pending.request).then((result) => {
      pending.result ??= result;
      this.#context.flushQueue.add(this);
    });
  }

  #send(request: TransportRequest | undefined, result: RequestResult): void {
    const atMs = performance.now();
    const isStopping = this.#context.stoppedAtMs() <= atMs;
    if ((isStopping && !this.#isAwaitingRest) || request?.canContinue === false) {
      this.#isEnding = true;
    }
    const isLast = this.#isEnding && this.#queue.length === 0;
    const keepAliveSeconds = isLast ? undefined : this.#context.keepAliveSeconds;
    const connectionHeaders = toConnectionHeaders(keepAliveSeconds);
    const isAborted = this.socket.destroyed;
    if (isDropped(result)) this.socket.destroy();
    const message = this.#context.handler.complete(
      request,
      result,
      atMs,
      isAborted,
      connectionHeaders,
    );
    this.#lastSentAtMs = atMs;
    if (this.socket.destroyed) {
      if (request !== undefined) this.admission.release(request);
    } else if (request === undefined) {
      (this.#stream ?? this.socket).write(toText(message));
      this.#settle();
    } else {
      const bytes = message.headers.length + message.bodyBytes + requestBytes;
      this.admission.holdResponse(request, message.bodyBytes);
      this.#unsent.push(request);
      this.#unsentBytes += bytes;
      request.send(message, this.#onSent);
    }
  }

  readonly #onSent = (): void => {
    const request = this.#unsent.shift();
    if (request !== undefined) this.admission.release(request);
    if (this.#unsent.length > 0) return;
    const wasFull = this.#unsentBytes >= maxUnsentBytes;
    this.#unsentBytes = 0;
    if (wasFull) this.#context.flushQueue.add(this);
    else this.flush();
    this.#settle();
  };

  #settle(): void {
    if (!this.isSettled) return;
    // An idle connection keeps nothing of its last request.
    if (this.#newest?.isComplete === true) this.#newest = undefined;
    this.#onSettled?.();
    this.#onSettled = undefined;
    if (!this.#isEnding) return;
    if (this.#stream === undefined) endGently(this.socket);
    else this.#stream.destroySoon();
  }
}

/**
 * Maximum time for flushes in one turn of the event loop. Node accepts one connection in a turn, so that long turns keep new
 * clients waiting.
 */
const maxFlushMs = 2;
/** The same in a turn that accepted a connection: others may wait behind it. */
const maxAcceptingFlushMs = 0.5;

/**
 * Flushes the connections of a server at the end of a turn of the event loop. Each write wakes up a client, and writing in a
 * row finds most of them awake.
 */
export class FlushQueue {
  readonly #connections = new Set<ClientConnection>();
  #isScheduled = false;
  #maxMs = maxFlushMs;

  add(connection: ClientConnection): void {
    this.#connections.add(connection);
    this.#schedule();
  }

  /** Leaves more time of this turn to new connections. */
  shorten(): void {
    this.#maxMs = maxAcceptingFlushMs;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    const endMs = performance.now() + this.#maxMs;
    this.#maxMs = maxFlushMs;
    for (const connection of this.#connections) {
      this.#connections.delete(connection);
      connection.flush();
      if (performance.now() > endMs) break;
    }
    if (this.#connections.size > 0) this.#schedule();
  };
}

/** Time for which a client may send nothing before an ended connection is closed. */
const lingerMs = 1000;
/** Maximum time for which an ended connection discards what the client sends. */
const maxLingerMs = 5000;

/**
 * Ends a connection after its last response. Closing it with unread bytes would reset it, and the client might lose the
 * response (RFC 9112 section 9.6), so the server first discards what the client still sends. May be called twice.
 */
export function endGently(socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return;
  socket.end();
  socket.resume();
  const close = (): void => void socket.destroy();
  const idleTimer = setTimeout(close, lingerMs);
  const timer = setTimeout(close, maxLingerMs);
  socket.on("data", () => idleTimer.refresh());
  socket.once("close", () => {
    clearTimeout(idleTimer);
    clearTimeout(timer);
  });
}

/** The bytes of a message, as text: ASCII except for the body. */
export function toText({ status, headers, body }: HttpMessage): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n${body}`;
}
