/** Deletes plants of a store over HTTP. */
import { errorTable } from "../core/errors.ts";
import { isRetryable, parseError, type SendPlantOptions, sendWithRetries } from "./create-plant.ts";
import { mapInOrder } from "./map-in-order.ts";
import {
  type DeleteResponse,
  type ErrorResponse,
  isUnreachable,
  type StopCause,
  StoppedError,
  UnavailableError,
} from "./results.ts";

/**
 * Deletes one plant. If the outcome of an earlier attempt is unknown, a later Error that no plant has the id means that the
 * plant is gone.
 *
 * @throws UnavailableError if the last attempt got no response of the store; the plant may have been deleted
 * @throws NotAPlantStoreError if another server responded
 */
export async function sendDeletion(
  id: bigint,
  { request: { headers: createHeaders, url, ca }, ...options }: SendPlantOptions,
): Promise<Exclude<DeleteResponse, ErrorResponse> | StopCause> {
  const { "content-type": _, ...headers } = createHeaders;
  const request = { url: `${url}/${id}`, headers, ca };
  let isInDoubt = false;
  return sendWithRetries(
    { ...request, method: "DELETE", body: "" },
    (response): DeleteResponse => {
      isInDoubt ||= response.wasRepeated === true;
      const error = parseError(response, request, 204);
      if (error === undefined) return { ok: true };
      return isInDoubt && isAbsent(error) ? { ok: true, gone: true } : error;
    },
    {
      ...options,
      onRetry(retry) {
        isInDoubt ||= isOutcomeUnknown(retry.failure);
        options.onRetry?.(retry);
      },
    },
  );
}

/** Checks for the Error that no plant has the id. */
function isAbsent({ error }: ErrorResponse): boolean {
  return error.error === errorTable.noSuchPlant.error;
}

/** Checks for a failed attempt that the store may have carried out. */
function isOutcomeUnknown(failure: UnavailableError | ErrorResponse): boolean {
  if (!(failure instanceof UnavailableError)) {
    return failure.error.error === errorTable.outcomeUnknown.error;
  }
  const { reason, status } = failure;
  return reason === "timeout" || reason === "lost" || status === 502 || status === 504;
}

/** What became of an id: `gone` if it has no plant, but an earlier attempt may have deleted it; `absent` if it had none. */
export type Deletion =
  | { readonly id: bigint; readonly status: "deleted" | "gone" | "absent" }
  /** Its deletion failed after all retries, and the plant may have been deleted. */
  | { readonly id: bigint; readonly status: "failed"; readonly failure: Error };

export interface SendDeletionsOptions extends Omit<SendPlantOptions, "signal"> {
  /** Requests in flight at a time; at least 1. */
  readonly concurrency: number;
  /** Once aborted, no further request is sent, and no attempt is repeated. */
  readonly stopSending: AbortSignal;
}

/** After so many failed deletions in a row, the store counts as unavailable. */
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
): AsyncGenerator<readonly Deletion[], void, undefined> {
  let failures = 0;
  let stopError: Error | undefined;

  /** @returns undefined if it was not sent */
  async function handle(id: bigint): Promise<Deletion | undefined> {
    if (stopError !== undefined || options.stopSending.aborted) return undefined;
    let failure: Error;
    let isFailed: boolean;
    try {
      const response = await sendDeletion(id, options);
      if (response.ok || isAbsent(response)) {
        failures = 0;
        const found = response.ok && response.gone ? "gone" : "deleted";
        return { id, status: response.ok ? found : "absent" };
      }
      failure = new StoppedError(response, "the plants cannot be deleted");
      isFailed = isRetryable(response);
    } catch (error) {
      failure = error as Error;
      isFailed = error instanceof UnavailableError && !isUnreachable(error);
    }
    failures++;
    if (failures === maxFailures || !isFailed) stopError ??= failure;
    return { id, status: "failed", failure };
  }

  for await (const batch of mapInOrder(ids, handle, options)) {
    const deletions = batch.filter((result) => result !== undefined);
    if (deletions.length > 0) yield deletions;
  }
  if (stopError !== undefined) throw stopError;
}
