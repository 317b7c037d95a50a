/** Finds out whether a plant store can take plants now, without creating one. */
import { type ErrorBody, parseErrorBody } from "../core/plant.ts";
import { NotAPlantStoreError, UnavailableError } from "./client-error.ts";
import { get } from "./http/post.ts";

/** Whom to ask. */
export interface CheckReadinessOptions {
  /** The plant store, with its base path if it has one; without a slash at the end. */
  readonly baseUrl: string;
  /** From the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Ends it early; it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/**
 * Asks the `/readyz` of a plant store, which is at the root of its server whatever its base path.
 *
 * @returns what is in the way; undefined when nothing is, and when something else answers there, as a proxy may, or nothing
 * @throws the signal's reason, once it is aborted
 */
export async function findHindrance({
  baseUrl,
  timeoutMs,
  signal,
}: CheckReadinessOptions): Promise<ErrorBody | undefined> {
  const { href } = new URL("/readyz", baseUrl);
  try {
    const { status, body } = await get({ url: href, timeoutMs, signal });
    return status === 503 ? parseErrorBody(body) : undefined;
  } catch (error) {
    if (error instanceof UnavailableError || error instanceof NotAPlantStoreError) return undefined;
    throw error;
  }
}
