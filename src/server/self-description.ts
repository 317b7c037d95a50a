/** What a server tells of itself: the interface description, true to how it was started (CONTRACT "HTTP"). */
import type { DescribedServer } from "../core/openapi.ts";
import { findPublicUrl, type PublicUrlOptions } from "./public-url.ts";
import type { Answer } from "./reply.ts";

/**
 * The interface description, with the URL that the client has used when that is one of the server's.
 *
 * @param hostHeader of the request
 */
export async function describeServer(
  server: DescribedServer & PublicUrlOptions,
  hostHeader: string | undefined,
): Promise<Answer> {
  // Not every server is asked.
  const { createOpenApiDocument, toOpenApiJson } = await import("../core/openapi.ts");
  const url = findPublicUrl(hostHeader, server) ?? server.publicUrl ?? server.url;
  return {
    status: 200,
    body: toOpenApiJson(createOpenApiDocument({ ...server, url })),
    headers: {},
  };
}
