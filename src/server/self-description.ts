/** What a server tells of itself, true to how it was started: to programs, and to people. */
import { Refusal } from "../core/errors.ts";
import type { DescribedServer } from "../core/openapi.ts";
import { quoteInput } from "../core/quote.ts";
import type { PageServer } from "./docs/page.ts";
import { findPublicUrl, type PublicUrlOptions } from "./public-url.ts";
import type { Answer } from "./reply.ts";

/**
 * The interface description (CONTRACT "HTTP"), with the URL that the client has used when that is one of the server's.
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

/**
 * The page for people. It asks for a token, so it is shown only under names that are known to be the server's.
 *
 * @param hostHeader of the request
 * @throws Refusal `noSuchPath` for any other name
 */
export async function showServer(
  server: PageServer & PublicUrlOptions,
  hostHeader: string | undefined,
): Promise<Answer> {
  const url = findPublicUrl(hostHeader, server);
  if (url === undefined) {
    throw new Refusal(
      "noSuchPath",
      `no page is shown under the name ${quoteInput(hostHeader ?? "", 80)}: use localhost or an address, or start the server with --public-url`,
    );
  }
  const { toPageAnswer } = await import("./docs/page.ts");
  return toPageAnswer({ ...server, url });
}
