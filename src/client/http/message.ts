/** What is sent over HTTP, and what comes back. */

/** A request with a body. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For all of it, from the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Ends it early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A complete answer, as it came: not decompressed, and redirects not followed. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/**
 * Sends a request and reads its answer.
 *
 * @throws UnavailableError when no complete answer came
 * @throws NotAPlantStoreError when what came is not HTTP, or has no end
 */
export type Post = (request: HttpRequest) => Promise<HttpAnswer>;

/** Connections to one origin that are kept open from one request to the next. */
export interface Connections {
  /** Sends a POST on one of them, behind others that are not answered yet. It may arrive twice. */
  readonly post: Post;
  /** Cuts all of them off; requests under way reject. */
  close(): Promise<void>;
}
