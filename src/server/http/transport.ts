/** Interfaces between the server, a connection and its transports. */
import type { Admission } from "../admission.ts";
import type { Handler } from "../handler.ts";
import type { HttpRequest } from "../request.ts";
import type { HttpMessage } from "../response.ts";

/** Dependencies of the transports. */
export interface TransportContext {
  readonly handler: Handler;
  readonly admission: Admission;
  /** Time that the Keep-Alive header announces. */
  readonly keepAliveSeconds: number;
  /** When the server began to stop, in milliseconds of `performance.now()`; infinite while it runs. */
  readonly stoppedAtMs: () => number;
  readonly onError: (error: unknown) => void;
}

/** A request with what its transport does for it. */
export interface TransportRequest extends HttpRequest {
  /** True if no request is read after this one. */
  readonly isFinal: boolean;
  /** True if the whole request has arrived. */
  isComplete(): boolean;
  /** True if the connection can carry another request. */
  canContinue(): boolean;
  /** Sends the response and calls `onSent` once, when the operating system has all of it. */
  send(message: HttpMessage, onSent: () => void): void;
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
