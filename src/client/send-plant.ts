/** Creates one plant in a plant store, with retries. A create can be repeated safely. */
import { findErrorRow } from "../core/errors.ts";
import { UnavailableError } from "./client-error.ts";
import {
  type CreateRequest,
  type CreateResponse,
  parseResponse,
  readHeader,
} from "./create-messages.ts";
import type { Post } from "./http/message.ts";
import { parseRetryAfter, pause, toRetryDelayMs } from "./pause.ts";

/** Options for {@link sendPlant}. */
export interface SendPlantOptions {
  /** URL and headers, from `toCreateRequest`. */
  readonly request: CreateRequest;
  /** Limit for each attempt in milliseconds, from the name lookup to the last byte of the response. */
  readonly timeoutMs: number;
  /** Attempts after the first, if the failure is transient. */
  readonly retries: number;
  /** Sends each attempt: `post` of node:http, or that of a pool. */
  readonly post: Post;
  /** Aborts the create, which then rejects with the signal's reason. The plant may have been created. */
  readonly signal?: AbortSignal;
  /** Ends the pause before a retry. The create then returns the result of the last attempt. */
  readonly lastCall?: AbortSignal;
}

/** A failed attempt that will be repeated. */
export interface Retry {
  /** Counted from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly failure: Failure;
}

/** A missing response, or an Error. */
type Failure = UnavailableError | (CreateResponse & { readonly ok: false });

/** The last response to a create, with the number of attempts. */
export type FinalResponse = CreateResponse & { readonly attempts: number };

/**
 * Creates one plant.
 *
 * @param body the NewPlant as JSON
 * @param onRetry called for each failed attempt before its retry
 * @throws UnavailableError if the last attempt got no response of the store
 * @throws NotAPlantStoreError if another server responded
 */
export async function sendPlant(
  body: string,
  options: SendPlantOptions,
  onRetry?: (retry: Retry) => void,
): Promise<FinalResponse> {
  const { retries, signal, lastCall } = options;
  for (let attempt = 1; ; attempt++) {
    const { result, retryAfterMs } = await send(body, attempt, options);
    const failure = toTransientFailure(result);
    if (failure === undefined || attempt > retries) return finish(result, attempt);
    const delayMs = toRetryDelayMs(attempt, retryAfterMs, Math.random());
    onRetry?.({ attempt, delayMs, failure });
    await pause(delayMs, [signal, lastCall]);
    signal?.throwIfAborted();
    if (lastCall?.aborted) return finish(result, attempt);
  }
}

/** Returns the failure of a result if a retry may succeed. */
export function toTransientFailure(result: CreateResponse | UnavailableError): Failure | undefined {
  if (result instanceof UnavailableError) return isPermanent(result) ? undefined : result;
  if (result.ok) return undefined;
  const next = findErrorRow(result.error.error)?.next;
  return next === "retry" || next === "retryAfter" ? result : undefined;
}

async function send(
  body: string,
  attempt: number,
  { request, timeoutMs, post, signal }: SendPlantOptions,
) {
  let retryAfterMs: number | undefined;
  try {
    const response = await post({ ...request, body, timeoutMs, signal, isRetry: attempt > 1 });
    const retryAfter = readHeader(response.headers, "retry-after");
    if (retryAfter !== undefined) retryAfterMs = parseRetryAfter(retryAfter, Date.now());
    return { result: parseResponse(response, request), retryAfterMs };
  } catch (error) {
    if (error instanceof UnavailableError) return { result: error, retryAfterMs };
    throw error;
  }
}

/** A retry fixes neither an untrusted certificate nor an unknown host. */
function isPermanent({ reason, detail }: UnavailableError): boolean {
  return reason === "insecure" || (reason === "unknownHost" && detail !== "EAI_AGAIN");
}

function finish(result: CreateResponse | UnavailableError, attempts: number): FinalResponse {
  if (!(result instanceof UnavailableError)) return { ...result, attempts };
  const { reason, url, detail, cause } = result;
  throw new UnavailableError(reason, url, detail, { cause, attempts });
}
