/** The plants of a server, for the commands that otherwise open a store on this machine. */
import { type Retry, type SendPlantOptions, toCreateRequest } from "../client/create-plant.ts";
import type { Deletion } from "../client/delete-plants.ts";
import { listPage, listPages, maxPagePlants } from "../client/list-plants.ts";
import { post } from "../client/http-request.ts";
import { PageTooLargeError, StoppedError } from "../client/results.ts";
import { operations } from "../core/contract.ts";
import { errorTable } from "../core/errors.ts";
import { int64Min, type NewPlant } from "../core/plant.ts";
import type { PlantFilter, PlantQuery } from "../core/store.ts";
import { createManyOptions } from "../library/client-options.ts";
import { CommandError, UsageError } from "./command-error.ts";
import {
  describeUnavailable,
  type ErrorContext,
  toCommandError,
  toResponseError,
} from "./command-failure.ts";
import type { Run } from "./command.ts";
import { findToken } from "./config/token-source.ts";
import { isStandardInput } from "./id-input.ts";
import { serverOptions } from "./options/local.ts";
import { bulkRetryOption } from "./options/remote.ts";
import { readOptions } from "./options/values.ts";
import { findAuthorities, warnAboutPlaintext } from "./server-access.ts";

/** The plants behind a URL. */
export class RemoteStore {
  readonly #url: string;
  readonly #sendOptions: SendPlantOptions;
  readonly #run: Run;
  #isRetryReported = false;
  #hasAllOperations = false;

  constructor(url: string, sendOptions: SendPlantOptions, run: Run) {
    this.#url = url;
    this.#sendOptions = sendOptions;
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
    const [plant] = await this.#list({ after, limit: 1 });
    return plant?.id === id ? plant : undefined;
  }

  /** Deletes plants, until the signal is aborted. @throws as {@link sendDeletions}, and as {@link listPage} */
  async *delete(
    ids: readonly bigint[],
    stopSending: AbortSignal,
  ): AsyncGenerator<readonly Deletion[], void, undefined> {
    // A server that only creates plants responds to a deletion as to a wrong path.
    if (!this.#hasAllOperations) await this.#list({ limit: 1 });
    this.#hasAllOperations = true;
    const { sendDeletions } = await import("../client/delete-plants.ts");
    const { openPool } = await import("../client/http-pool.ts");
    const { request, timeoutMs, retries } = this.#sendOptions;
    const concurrency = createManyOptions.concurrency.default;
    const pool = openPool(request.url, concurrency, timeoutMs, request.ca);
    const options = { request, timeoutMs, retries, concurrency, post: pool.post, stopSending };
    try {
      yield* sendDeletions(ids, options, this.#onRetry);
    } catch (error) {
      stopSending.throwIfAborted();
      throw error;
    } finally {
      await pool.close();
    }
  }

  async #list(query: Parameters<typeof listPage>[0]): Promise<readonly NewPlant[]> {
    const page = await listPage(query, this.#sendOptions, this.#onRetry);
    if (!page.ok) throw new StoppedError(page);
    return page.plants;
  }

  /** Reads plants as pages, one at a time. None is empty. @throws as {@link listPages} */
  async *readPages(query: PlantQuery): AsyncGenerator<readonly NewPlant[], void, undefined> {
    const { afterId, tag, limit } = query;
    const size = tag === undefined ? Math.min(limit, maxPagePlants) : maxPagePlants;
    let left = limit;
    const pages = listPages({ after: afterId, limit: size }, this.#sendOptions, this.#onRetry);
    for await (const page of pages) {
      const matching = tag === undefined ? page : page.filter((plant) => plant.tag === tag);
      const plants = matching.slice(0, left);
      left -= plants.length;
      if (plants.length > 0) yield plants;
      if (left === 0) return;
    }
  }

  /** Counts plants by reading all of them. @throws as {@link listPages} */
  async count(filter: PlantFilter): Promise<number> {
    await this.#run.terminal.note(`reading all plants of ${this.#url} to count them`);
    let count = 0;
    for await (const page of this.readPages({ ...filter, limit: Infinity })) count += page.length;
    return count;
  }
}

/** How to work with a server. */
export interface ServerWork {
  /** True for several plants, whose requests have more retries. */
  readonly isMany?: boolean;
  /** Stops requests. */
  readonly signal?: AbortSignal;
  /** Lines after the message of a failed request. */
  readonly toHints?: () => readonly string[];
}

/**
 * Finds the token of a server, names the server on stderr, and works with it.
 *
 * @throws CommandError without a token, or if a request fails; every other error of `work`
 */
export async function useServer<T>(
  run: Run,
  work: (server: RemoteStore) => Promise<T>,
  { isMany = false, signal, toHints = () => [] }: ServerWork,
): Promise<T> {
  const { flags, io, terminal, operands } = run;
  const options = readOptions(serverOptions, flags, io);
  const { url = "", tokenFile, cacert, timeoutMs } = options;
  const { retries } = isMany ? readOptions(bulkRetryOption, flags, io) : options;
  if (tokenFile === "-" && isStandardInput(operands)) {
    throw new UsageError("standard input is the token (--token-file -) and cannot be the ids too");
  }
  const reading = signal ?? new AbortController().signal;
  const ca = await findAuthorities({ url, cacert }, io, reading);
  const token = await findToken(tokenFile, url, io, reading).catch((error: unknown) => {
    throw toCommandError(error, run);
  });
  await warnAboutPlaintext(url, terminal);
  if (io.stderr.isTTY) await terminal.note(`Server: ${url}`);
  const request = toCreateRequest(url, token.token, ca);
  const server = new RemoteStore(url, { request, timeoutMs, retries, post, signal }, run);
  try {
    return await work(server);
  } catch (error) {
    throw toRequestError(error, { url, source: run, tokenSource: token.source }, toHints());
  }
}

/** Returns the error of a command for that of a request; any other error does not change. */
function toRequestError(
  failure: unknown,
  context: ErrorContext,
  hints: readonly string[],
): unknown {
  const { url, source } = context;
  if (failure instanceof PageTooLargeError) {
    return new CommandError("internal", failure.message, { cause: failure, hints });
  }
  if (!(failure instanceof StoppedError)) {
    return toCommandError(failure, source, "the same command can be repeated", hints);
  }
  const { cause } = failure;
  const isPathTwice = url.endsWith(operations.create.path);
  if (cause.error.error === errorTable.noSuchMethod.error && !isPathTwice) {
    const message = `the plant store at ${url} only creates plants: start it with --operations all`;
    return new CommandError("noPlantStore", message, { cause: failure });
  }
  return toResponseError(cause, context, [], hints);
}
