/** Deletes plants of a store over HTTP. */
import { errorTable } from "../core/errors.ts";
import {
  type ErrorResponse,
  parseError,
  type Retry,
  type SendPlantOptions,
  sendWithRetries,
  toTransientFailure,
} from "./create-plant.ts";
import type { ClientResponse } from "./http-request.ts";
import { mapInOrder } from "./map-in-order.ts";
import { type DeleteResponse, isUnreachable, StoppedError, UnavailableError } from "./results.ts";

/**
 * Deletes one plant. After a lost response or a failure of the store, a later one that no plant has the id counts as a deletion.
 *
 * @param onRetry called for each failed attempt before its retry
 * @throws UnavailableError if the last attempt got no response of the store; the plant may have been deleted
 * @throws NotAPlantStoreError if another server responded
 */
export async function deletePlant(
  id: bigint,
  options: SendPlantOptions,
  onRetry?: (retry: Retry) => void,
): Promise<DeleteResponse & { readonly attempts: number }> {
  const { "content-type": _, ...headers } = options.request.headers;
  const request = { ...options.request, headers, url: `${options.request.url}/${id}` };
  let mayBeDeleted = false;

  const parse = (response: ClientResponse): { readonly ok: true } | ErrorResponse => {
    const error = parseError(response, request, 204);
    if (error === undefined) return { ok: true };
    const wasSentBefore = mayBeDeleted || response.wasRepeated === true;
    return isAbsent(error) && wasSentBefore ? { ok: true } : error;
  };
  const noteRetry = (retry: Retry): void => {
    mayBeDeleted ||= isInDoubt(retry);
    onRetry?.(retry);
  };
  return sendWithRetries({ ...request, method: "DELETE", body: "" }, parse, options, noteRetry);
}

/** Checks for the Error that no plant has the id. */
function isAbsent({ error }: Pick<ErrorResponse, "error">): boolean {
  return error.error === errorTable.noSuchPlant.error;
}

/** The smallest number of an Error after which the store may have carried out the attempt: 50300 at a stop, for example. */
const firstDoubtful = 50_000;

/** Checks for a lost response, or a failure of the store: the store may have carried out the attempt. */
function isInDoubt({ failure }: Retry): boolean {
  if (!(failure instanceof UnavailableError)) return failure.error.error >= firstDoubtful;
  return failure.reason === "timeout" || failure.reason === "lost" || failure.reason === "gateway";
}

/** An id, and whether it had a plant; or why that is unknown, since its deletion failed after all retries. */
export type Deletion =
  | { readonly id: bigint; readonly isDeleted: boolean }
  | { readonly id: bigint; readonly failure: Error };

/** Options for {@link sendDeletions}. */
export interface SendDeletionsOptions extends Omit<SendPlantOptions, "signal"> {
  /** Requests in flight at a time; at least 1. */
  readonly concurrency: number;
  /** Once aborted, no further request is sent, and no attempt is repeated. */
  readonly stopSending: AbortSignal;
}

/** Deletions in a row that fail if the store is unavailable. */
const maxFailures = 3;

/**
 * Deletes plants, several at a time. Nothing more is sent if every other deletion would fail as well: the token is rejected,
 * another server responds, the server cannot be reached, or {@link maxFailures} in a row failed.
 *
 * @param ids each once
 * @returns the deletions in the order of the ids, as soon as they are known
 * @throws StoppedError, UnavailableError or NotAPlantStoreError after the deletions that were sent; what failed can be repeated
 */
export async function* sendDeletions(
  ids: Iterable<bigint>,
  options: SendDeletionsOptions,
  onRetry?: (retry: Retry) => void,
): AsyncGenerator<readonly Deletion[], void, undefined> {
  let failures = 0;
  let stopError: Error | undefined;

  /** @returns undefined if it was not sent */
  async function send(id: bigint): Promise<Deletion | undefined> {
    if (stopError !== undefined || options.stopSending.aborted) return undefined;
    let failure: Error;
    let isTransient: boolean;
    try {
      const response = await deletePlant(id, options, onRetry);
      if (response.ok || isAbsent(response)) {
        failures = 0;
        return { id, isDeleted: response.ok };
      }
      failure = new StoppedError(response, "the plants cannot be deleted");
      isTransient = toTransientFailure(response) !== undefined;
    } catch (error) {
      failure = error as Error;
      isTransient = error instanceof UnavailableError && !isUnreachable(error);
    }
    failures++;
    if (failures === maxFailures || !isTransient) stopError ??= failure;
    return { id, failure };
  }

  const results = mapInOrder(ids, send, {
    concurrency: options.concurrency,
    toSize: () => 0,
    maxSize: 1,
  });
  for await (const batch of results) {
    const deletions = batch.filter((result) => result !== undefined);
    if (deletions.length > 0) yield deletions;
  }
  if (stopError !== undefined) throw stopError;
}
