/** One run of `create`, of one plant or of many: its options, token and request, and its end by a signal. */
import { type CreateRequest, toCreateRequest } from "../../../client/create-plant.ts";
import { toTraceId } from "../../../core/contract.ts";
import { quoteInput } from "../../../core/messages.ts";
import {
  CommandError,
  createDoubt,
  Interruption,
  toExitName,
  UsageError,
} from "../../command-error.ts";
import type { Run } from "../../command.ts";
import type { TokenOrigin } from "../../config/saved-tokens.ts";
import { findToken, type FoundToken } from "../../config/token-source.ts";
import type { Io, StopSignal } from "../../io.ts";
import {
  bulkRetryOption,
  createOptions,
  plantFlagList,
  plantOptions,
  toLongFlag,
} from "../../options/remote.ts";
import { findAuthorities, warnAboutPlaintext } from "../../server-access.ts";
import { type Flags, readOptions, type Values } from "../../options/values.ts";
import type { Terminal } from "../../terminal/terminal.ts";

export type PlantFlags = Values<typeof plantOptions>;

interface CreateRunOptions extends Omit<Values<typeof createOptions>, "csv"> {
  /** The single plant, if no path is given. */
  readonly plant: PlantFlags;
  /** Files with plants; `-` is standard input. */
  readonly paths: readonly string[];
  /** Retries of each plant of an input. */
  readonly bulkRetries: number;
}

/** Handles SIGINT and SIGTERM until it is released. */
export class CreateRun {
  readonly options: CreateRunOptions;
  readonly flags: Flags;
  readonly io: Io;
  readonly terminal: Terminal;
  /** Plants whose outcome is unknown if the run stops now, which decide the effect of a signal. */
  inDoubt: "nothing" | "one" | "many" = "nothing";
  /** The signal after which only the plants in flight are completed. */
  stoppedBy: StopSignal | undefined;
  /** Restores the default effect of signals. */
  readonly release: () => void;
  readonly #abort = new AbortController();
  /** Aborted when everything has to end, with the error to report. */
  readonly abort = this.#abort.signal;
  readonly #stopSending = new AbortController();
  /** Aborted when no further plant may be sent. */
  readonly stopSending = this.#stopSending.signal;

  constructor(run: Run) {
    this.options = readCreateOptions(run);
    this.flags = run.flags;
    this.io = run.io;
    this.terminal = run.terminal;
    this.release = this.io.onSignal((signal) => this.#stop(signal));
  }

  /** Sends no further plant. Those in flight are completed. */
  endSending(): void {
    this.#stopSending.abort();
  }

  #stop(signal: StopSignal): void {
    if (this.inDoubt === "many") {
      this.stoppedBy = signal;
      this.endSending();
    } else if (this.inDoubt === "one") {
      this.#abort.abort(new Interruption(signal, createDoubt));
    } else {
      const message = `stopped by ${signal} before anything was sent`;
      this.#abort.abort(new CommandError(toExitName(signal), message));
    }
  }
}

const inputOptions = Object.entries(createOptions).filter(([, row]) => "for" in row);

function readCreateOptions({ flags, operands, io }: Run): CreateRunOptions {
  const { csv, ...options } = readOptions(createOptions, flags, io);
  const plant = readOptions(plantOptions, flags, io);
  const paths = findPaths(plant, operands, options.tokenFile === "-", io);
  const delimiter = options.delimiter ?? (csv ? "," : undefined);
  const given = inputOptions.find(([name]) => flags[name] !== undefined);
  if (paths.length === 0 && given !== undefined) {
    const flag = toLongFlag(given[1].flags);
    throw new UsageError(`${flag} is for files and standard input, not for ${plantFlagList}`);
  }
  return {
    ...options,
    plant,
    paths,
    delimiter,
    bulkRetries: readOptions(bulkRetryOption, flags, io).retries,
  };
}

/** @returns none for a plant of flags */
function findPaths(
  flags: PlantFlags,
  paths: readonly string[],
  isTokenInStdin: boolean,
  io: Pick<Io, "stdin">,
): readonly string[] {
  const hasFlags = Object.values(flags).some((flag) => flag !== undefined);
  if (hasFlags && paths.length > 0) {
    const file = paths.find((path) => path !== "-");
    const advice =
      file === undefined
        ? ""
        : ` ("${quoteInput(file)}" is read as a file: text with spaces needs quotation marks)`;
    throw new UsageError(`use a FILE or ${plantFlagList}, not both${advice}`);
  }
  if (hasFlags) return [];
  const readsStdin = paths.length === 0 || paths.includes("-");
  if (readsStdin && isTokenInStdin) {
    throw new UsageError(
      "standard input is the token (--token-file -) and cannot be the plant too: give the plant as a file or with --id and --name",
    );
  }
  if (paths.length === 0 && io.stdin.isTTY) {
    throw new UsageError(
      "no plant: give it as flags (--id 1 --name fern), as a JSON file (plant.json), or on standard input (-)",
    );
  }
  if (paths.indexOf("-") !== paths.lastIndexOf("-")) {
    throw new UsageError("standard input (-) is given twice: leave one of them out");
  }
  return paths.length === 0 ? ["-"] : paths;
}

/**
 * Finds the token and the certificates to trust, and warns if the connection is not encrypted. The request continues the trace
 * of the caller, unless that is invalid. A dry run needs no token and no certificates.
 *
 * @returns the source of the token too, which messages name if it is rejected
 */
export async function prepareRequest(
  run: CreateRun,
): Promise<{ readonly request: CreateRequest; readonly token: TokenOrigin | undefined }> {
  const { options, io, abort } = run;
  const ca = options.isDryRun ? undefined : await findAuthorities(options, io, abort);
  const found = options.isDryRun ? undefined : await findTokenToSend(run);
  const { TRACEPARENT: trace = "" } = io.env;
  const traceparent = toTraceId(trace) === undefined ? undefined : trace;
  const request = toCreateRequest(options.url, found?.token, ca, traceparent);
  return { request, token: found };
}

async function findTokenToSend({ options, io, terminal, abort }: CreateRun): Promise<FoundToken> {
  const { tokenFile, url } = options;
  const find = () => findToken(tokenFile, url, io, abort);
  const isTyped = tokenFile === "-" && io.stdin.isTTY === true;
  if (isTyped) await terminal.note("reading the token from the terminal: end with Ctrl-D");
  const found = await (isTyped ? find() : terminal.showWhile(() => "waiting for input", find));
  await warnAboutPlaintext(url, terminal);
  abort.throwIfAborted();
  return found;
}
