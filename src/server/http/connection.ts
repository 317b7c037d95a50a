/** One client connection: which of its requests are handled, which response is next, its time limits, and how it ends. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { HeaderPairs, RequestError } from "../../core/errors.ts";
import { type Admission, maxPipelined, type ServerLimits } from "../admission.ts";
import type { Handler, ReceivedCall } from "../handler.ts";
import {
  type RequestClient,
  requestIncomplete,
  requestTimedOut,
  type ServerRequest,
} from "../request.ts";
import { type CompleteResponse, serverStopping } from "../response.ts";
import { type ConnectionHeaders, lingeringClose, toResponseText } from "./response-bytes.ts";
import type { Scheduler } from "./scheduler.ts";
import { maxReadAheadBytes, type Slicer } from "./slicer.ts";

/** A request on a connection, and the way to send its response: one of the lane, or one of node:http. */
export interface Exchange extends ServerRequest {
  /** True if no request is read after this one. */
  readonly isFinal: boolean;
  /** True if the whole request has arrived. */
  readonly isComplete: boolean;
  /** True if the connection can carry another request. */
  readonly canContinue: boolean;
  /** The rest of the request will not arrive, or is not read. */
  fail(error: RequestError): void;
  /**
   * Sends the response.
   *
   * @param headers those of the connection, in addition to those of the response
   * @param onSent called once, when the operating system has all of the response
   */
  send(response: CompleteResponse, headers: HeaderPairs, onSent: () => void): void;
}

/** What reads a connection: the lane, and then the slicer in front of node:http. */
export interface Reader {
  /** Number of bytes that it did not pass on. */
  readonly bufferedBytes: number;
  /** Reads on, if the connection is not full. */
  readMore(): void;
}

/** What the connections of a server share. */
export interface ConnectionContext extends Pick<
  ServerLimits,
  "idleTimeoutMs" | "requestTimeoutMs"
> {
  readonly handler: Handler;
  readonly admission: Admission;
  readonly connectionHeaders: ConnectionHeaders;
  /** Time for a client to read the responses that it has been sent. */
  readonly readTimeoutMs: number;
  /** When the server began to stop, in milliseconds of `performance.now()`; infinite while it runs. */
  readonly stoppedAtMs: () => number;
  readonly onError: (error: unknown) => void;
  readonly scheduler: Scheduler;
}

/** A request without a response yet; or, without a request, a response to bytes that are not one. */
interface Pending {
  readonly call: ReceivedCall<Exchange> | undefined;
  response: CompleteResponse | undefined;
}

/** Additional time before an idle connection is closed: a client may be about to send a request. */
const idleGraceMs = 1000;

/** Bytes of responses after which a further response waits until the client has read these. */
const maxUnsentBytes = 32 * 1024;
/** Memory for a request and its response, in bytes, without their text. */
const requestBytes = 1024;

/** An open connection. */
export class Connection implements RequestClient {
  readonly socket: Socket;
  readonly admission: Admission;
  /** The request that arrived last; undefined once the connection is idle. */
  newest: Exchange | undefined;
  /** True if no further request is read. */
  isEnding = false;
  /**
   * True if the server accepted the last credential. A client without one has one request at a time, so that strangers who
   * never read cost little memory.
   */
  isTrusted = false;
  readonly #context: ConnectionContext;
  /** Requests without a response, oldest first. */
  readonly #queue: Pending[] = [];
  /** Requests whose response is not yet sent, oldest first. */
  readonly #unsent: Exchange[] = [];
  /** Bytes of the responses since the last time when all were sent. */
  #unsentBytes = 0;
  #reader: Reader | undefined;
  /** Set once node:http has the connection. */
  #slicer: Slicer | undefined;
  #givenUp: RequestError | undefined;
  /** Number of requests at the beginning of the queue that were handled, or whose response is known. */
  #started = 0;
  /** Those of them without a response, all of the same kind. */
  #running = 0;
  #runningCall: ReceivedCall<Exchange> | undefined;
  #leaving: AbortController | undefined;
  /** True once a slice was passed to node:http: the next one has to wait for its turn, or for new bytes. */
  #hasPassedSlice = false;
  /** True if a client without a valid token had more than {@link maxReadAheadBytes} behind its last request. */
  #isFlood = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #openedAtMs = performance.now();
  #lastSentAtMs = Number.NEGATIVE_INFINITY;
  #lastInputAtMs = Number.NEGATIVE_INFINITY;
  /** Since when the request arrives that is incomplete. */
  #receivingSinceMs = 0;

  constructor(socket: Socket, context: ConnectionContext) {
    this.socket = socket;
    this.admission = context.admission;
    this.#context = context;
    context.admission.idle.add(this);
    // The close event follows.
    socket.on("error", () => undefined);
    socket.once("end", () => this.#leaving?.abort());
    socket.once("close", () => {
      clearTimeout(this.#timer);
      this.#leaving?.abort();
      context.admission.idle.delete(this);
      for (const exchange of this.#unsent.splice(0)) context.admission.release(exchange);
      this.#unsentBytes = 0;
      // Responses that waited for those before them release their memory too.
      this.#flush();
    });
    this.#checkTime();
  }

  /** True if no response is owed. */
  get isIdle(): boolean {
    return this.#queue.length === 0;
  }

  /** True if all responses are sent as well. */
  get isSettled(): boolean {
    return this.isIdle && this.#unsent.length === 0;
  }

  /** As {@link RequestClient.signal}. */
  get signal(): AbortSignal {
    this.#leaving ??= new AbortController();
    if (this.socket.destroyed || this.socket.readableEnded) this.#leaving.abort();
    return this.#leaving.signal;
  }

  /** True if bytes arrived after the last response: a request may be incomplete. */
  get isReceiving(): boolean {
    return this.#lastInputAtMs > this.#lastSentAtMs || this.#hasBytes;
  }

  /**
   * True if more requests are in flight than the client may have, or if it has many bytes to read. No further input is read
   * then. Without a token, the rest of the body of the only request is still read.
   */
  get isFull(): boolean {
    if (!this.isTrusted) return !this.isSettled && this.newest?.isComplete !== false;
    const requests = this.#queue.length + this.#unsent.length;
    return requests > this.admission.pipelineDepth || this.#unsentBytes >= maxUnsentBytes;
  }

  get #hasBytes(): boolean {
    return this.#reader !== undefined && this.#reader.bufferedBytes > 0;
  }

  get #output(): Duplex {
    return this.#slicer ?? this.socket;
  }

  /** Reads through this reader from now on, and writes through it if it is that of node:http. */
  use(reader: Reader, slicer?: Slicer): void {
    this.#reader = reader;
    this.#slicer = slicer;
    if (this.#hasBytes) this.noteInput();
  }

  /** Handles a request as soon as fewer than {@link maxPipelined} others are in flight. */
  accept(exchange: Exchange): void {
    this.newest = exchange;
    if (exchange.isFinal) this.isEnding = true;
    if (!exchange.isComplete) this.#receivingSinceMs = exchange.receivedAtMs;
    const call = this.#context.handler.receive(exchange);
    const hasCredential = exchange.headers["authorization"] !== undefined;
    if (hasCredential) this.isTrusted = call.isTrusted;
    this.#enqueue({ call, response: undefined });
    this.#startNext();
  }

  /**
   * Closes the connection after the responses in flight and an error for bytes that are not a complete request.
   * Bytes that belong to a request with a response get no second one.
   */
  reject(error: RequestError): void {
    this.isEnding = true;
    if (this.newest?.isComplete !== false) {
      this.#enqueue({ call: undefined, response: this.#context.handler.reject(error) });
    }
    this.#flush();
  }

  /** Sends an error for each request in flight, and closes the connection. */
  giveUp(): void {
    this.isEnding = true;
    this.#givenUp = serverStopping;
    for (const pending of this.#queue) {
      const { call } = pending;
      if (call !== undefined) pending.response ??= this.#context.handler.giveUp(call);
    }
    this.#flush();
  }

  /** As {@link RequestClient.givenUp}. */
  get givenUp(): RequestError | undefined {
    return this.#givenUp ?? (this.socket.destroyed ? requestIncomplete : undefined);
  }

  /** Closes the connection after the responses in flight. */
  end(): void {
    this.isEnding = true;
    this.#settle();
  }

  /** Closes the connection at once. */
  close(): void {
    this.isEnding = true;
    this.socket.destroy();
  }

  sendResponses(): void {
    this.#flush();
    if (this.socket.destroyed) return;
    if (this.isSettled) this.admission.idle.add(this);
    if (this.#hasBytes) this.#context.scheduler.addReader(this);
    else if (!this.isFull) this.#reader?.readMore();
  }

  readRequests(): void {
    if (this.socket.destroyed) return;
    this.#hasPassedSlice = false;
    if (this.#isFlood && this.isSettled) this.close();
    else if (!this.isFull) this.#reader?.readMore();
  }

  /** Returns whether node:http may parse a slice now: one in each turn. Otherwise the turn follows. */
  mayPassSlice(): boolean {
    if (this.#hasPassedSlice) this.#context.scheduler.addReader(this);
    const mayPass = !this.#hasPassedSlice;
    this.#hasPassedSlice = true;
    return mayPass;
  }

  /** To be called before new bytes are read. */
  noteInput(): void {
    const nowMs = performance.now();
    if (!this.isReceiving) this.#receivingSinceMs = nowMs;
    this.#lastInputAtMs = nowMs;
    this.#hasPassedSlice = false;
  }

  #enqueue(pending: Pending): void {
    if (this.#queue.push(pending) === 1) this.admission.idle.delete(this);
  }

  /**
   * Handles requests one after the other, in their order (RFC 9112 section 9.3.2). Only changes with the same method and token run
   * at the same time, up to {@link maxPipelined}.
   */
  #startNext(): void {
    for (;;) {
      const next = this.#queue[this.#started];
      if (next === undefined || !this.#mayStart(next)) return;
      this.#started++;
      const { call } = next;
      if (call === undefined || next.response !== undefined) continue;
      this.#running++;
      this.#runningCall = call;
      void this.#context.handler.handle(call).then((response) => {
        this.#running--;
        this.isTrusted ||= call.isTrusted;
        if (next.response === undefined) {
          next.response = response;
          this.admission.holdResponse(call.request, response.bodyBytes);
        }
        this.#startNext();
        // By then, node:http has parsed what has arrived: the connection can continue if that is the whole request.
        this.#context.scheduler.addSender(this);
      });
    }
  }

  #mayStart({ call, response }: Pending): boolean {
    if (call === undefined || response !== undefined) return this.#running === 0;
    const { digest, route } = call;
    const running = this.#runningCall;
    const isChange = route.needs === "change";
    if (this.#running > 0) {
      const isEqual = route.operation === running?.route.operation && digest === running?.digest;
      return isChange && isEqual && this.#running < maxPipelined;
    }
    // Other responses can be large: they wait until the client has read those before them.
    return isChange || (this.#started === 0 && this.#unsentBytes < maxUnsentBytes);
  }

  /**
   * Sends the responses that are known, in the order of the requests, and ends the connection after the last one. Then starts
   * requests that waited for them.
   */
  #flush(): void {
    const isMultiple = this.#queue.length > 1;
    if (isMultiple) this.socket.cork();
    for (;;) {
      const pending = this.#queue[0];
      if (pending?.response === undefined || this.#unsentBytes >= maxUnsentBytes) break;
      // A response ended in the middle, as a fault says: none follows it.
      if (this.#output.writableEnded && !this.socket.destroyed) break;
      const { response } = pending;
      const exchange = pending.call?.request;
      // node:http may hold back the responses before one that bypasses it.
      const isBypass = exchange === undefined || response.lost !== undefined;
      if (isBypass && this.#unsent.length > 0) break;
      this.#queue.shift();
      if (this.#started > 0) this.#started--;
      try {
        this.#send(exchange, response);
      } catch (error) {
        // Only a bug gets here. It costs this connection and no other one.
        if (exchange !== undefined) this.admission.release(exchange);
        this.#context.onError(error);
        this.socket.destroy();
      }
    }
    if (isMultiple) this.socket.uncork();
    // These responses wait for their client, and may be evicted. What node:http writes is unknown before the end of the turn.
    if (this.socket.writableLength > 0 || this.#slicer !== undefined) {
      for (const exchange of this.#unsent) this.admission.startTransfer(exchange);
    }
    // After the end of the connection too: the responses behind it release their memory then.
    this.#startNext();
    this.#settle();
  }

  #send(exchange: Exchange | undefined, response: CompleteResponse): void {
    const { connectionHeaders, handler, stoppedAtMs } = this.#context;
    const isAborted = this.socket.destroyed;
    const nowMs = performance.now();
    if (stoppedAtMs() <= nowMs || exchange?.canContinue === false) this.isEnding = true;
    if (!this.isTrusted && this.newest?.isComplete === true) {
      this.#isFlood = (this.#reader?.bufferedBytes ?? 0) > maxReadAheadBytes;
    }
    if (response.lost === "all") this.socket.destroy();
    handler.report(exchange, response, isAborted);
    this.#lastSentAtMs = nowMs;
    if (this.socket.destroyed) {
      if (exchange !== undefined) this.admission.release(exchange);
      return;
    }
    const headers = connectionHeaders(this.isEnding && this.isIdle);
    if (exchange === undefined) {
      this.#output.write(toResponseText(response, headers));
      return;
    }
    if (response.lost === "half") {
      this.admission.release(exchange);
      this.#cut(toResponseText(response, headers), response.body.length);
      return;
    }
    this.#unsent.push(exchange);
    this.#unsentBytes += response.bodyBytes + requestBytes;
    exchange.send(response, headers, this.#onSent);
  }

  /**
   * Sends a response without the second half of its body, and closes the connection. One without a body ends in its status
   * line: some clients take the end of the connection for the end of the headers.
   */
  #cut(text: string, bodyLength: number): void {
    this.isEnding = true;
    const end = bodyLength === 0 ? "HTTP/1.".length : text.length - Math.ceil(bodyLength / 2);
    this.#output.write(text.slice(0, end));
    this.#finish();
  }

  readonly #onSent = (): void => {
    const exchange = this.#unsent.shift();
    if (exchange !== undefined) this.admission.release(exchange);
    if (this.#unsent.length > 0) return;
    this.#unsentBytes = 0;
    if (this.isIdle && !this.#hasBytes) this.sendResponses();
    else this.#context.scheduler.addSender(this);
  };

  #settle(): void {
    if (!this.isSettled) return;
    // An idle connection keeps nothing of its last request.
    if (this.newest?.isComplete === true) this.newest = undefined;
    // A request that waited for the responses begins to arrive now.
    if (this.#hasBytes) this.#receivingSinceMs = performance.now();
    if (this.isEnding) this.#finish();
  }

  #finish(): void {
    if (this.#slicer === undefined) lingeringClose(this.socket);
    else this.#slicer.destroySoon();
  }

  /**
   * When the client loses its connection, in milliseconds of `performance.now()`: it does not read, does not send the rest of
   * a request, or sends none. Infinite while it waits for the server.
   */
  get #deadlineMs(): number {
    const { idleTimeoutMs, readTimeoutMs, requestTimeoutMs } = this.#context;
    if (this.#unsent.length > 0) return this.#lastSentAtMs + readTimeoutMs;
    const receivingSinceMs = Math.max(this.#receivingSinceMs, this.#lastSentAtMs);
    if (this.newest?.isComplete === false) return receivingSinceMs + requestTimeoutMs;
    if (!this.isIdle) return Number.POSITIVE_INFINITY;
    if (this.isReceiving) return receivingSinceMs + requestTimeoutMs / 3;
    return Math.max(this.#openedAtMs, this.#lastSentAtMs) + idleTimeoutMs + idleGraceMs;
  }

  /** The only timer. It runs at least as often as the shortest deadline that can begin, so that no request has to start one. */
  readonly #checkTime = (): void => {
    const shortestMs = this.#context.requestTimeoutMs / 3;
    let leftMs = this.#deadlineMs - performance.now();
    if (leftMs <= 0) {
      this.#timeOut();
      leftMs = shortestMs;
    }
    if (this.socket.destroyed) return;
    this.#timer = setTimeout(this.#checkTime, Math.ceil(Math.min(leftMs, shortestMs)));
  };

  #timeOut(): void {
    const newest = this.newest;
    if (this.#unsent.length > 0) this.close();
    else if (newest?.isComplete === false) {
      if (this.isIdle) this.end();
      else newest.fail(requestTimedOut);
    } else if (this.isReceiving) {
      if (!this.isEnding) this.reject(requestTimedOut);
    } else if (!this.isEnding) this.close();
  }
}
