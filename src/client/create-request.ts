/** The request that creates a plant: where it goes, and what goes with it (CONTRACT part 1). */
import type { HttpRequest } from "./http/message.ts";

/**
 * All of it but the body.
 *
 * @param baseUrl the plant store, with its base path if it has one; without a slash at the end
 * @param token absent: without a credential
 */
export function toCreateRequest(
  baseUrl: string,
  token: string | undefined,
): Pick<HttpRequest, "url" | "headers"> {
  return {
    url: `${baseUrl}/plants`,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      "content-type": "application/json",
      accept: "application/json",
      "accept-encoding": "identity",
    },
  };
}
