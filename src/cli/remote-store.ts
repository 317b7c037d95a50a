/** The plants of a server, for `list`, `get`, `export` and `delete`. */
import { type Retry, type SendPlantOptions, toCreateRequest } from "../client/create-plant.ts";
import type { Deletion } from "../client/delete-plants.ts";
import { listPage, listPages, maxPagePlants } from "../client/list-plants.ts";
import { mapInOrder } from "../client/map-in-order.ts";
import { PageTooLargeError, StoppedError } from "../client/results.ts";
import { operations } from "../core/contract.ts";
import { errorTable } from "../core/errors.ts";
import { int64Min, type NewPlant } from "../core/plant.ts";
import { type PlantFilter, type PlantQuery, useAndClose } from "../core/store.ts";
import { openTransport } from "../library/transport.ts";
import { CommandError, type ExitCodeName, UsageError } from "./command-error.ts";
import {
  describeUnavailable,
  type ErrorContext,
  toCommandError,
  toResponseError,
} from "./command-failure.ts";
import type { Run } from "./command.ts";
import { findToken, type FoundToken } from "./config/token-source.ts";
import { isStandardInput } from "./id-input.ts";
import { serverOptions } from "./options/local.ts";
import { bulkRetryOption } from "./options/remote.ts";
import { readOptions } from "./options/values.ts";
import { type Place, toLocalHints } from "./place.ts";
import { findAuthorities, selectPost, warnAboutPlaintext } from "./server-access.ts";

/** 16 requests in flight on each of 8 connections. */
const maxRequests = 128;

export interface FoundPlant {
  readonly id: bigint;
  readonly plant: NewPlant | undefined;
}

export class RemoteStore {
  readonly #url: string;
  readonly #sendOptions: SendPlantOptions;
  /** Requests in flight at a time. */
  readonly #concurrency: number;
  readonly #run: Run;
  #isRetryReported = false;

  constructor(url: string, sendOptions: SendPlantOptions, concurrency: number, run: Run) {
    this.#url = url;
    this.#sendOptions = { ...sendOptions, onRetry: this.#onRetry };
    this.#concurrency = concurrency;
    this.#run = run;
  }

  /** Reports the first failed attempt. */
  readonly #onRetry = (retry: Retry): void => {
    const { terminal } = this.#run;
    const problem = describeUnavailable(retry, this.#url);
    if (!this.#isRetryReported) void terminal.warning(`${problem}, retrying`);
    this.#isRetryReported = true;
  };

  /** Resolves with the plant of an id, after one request. @throws StoppedError, and as {@link listPage} */
  async get(id: bigint): Promise<NewPlant | undefined> {
    const after = id === int64Min ? undefined : id - 1n;
    const page = await listPage({ after, limit: 1 }, this.#sendOptions);
    if (!page.ok) throw new StoppedError(page);
    const [plant] = page.plants;
    return plant?.id === id ? plant : undefined;
  }

  /** Reads the plants of ids, several at a time. @returns in the order of the ids. */
  async *getAll(ids: AsyncIterable<bigint> | Iterable<bigint>): AsyncGenerator<FoundPlant, void> {
    const read = async (id: bigint) => {
      const plant = this.get(id);
      await plant.catch(() => {});
      return { id, plant };
    };
    for await (const batch of mapInOrder(ids, read, { concurrency: this.#concurrency })) {
      for (const { id, plant } of batch) yield { id, plant: await plant };
    }
  }

  /** Deletes plants, until the signal is aborted. */
  async *delete(
    ids: readonly bigint[],
    stopSending: AbortSignal,
  ): AsyncGenerator<readonly Deletion[], void, undefined> {
    const { sendDeletions } = await import("../client/delete-plants.ts");
    // A signal stops no request in flight.
    const { signal: _, ...sendOptions } = this.#sendOptions;
    try {
      yield* sendDeletions(ids, { ...sendOptions, concurrency: this.#concurrency, stopSending });
    } catch (error) {
      stopSending.throwIfAborted();
      throw error;
    }
  }

  /** Reads plants as pages, one at a time. None is empty. */
  async *readPages(query: PlantQuery): AsyncGenerator<readonly NewPlant[], void, undefined> {
    const { after, tag, limit } = query;
    const size = tag === undefined ? Math.min(limit, maxPagePlants) : maxPagePlants;
    let left = limit;
    const pages = listPages({ after, limit: size }, this.#sendOptions);
    for await (const page of pages) {
      const matching = tag === undefined ? page : page.filter((plant) => plant.tag === tag);
      const plants = matching.slice(0, left);
      left -= plants.length;
      if (plants.length > 0) yield plants;
      if (left === 0) return;
    }
  }

  /** Counts plants by reading all of them. */
  async count(filter: PlantFilter): Promise<number> {
    let count = 0;
    for await (const page of this.readPages({ ...filter, limit: Infinity })) count += page.length;
    return count;
  }
}

export interface ServerWork {
  /** True for several plants, whose requests have more retries. */
  readonly isMany?: boolean;
  /** True if the requests delete plants. */
  readonly deletes?: true;
  readonly signal?: AbortSignal;
}

/** Exit codes of a place that does not work, after which the user may have meant the store of this machine. */
const placeExits: readonly ExitCodeName[] = ["tokenRejected", "unavailable", "noPlantStore"];

export async function useServer<T>(
  run: Run,
  place: Place,
  work: (server: RemoteStore) => Promise<T>,
  { isMany = false, deletes, signal }: ServerWork,
): Promise<T> {
  const { flags, io, terminal, operands } = run;
  const { url } = place;
  const { tokenFile, cacert, timeoutMs, ...options } = readOptions(serverOptions, flags, io);
  const { retries } = isMany ? readOptions(bulkRetryOption, flags, io) : options;
  // Pages are read one after the other.
  const isConcurrent = isMany && operands.length > 0 && !options.isVerbose;
  const concurrency = isConcurrent ? maxRequests : 1;
  await terminal.namePlace("Server", url);
  if (tokenFile === "-" && isStandardInput(operands)) {
    throw new UsageError("standard input is the token (--token-file -) and cannot be the ids too");
  }
  const reading = signal ?? new AbortController().signal;
  const ca = await findAuthorities({ url, cacert }, io, reading);
  let found: FoundToken | undefined;
  try {
    found = await findToken(tokenFile, url, io, reading);
    await warnAboutPlaintext(url, terminal);
    const request = toCreateRequest(url, found.token, ca);
    const connections = await openTransport(undefined, request, { concurrency, timeoutMs });
    const post = await selectPost(options, terminal, connections.post);
    const sendOptions = { request, timeoutMs, retries, post, signal };
    return await useAndClose(connections, () =>
      work(new RemoteStore(url, sendOptions, concurrency, run)),
    );
  } catch (failure) {
    const source = { ...run, needsAll: true } as const;
    const operation = deletes ? "delete" : "list";
    const error = toServerError(failure, { url, source, token: found, operation });
    if (!(error instanceof CommandError && placeExits.includes(error.exit))) throw error;
    const { exit, message, number, hints } = error;
    const allHints = [...hints, ...toLocalHints(run, place)];
    throw new CommandError(exit, message, { cause: error, hints: allHints, number });
  }
}

/** Returns the error of a command for that of a request; any other error does not change. */
function toServerError(failure: unknown, context: ErrorContext): unknown {
  const { url, source, operation } = context;
  if (failure instanceof PageTooLargeError) {
    return new CommandError("internal", failure.message, { cause: failure });
  }
  if (!(failure instanceof StoppedError)) {
    return toCommandError(failure, source, "you can run the command again");
  }
  const { cause } = failure;
  const { error: number } = cause.error;
  // A server that only creates plants responds to a deletion as to a wrong path.
  const lacksOperation =
    number === errorTable.noSuchMethod.error ||
    (operation === "delete" && number === errorTable.noSuchPath.error);
  const isPathTwice = url.endsWith(operations.create.path);
  if (!lacksOperation || isPathTwice) return toResponseError(cause, context);
  const message = `the plant store at ${url} only creates plants: its operator can start it with --operations all; on its machine, use --store`;
  return new CommandError("noPlantStore", message, { cause: failure });
}
