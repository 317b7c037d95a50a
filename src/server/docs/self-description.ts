/** The OpenAPI document and the documentation page of a server, with the options it was started with. */
import { RequestError } from "../../core/errors.ts";
import { quoteInput } from "../../core/quote.ts";
import type { HttpResponse } from "../response.ts";
import type { PageServer } from "./page.ts";
import { findPublicUrl, type PublicUrlOptions } from "./public-url.ts";

/** Describes a server to programs and to people. */
export interface SelfDescription {
  /**
   * Responds with the OpenAPI document. Its URL is the one that the client used, if that belongs to the server.
   *
   * @param hostHeader Host header of the request
   */
  describe(hostHeader: string | undefined): Promise<HttpResponse>;
  /**
   * Responds with the page. It asks for a token, so it is shown only under a name of the server.
   *
   * @param hostHeader Host header of the request
   * @returns a RequestError `noSuchPath` for any other name
   */
  show(hostHeader: string | undefined): Promise<HttpResponse | RequestError>;
}

/** A server has few URLs, but clients can send any number of addresses and ports. */
const maxRemembered = 16;

/** Creates the descriptions of one server. Their code is loaded with the first request. */
export function createSelfDescription(server: PageServer & PublicUrlOptions): SelfDescription {
  const descriptions = new Map<string, HttpResponse>();
  const pages = new Map<string, HttpResponse>();
  return {
    async describe(hostHeader) {
      const { createOpenApiDocument, toOpenApiJson } = await import("../../core/openapi.ts");
      const url = findPublicUrl(hostHeader, server) ?? server.publicUrl ?? server.url;
      return remember(descriptions, url, () => ({
        status: 200,
        body: toOpenApiJson(createOpenApiDocument({ ...server, url })),
        headers: "",
      }));
    },
    async show(hostHeader) {
      const url = findPublicUrl(hostHeader, server);
      if (url === undefined) {
        const name = quoteInput(hostHeader ?? "", 80);
        return new RequestError(
          "noSuchPath",
          `the page is not available under the name ${name}: use localhost or an address, or start the server with --public-url`,
        );
      }
      const { toPageResponse } = await import("./page.ts");
      return remember(pages, url, () => toPageResponse({ ...server, url }));
    },
  };
}

/** Returns the response for a URL; creates it if it is not among the last few. */
function remember(
  responses: Map<string, HttpResponse>,
  url: string,
  create: () => HttpResponse,
): HttpResponse {
  const known = responses.get(url);
  if (known !== undefined) return known;
  const response = create();
  responses.set(url, response);
  const [oldest = url] = responses.keys();
  if (responses.size > maxRemembered) responses.delete(oldest);
  return response;
}
