/** The HTTP messages of a create: makes the request, and parses the response (contract.md "Given"). */
import manifest from "../../package.json" with { type: "json" };
import { joinPath } from "../core/base-url.ts";
import { operations, resultHeader } from "../core/contract.ts";
import type { ErrorBody, Plant } from "../core/plant.ts";
import { parseErrorBody, parsePlant } from "../core/read-body.ts";
import { quoteInput } from "../core/quote.ts";
import type { SuccessfulResult } from "../core/store.ts";
import { NotAPlantStoreError, UnavailableError } from "./client-error.ts";
import type { HttpRequest, HttpResponse } from "./http/message.ts";

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
    url: joinPath(baseUrl, operations.create.path),
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

/** Response of a plant store. */
export type CreateResponse =
  | {
      readonly ok: true;
      readonly plant: Plant;
      /** Missing if the server does not report it; plantstore does. */
      readonly result?: SuccessfulResult | undefined;
    }
  | {
      readonly ok: false;
      readonly error: ErrorBody;
      /** Id of the request in the server's log. */
      readonly requestId?: string | undefined;
    };

/** Transient failures of a proxy in front of the plant store (RFC 6585 section 4, RFC 9110 section 15.6). */
export const gatewayStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/**
 * Parses the Plant or the Error of a response. An Error may have the status 400, or the status that its number begins
 * with. Text from the server never contains the token of the request.
 *
 * @throws NotAPlantStoreError for any other response
 * @throws UnavailableError for a transient failure of a proxy
 */
export function parseResponse(response: HttpResponse, request: CreateRequest): CreateResponse {
  const { status, headers, body } = response;
  const { url } = request;
  const foreign = (message: string): Error => new NotAPlantStoreError(url, message);
  const redact = (text: string): string => withoutToken(text, request);
  const read = (name: string): string | undefined => {
    const value = readHeader(headers, name);
    return value && redact(value);
  };

  if (status >= 300 && status <= 399) {
    const target = read("location") ?? "nowhere";
    throw foreign(`it redirects to ${quoteInput(target, 200)}, and redirects are not followed`);
  }
  const coding = read("content-encoding") ?? "identity";
  const type = read("content-type") ?? "none";
  const isReadable =
    coding.toLowerCase() === "identity" && /^application\/json[ \t]*(?:;|$)/i.test(type);
  const error = isReadable && status >= 400 ? parseErrorBody(body) : undefined;
  if (error !== undefined && (status === 400 || status === Math.trunc(error.error / 100))) {
    const message = redact(error.message);
    return { ok: false, error: { ...error, message }, requestId: read("x-request-id") };
  }
  if (gatewayStatuses.has(status)) throw new UnavailableError("gateway", url, `status ${status}`);
  if (status !== 200 && status !== 400) throw foreign(`its response has the status ${status}`);
  if (coding.toLowerCase() !== "identity") {
    throw foreign(`its response is compressed (${quoteInput(coding)})`);
  }
  if (!isReadable) {
    throw foreign(`its response has the content type ${quoteInput(type)}, not application/json`);
  }
  if (status === 400) throw foreign("its response has the status 400 but holds no Error");
  const plant = parsePlant(body);
  if (plant === undefined) throw foreign("its response has the status 200 but holds no Plant");
  return { ok: true, plant, result: toResult(read(resultHeader.toLowerCase())) };
}

/** Returns a header. Joins a repeated header as a list (RFC 9110 section 5.3). */
export function readHeader(headers: HttpResponse["headers"], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

function withoutToken(text: string, { headers }: CreateRequest): string {
  const token = headers["authorization"]?.replace(/^Bearer /, "");
  return token ? text.replaceAll(token, "[token]") : text;
}

function toResult(text: string | undefined): SuccessfulResult | undefined {
  return text === "created" || text === "unchanged" || text === "replaced" ? text : undefined;
}
