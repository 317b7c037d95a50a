/** Creates one plant in a plant store, and again while the store is unavailable: a create can be repeated safely. */
import { errorTable } from "../core/errors.ts";
import { type CreateAnswer, parseAnswer, readHeader } from "./answer.ts";
import { UnavailableError } from "./client-error.ts";
import { toCreateRequest } from "./create-request.ts";
import type { Post } from "./http/message.ts";
import { post } from "./http/post.ts";
import { pause } from "./pause.ts";
import { parseRetryAfter, toRetryDelayMs } from "./retry-delay.ts";

/** How a plant is created. */
export interface CreatePlantOptions {
  /** The plant store, with its base path if it has one; without a slash at the end. */
  readonly baseUrl: string;
  readonly token: string;
  /** For each attempt, from the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Whether it may be tried again after so many attempts that failed for a reason that passes. */
  readonly mayRetry: (attempts: number) => boolean;
  /** Sends the first attempt; by default each one has a connection of its own, as all further ones have. */
  readonly postFirst?: Post;
  /** Ends it early; it then rejects with the signal's reason, and the plant may or may not be there. */
  readonly signal?: AbortSignal;
  /** Ends the pause before another attempt, which is not made then. */
  readonly lastCall?: AbortSignal;
}

/** An attempt that failed and will be repeated. */
export interface Retry {
  /** Counted from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  /** Why it failed. */
  readonly failure: Failure;
}

/** No answer of the store, or an Error. */
type Failure = UnavailableError | (CreateAnswer & { readonly ok: false });

/** What came of it, and how often it was tried. */
export type CreateOutcome = CreateAnswer & { readonly attempts: number };

interface Attempt {
  readonly result: CreateAnswer | UnavailableError;
  readonly retryAfterMs?: number | undefined;
}

const passingErrors: ReadonlySet<number> = new Set([
  errorTable.requestTimeout.error,
  errorTable.shuttingDown.error,
  errorTable.overloaded.error,
  errorTable.storageFull.error,
]);

/**
 * Creates one plant.
 *
 * @param body the NewPlant as JSON
 * @param onRetry is told of each attempt that failed and will be repeated
 * @throws UnavailableError when the last attempt got no answer of the store
 * @throws NotAPlantStoreError when something else answered
 */
export async function createPlant(
  body: string,
  options: CreatePlantOptions,
  onRetry?: (retry: Retry) => void,
): Promise<CreateOutcome> {
  for (let attempt = 1; ; attempt++) {
    const { result, retryAfterMs } = await tryToCreate(body, attempt, options);
    const failure = toPassingFailure(result);
    if (failure === undefined || !options.mayRetry(attempt)) return finish(result, attempt);
    const delayMs = toRetryDelayMs(attempt, retryAfterMs, Math.random());
    onRetry?.({ attempt, delayMs, failure });
    await pause(delayMs, [options.signal, options.lastCall]);
    options.signal?.throwIfAborted();
    if (options.lastCall?.aborted) return finish(result, attempt);
  }
}

/** The failure that a create came to, if it may be over in a moment. */
export function toPassingFailure(result: CreateAnswer | UnavailableError): Failure | undefined {
  if (result instanceof UnavailableError) return isLasting(result) ? undefined : result;
  return !result.ok && passingErrors.has(result.error.error) ? result : undefined;
}

async function tryToCreate(
  body: string,
  attempt: number,
  { baseUrl, token, timeoutMs, postFirst = post, signal }: CreatePlantOptions,
): Promise<Attempt> {
  const request = toCreateRequest(baseUrl, token);
  let retryAfterMs: number | undefined;
  try {
    const send = attempt === 1 ? postFirst : post;
    const answer = await send({ ...request, body, timeoutMs, signal });
    const retryAfter = readHeader(answer.headers, "retry-after");
    if (retryAfter !== undefined) retryAfterMs = parseRetryAfter(retryAfter, Date.now());
    return { result: parseAnswer(answer, request.url), retryAfterMs };
  } catch (error) {
    if (error instanceof UnavailableError) return { result: error, retryAfterMs };
    throw error;
  }
}

/** A certificate does not become trustworthy by asking again, nor a name known. */
function isLasting({ reason, detail }: UnavailableError): boolean {
  return reason === "insecure" || (reason === "unknownHost" && detail !== "EAI_AGAIN");
}

function finish(result: CreateAnswer | UnavailableError, attempts: number): CreateOutcome {
  if (!(result instanceof UnavailableError)) return { ...result, attempts };
  const { reason, url, detail, cause } = result;
  throw new UnavailableError(reason, url, detail, { cause, attempts });
}
