/** What a server tells of itself, true to how it was started: to programs, and to people. */
import { Refusal } from "../../core/errors.ts";
import { quoteInput } from "../../core/quote.ts";
import type { PageServer } from "./page.ts";
import { findPublicUrl, type PublicUrlOptions } from "./public-url.ts";
import type { Answer } from "../exchange/reply.ts";

/** What a server tells of itself. */
export interface SelfDescription {
  /**
   * The interface description (CONTRACT "HTTP"), with the URL that the client has used when that is one of the server's.
   *
   * @param hostHeader of the request
   */
  describe(hostHeader: string | undefined): Promise<Answer>;
  /**
   * The page for people. It asks for a token, so it is shown only under names that are known to be the server's.
   *
   * @param hostHeader of the request
   * @throws Refusal `noSuchPath` for any other name
   */
  show(hostHeader: string | undefined): Promise<Answer>;
}

/** A server has few URLs; a client may name any number of addresses and ports in its place. */
const maxRemembered = 16;

/** The description of one server; what makes it is loaded once somebody asks. */
export function createSelfDescription(server: PageServer & PublicUrlOptions): SelfDescription {
  const descriptions = new Map<string, Answer>();
  const pages = new Map<string, Answer>();
  return {
    async describe(hostHeader) {
      const { createOpenApiDocument, toOpenApiJson } = await import("../../core/openapi.ts");
      const url = findPublicUrl(hostHeader, server) ?? server.publicUrl ?? server.url;
      return remember(descriptions, url, () => ({
        status: 200,
        body: toOpenApiJson(createOpenApiDocument({ ...server, url })),
        headers: {},
      }));
    },
    async show(hostHeader) {
      const url = findPublicUrl(hostHeader, server);
      if (url === undefined) {
        throw new Refusal(
          "noSuchPath",
          `no page is shown under the name ${quoteInput(hostHeader ?? "", 80)}: use localhost or an address, or start the server with --public-url`,
        );
      }
      const { toPageAnswer } = await import("./page.ts");
      return remember(pages, url, () => toPageAnswer({ ...server, url }));
    },
  };
}

/** What was made for a URL; made anew when it never was, or long ago and for many others since. */
function remember(made: Map<string, Answer>, url: string, make: () => Answer): Answer {
  const known = made.get(url);
  if (known !== undefined) return known;
  const answer = make();
  made.set(url, answer);
  const [oldest = url] = made.keys();
  if (made.size > maxRemembered) made.delete(oldest);
  return answer;
}
