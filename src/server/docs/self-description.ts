/** The OpenAPI document and the documentation page of a server, with the options it was started with. */
import { isIP } from "node:net";
import { RequestError } from "../../core/errors.ts";
import { quoteInput } from "../../core/messages.ts";
import type { StoreKind } from "../../core/store.ts";
import type { ServerRequest } from "../request.ts";
import type { ServerResponse } from "../response.ts";
import type { PageServer } from "./page.ts";

/** The part of a request that says under which name the server was asked. */
type AskedRequest = Pick<ServerRequest, "headers" | "isOfProgram">;

export interface DescribedPlantServer extends PageServer, PublicUrlOptions {}

/** URLs and names of a server. */
interface PublicUrlOptions {
  /** URL on which it listens, with the base path. */
  readonly url: string;
  /** Configured name or address to listen on. */
  readonly host: string;
  /** URL for clients of a proxy, with the base path. */
  readonly publicUrl?: string | undefined;
}

/** A server has few URLs, but clients can send any number of addresses and ports. */
const maxRemembered = 16;

/** Creates the descriptions of one server. Their code is loaded with the first request. */
export function createSelfDescription(server: DescribedPlantServer) {
  return {
    /** Responds with the OpenAPI document. */
    describe: createDescription(server, async (described) => {
      const { createOpenApiDocument, toOpenApiJson } = await import("../../core/openapi.ts");
      const body = toOpenApiJson(createOpenApiDocument(described));
      return { status: 200, body, headers: [] };
    }),
    /** Responds with the page. */
    show: createDescription(server, async (described) => {
      const { toPageResponse } = await import("./page.ts");
      return toPageResponse(described);
    }),
  };
}

/** Describes a server with the URL that the client used, under the names of the server only. */
function createDescription(
  server: DescribedPlantServer,
  create: (server: PageServer) => Promise<ServerResponse>,
) {
  const responses = new Map<string, Promise<ServerResponse>>();
  return async (
    request: AskedRequest,
    storeKind?: StoreKind,
  ): Promise<ServerResponse | RequestError> => {
    const url = findPublicUrl(request, server);
    if (url === undefined) return toNameError(request);
    const key = `${storeKind} ${url}`;
    const known = responses.get(key);
    if (known !== undefined) return known;
    if (responses.size >= maxRemembered) responses.clear();
    const response = create({ ...server, url, storeKind });
    responses.set(key, response);
    return response;
  };
}

/** Error for a path that is only available under the names of the server. */
export function toNameError({ headers }: AskedRequest): RequestError {
  const name = quoteInput(headers["host"] ?? "", 80);
  return new RequestError(
    "noSuchPath",
    `this path is not available under the name ${name}: use localhost or an address, or start the server with --public-url (publicUrl in a program)`,
  );
}

/** Names without special characters, and addresses (RFC 3986 section 3.2.2), with an optional port. */
const plainHost = /^(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d*)?$/i;

const localName = /^(?:.+\.)?localhost$/;

/**
 * Returns the URL before `/plants` for a client that sent this Host header.
 *
 * @returns undefined if the header names another host. Addresses and `localhost` are always accepted; a foreign name
 * server can point any other name to this server (DNS rebinding), unless a program chose the host
 */
export function findPublicUrl(
  { headers, isOfProgram }: AskedRequest,
  { url, host, publicUrl }: PublicUrlOptions,
): string | undefined {
  const { host: hostHeader } = headers;
  if (hostHeader === undefined) return publicUrl ?? url;
  const { protocol, pathname } = new URL(url);
  const asked = `${protocol}//${hostHeader}${pathname}`;
  if (!plainHost.test(hostHeader) || !URL.canParse(asked)) return undefined;
  const { hostname, href } = new URL(asked);
  const name = toHostName(hostname);
  const others = publicUrl === undefined ? [host] : [host, new URL(publicUrl).hostname];
  const isOwn = isIP(name) !== 0 || localName.test(name) || others.map(toHostName).includes(name);
  if (!isOwn && isOfProgram !== true) return undefined;
  return publicUrl ?? href.replace(/\/$/, "");
}

/** Normalizes a name: lower case, without brackets and without a final dot (RFC 3986 section 3.2.2). */
function toHostName(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}
