/** Finds out which status a server sends with a failure, from its description of itself. */
import { NotAPlantStoreError, UnavailableError } from "../../../client/client-error.ts";
import { get } from "../../../client/http/post.ts";
import type { Target } from "../../../conformance/conversation.ts";
import { joinPath, toEndpoint } from "../../../core/base-url.ts";
import type { StatusMode } from "../../../core/errors.ts";

/**
 * Reads `/openapi.json` at the root of a server.
 *
 * @returns `http` if it documents status 422 for a create; `contract` otherwise, and without a readable description
 * @throws UnavailableError if no connection can be opened
 */
export async function findStatusMode({
  url: baseUrl,
  ca,
  timeoutMs,
  signal,
}: Target): Promise<StatusMode> {
  const url = joinPath(toEndpoint(baseUrl).origin, "/openapi.json");
  try {
    const { body } = await get({ url, ca, timeoutMs, signal });
    const description = JSON.parse(new TextDecoder().decode(body)) as Description | null;
    const responses = description?.paths?.["/plants"]?.post?.responses;
    return responses?.["422"] === undefined ? "contract" : "http";
  } catch (error) {
    signal.throwIfAborted();
    const isUnreachable =
      error instanceof UnavailableError && /^(?:refused|unknownHost|insecure)$/.test(error.reason);
    const isDescribed = error instanceof UnavailableError || error instanceof NotAPlantStoreError;
    if (isUnreachable || !(isDescribed || error instanceof SyntaxError)) throw error;
    return "contract";
  }
}

/** The part of an OpenAPI document that is read. Any part of it may be missing. */
interface Description {
  readonly paths?: {
    readonly "/plants"?: { readonly post?: { readonly responses?: Record<string, unknown> } };
  };
}
