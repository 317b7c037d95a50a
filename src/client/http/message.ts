/** HTTP requests and responses of the client. */

/** A request with a body. */
export interface HttpRequest {
  /** As in `core/base-url`, with the path. */
  readonly url: string;
  /** Certificates of trusted authorities, in PEM. Default: those of Node. */
  readonly ca?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Limit for the whole request in milliseconds, from the name lookup to the last byte of the response. */
  readonly timeoutMs: number;
  /** True if an earlier attempt failed. A pool then uses a separate connection, which no other request can delay. */
  readonly isRetry?: boolean;
  /** Aborts the request, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A complete response: not decompressed, and redirects not followed. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/**
 * Sends a POST request and reads the response.
 *
 * @throws UnavailableError without a complete response
 * @throws NotAPlantStoreError for a response that is not HTTP, or too long
 */
export type Post = (request: HttpRequest) => Promise<HttpResponse>;
