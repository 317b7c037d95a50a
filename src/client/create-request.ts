/** The request that creates a plant (contract.md "Given"). */
import manifest from "../../package.json" with { type: "json" };
import { joinPath } from "../core/base-url.ts";
import type { HttpRequest } from "./http/message.ts";

const userAgent = `plantstore/${manifest.version}`;

/** A create without its body. */
export type CreateRequest = Pick<HttpRequest, "url" | "headers" | "ca">;

/** Further parts of a request. */
interface RequestOptions {
  /** As in {@link HttpRequest}. */
  readonly ca?: string | undefined;
  /** Identifies the trace that the request belongs to (W3C Trace Context). */
  readonly traceparent?: string | undefined;
}

/**
 * Returns the URL and the headers of a create.
 *
 * @param baseUrl the plant store, including its base path, without a trailing slash
 * @param token undefined sends no credential
 */
export function toCreateRequest(
  baseUrl: string,
  token: string | undefined,
  { ca, traceparent }: RequestOptions = {},
): CreateRequest {
  return {
    url: joinPath(baseUrl, "/plants"),
    ...(ca !== undefined && { ca }),
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      "content-type": "application/json",
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": userAgent,
      ...(traceparent !== undefined && { traceparent }),
    },
  };
}
