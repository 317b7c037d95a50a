/** One request on a connection of undici's, up to the last byte of its answer or the end of its time. */
import type { Dispatcher } from "undici";
import errors from "undici/lib/core/errors.js";
import { UnavailableError } from "../client-error.ts";
import { createNoHttpError, createTooLongError, toClientError } from "./failure.ts";
import type { HttpAnswer, HttpRequest } from "./message.ts";

/** For the connections: there is one clock for the whole of an exchange instead of one for each part of it. */
export const withoutTimeouts = { headersTimeout: 0, bodyTimeout: 0 } as const;

/** To be sent once. On a shared connection undici may start it again when it was not answered. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #maxAnswerBytes: number;
  readonly #answer: Promise<HttpAnswer>;
  #resolve: (answer: HttpAnswer) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #cancelled: Error | undefined;
  #status = 0;
  #headers: HttpAnswer["headers"] = {};
  #chunks: Buffer[] = [];

  /** @param maxAnswerBytes what the dispatcher takes, for the message */
  constructor(request: HttpRequest, maxAnswerBytes: number) {
    this.#request = request;
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /**
   * Sends the request, and reads its answer.
   *
   * @throws the reason of the request's signal, which is not listened to, when it is aborted at the end
   * @throws as every Post
   */
  async send(dispatcher: Dispatcher, path: string): Promise<HttpAnswer> {
    const { url, headers, body, timeoutMs, signal } = this.#request;
    const timer = setTimeout(() => {
      this.#cancel(new UnavailableError("timeout", url, `waited ${timeoutMs / 1000} s`));
    }, timeoutMs);
    // Not idempotent by its method, but by the contract of who sends it; and the next one need not wait for its answer.
    const hints = { idempotent: true, blocking: false };
    try {
      dispatcher.dispatch({ method: "POST", path, headers, body, ...hints }, this);
      return await this.#answer;
    } catch (error) {
      signal?.throwIfAborted();
      throw this.#toClientError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#chunks = [];
    if (this.#cancelled !== undefined) controller.abort(this.#cancelled);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: HttpAnswer["headers"],
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }

  /** Gives it up, and with it the connection that it was sent on. */
  #cancel(reason: Error): void {
    this.#cancelled = reason;
    this.#controller?.abort(reason);
    this.#reject(reason);
  }

  #toClientError(error: unknown): unknown {
    const { url } = this.#request;
    const options = { cause: error };
    if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
      return createNoHttpError(url, error.message, options);
    }
    if (error instanceof errors.ResponseExceededMaxSizeError) {
      return createTooLongError(url, this.#maxAnswerBytes, options);
    }
    return error instanceof errors.InvalidArgumentError ? error : toClientError(error, url);
  }
}
