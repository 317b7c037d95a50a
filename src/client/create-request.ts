/** The request that creates a plant (contract.md "Given"). */
import manifest from "../../package.json" with { type: "json" };
import type { HttpRequest } from "./http/message.ts";

const userAgent = `plantstore/${manifest.version}`;

/** A create without its body. */
export type CreateRequest = Pick<HttpRequest, "url" | "headers">;

/**
 * Returns the URL and the headers of a create.
 *
 * @param baseUrl the plant store, including its base path, without a trailing slash
 * @param token undefined sends no credential
 */
export function toCreateRequest(baseUrl: string, token: string | undefined): CreateRequest {
  return {
    url: `${baseUrl}/plants`,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      "content-type": "application/json",
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": userAgent,
    },
  };
}
