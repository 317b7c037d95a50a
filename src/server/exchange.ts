/** One request and its answer, and what is under way on a connection. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Refusal } from "../core/errors.ts";

/** One request and its answer. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client waits for a 100 before it sends the body (RFC 9110 section 10.1.1). */
  isContinueAwaited: boolean;
  #broken: Refusal | undefined;
  #onBroken: ((refusal: Refusal) => void) | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, isContinueAwaited: boolean) {
    this.request = request;
    this.response = response;
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

  /** The rest of this request will not come: what did come is not HTTP, or it took too long. */
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

/** The exchanges under way on each connection, in the order of their requests: a client may pipeline. */
export class OpenExchanges {
  readonly #bySocket = new WeakMap<Duplex, Exchange[]>();

  add(exchange: Exchange): void {
    const { socket } = exchange.request;
    this.#bySocket.set(socket, [...this.on(socket), exchange]);
    exchange.response.once("close", () => {
      const rest = this.on(socket).filter((each) => each !== exchange);
      this.#bySocket.set(socket, rest);
    });
  }

  on(socket: Duplex): readonly Exchange[] {
    return this.#bySocket.get(socket) ?? [];
  }
}
