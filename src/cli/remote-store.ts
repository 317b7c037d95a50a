/** The plants of a server, for the commands that otherwise open a store on this machine. */
import { type Retry, type SendPlantOptions, toCreateRequest } from "../client/create-plant.ts";
import { listPage, listPages, maxPagePlants } from "../client/list-plants.ts";
import { post } from "../client/http-request.ts";
import {
  categorizeError,
  PageTooLargeError,
  StoppedError,
  UnavailableError,
} from "../client/results.ts";
import { errorTable } from "../core/errors.ts";
import { int64Min, type NewPlant } from "../core/plant.ts";
import type { PlantFilter, PlantQuery } from "../core/store.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { toAdvice, toUnavailableExit } from "./command-failure.ts";
import type { Run } from "./command.ts";
import {
  describeUnavailable,
  toDetails,
  toErrorSentence,
} from "./commands/create/failure-messages.ts";
import { findToken, type FoundToken } from "./config/token-source.ts";
import { isStandardInput } from "./id-input.ts";
import { serverOptions } from "./options/local.ts";
import { readOptions, toCommandLine } from "./options/values.ts";
import { findAuthorities, warnAboutPlaintext } from "./server-access.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The plants behind a URL. */
export class RemoteStore {
  readonly url: string;
  /** For messages. */
  readonly name: string;
  /** The command that shows all plants. */
  readonly listCommand: string;
  readonly sendOptions: SendPlantOptions;
  /** Reports the first failed attempt. */
  readonly onRetry: (retry: Retry) => void;
  readonly #token: FoundToken;
  readonly #terminal: Terminal;

  constructor(
    url: string,
    token: FoundToken,
    options: Omit<SendPlantOptions, "request">,
    { flags, terminal }: Run,
    ca: string | undefined,
  ) {
    this.url = url;
    this.listCommand = toCommandLine("list", serverOptions, flags);
    this.#terminal = terminal;
    this.name = `the plant store at ${url}`;
    this.#token = token;
    this.sendOptions = { ...options, request: toCreateRequest(url, token.token, ca) };
    let isReported = false;
    this.onRetry = (retry) => {
      if (!isReported) void terminal.warning(`${describeUnavailable(retry, url)}, retrying`);
      isReported = true;
    };
  }

  /** Resolves with the plant of an id, after one request. @throws StoppedError, and as {@link listPage} */
  async get(id: bigint): Promise<NewPlant | undefined> {
    const after = id === int64Min ? undefined : id - 1n;
    const [plant] = await this.#list({ after, limit: 1 });
    return plant?.id === id ? plant : undefined;
  }

  /** Checks that the server lists plants, and so deletes them. @throws StoppedError, and as {@link listPage} */
  readonly assertHasAllOperations = async (): Promise<void> => {
    await this.#list({ limit: 1 });
  };

  async #list(query: Parameters<typeof listPage>[0]): Promise<readonly NewPlant[]> {
    const page = await listPage(query, this.sendOptions, this.onRetry);
    if (!page.ok) throw new StoppedError(page);
    return page.plants;
  }

  /** Reads plants as pages, one at a time. None is empty. @throws as {@link listPages} */
  async *readPages({
    afterId,
    tag,
    limit,
  }: PlantQuery): AsyncGenerator<readonly NewPlant[], void, undefined> {
    const size = tag === undefined ? Math.min(limit, maxPagePlants) : maxPagePlants;
    let left = limit;
    const pages = listPages({ after: afterId, limit: size }, this.sendOptions, this.onRetry);
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
    await this.#terminal.note(`reading all plants of ${this.url} to count them`);
    let count = 0;
    for await (const page of this.readPages({ ...filter, limit: Infinity })) count += page.length;
    return count;
  }

  /** A server has all plants that it was sent. */
  async explainMissing(): Promise<readonly string[]> {
    return [];
  }

  /**
   * Returns the error of a command for that of a request; any other error does not change.
   *
   * @param hints lines after the message
   */
  toCommandError(failure: unknown, hints: readonly string[]): unknown {
    const options = { cause: failure, hints };
    if (failure instanceof UnavailableError) {
      const message = toAdvice(failure, "the same command can be repeated");
      return new CommandError(toUnavailableExit(failure), message, options);
    }
    if (failure instanceof PageTooLargeError) {
      return new CommandError("internal", failure.message, options);
    }
    if (!(failure instanceof StoppedError)) return failure;
    const { cause } = failure;
    const { error } = cause;
    if (error.error === errorTable.noSuchMethod.error) {
      const message = `${this.name} only creates plants: start it with --operations all`;
      return new CommandError("noPlantStore", message, { cause: failure });
    }
    const sentence = toErrorSentence(error, toDetails(cause, this.#token.source, this.url));
    const category = categorizeError(error.error);
    return new CommandError(category, sentence, { ...options, number: error.error });
  }
}

/**
 * Finds the token of a server, names the server on stderr, and works with it.
 *
 * @param toHints lines after the message of an error
 * @throws CommandError without a token, or if a request fails; every other error of `work`
 */
export async function useServer<T>(
  run: Run,
  work: (server: RemoteStore) => Promise<T>,
  signal?: AbortSignal,
  toHints: () => readonly string[] = () => [],
): Promise<T> {
  const { flags, io, terminal, operands } = run;
  const options = readOptions(serverOptions, flags, io);
  const { url = "", tokenFile, cacert, timeoutMs, retries } = options;
  if (tokenFile === "-" && isStandardInput(operands)) {
    throw new UsageError("standard input is the token (--token-file -) and cannot be the ids too");
  }
  const reading = signal ?? new AbortController().signal;
  const ca = await findAuthorities({ url, cacert }, io, reading);
  const token = await findToken(tokenFile, url, io, reading);
  await warnAboutPlaintext(url, terminal);
  if (io.stderr.isTTY) await terminal.note(`Server: ${url}`);
  const sendOptions = { timeoutMs, retries, post, signal };
  const server = new RemoteStore(url, token, sendOptions, run, ca);
  try {
    return await work(server);
  } catch (error) {
    throw server.toCommandError(error, toHints());
  }
}
