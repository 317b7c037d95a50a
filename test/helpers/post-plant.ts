/** A create of any HTTP client. */

/** Options of a create besides its token and body. */
interface Init {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Sends the request. Default: the global `fetch`. */
  readonly send?: (url: string, init: RequestInit) => Promise<Response>;
}

/** Sends a plant, or the text of a body. */
export function postPlant(
  url: string,
  token: string,
  body: object | string,
  { send = fetch, ...init }: Init = {},
): Promise<Response> {
  return send(`${url}/plants`, {
    ...init,
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...init.headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}
