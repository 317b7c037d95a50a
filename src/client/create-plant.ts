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

/** No answer, or an Error. */
type Failure = UnavailableError | (CreateAnswer & { readonly ok: false });

/** What came of it, and how often it was tried. */
export type CreateOutcome = CreateAnswer & { readonly attempts: number };

interface Attempt {
  readonly answer: CreateAnswer;
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
 * @throws UnavailableError when the last attempt got no answer
 * @throws NotAPlantStoreError when something else answered
 */
export async function createPlant(
  body: string,
  options: CreatePlantOptions,
  onRetry?: (retry: Retry) => void,
): Promise<CreateOutcome> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await tryToCreate(body, attempt, options);
    const failure = toPassingFailure(
      outcome instanceof UnavailableError ? outcome : outcome.answer,
    );
    if (failure === undefined || !options.mayRetry(attempt)) return finish(outcome, attempt);
    const retryAfterMs = outcome instanceof UnavailableError ? undefined : outcome.retryAfterMs;
    const delayMs = toRetryDelayMs(attempt, retryAfterMs, Math.random());
    onRetry?.({ attempt, delayMs, failure });
    await pause(delayMs, [options.signal, options.lastCall]);
    options.signal?.throwIfAborted();
    if (options.lastCall?.aborted) return finish(outcome, attempt);
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
): Promise<Attempt | UnavailableError> {
  const request = toCreateRequest(baseUrl, token);
  try {
    const send = attempt === 1 ? postFirst : post;
    const answer = await send({ ...request, body, timeoutMs, signal });
    const retryAfter = readHeader(answer.headers, "retry-after");
    return {
      answer: parseAnswer(answer, request.url),
      retryAfterMs: retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, Date.now()),
    };
  } catch (error) {
    if (error instanceof UnavailableError) return error;
    throw error;
  }
}

/** A certificate does not become trustworthy by asking again, nor a name known. */
function isLasting({ reason, message }: UnavailableError): boolean {
  return reason === "insecure" || (reason === "unknownHost" && message !== "EAI_AGAIN");
}

function finish(outcome: Attempt | UnavailableError, attempts: number): CreateOutcome {
  if (!(outcome instanceof UnavailableError)) return { ...outcome.answer, attempts };
  const { reason, url, message, cause } = outcome;
  throw new UnavailableError(reason, url, message, { cause, attempts });
}
