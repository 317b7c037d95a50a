/** Opens a store itself, without a server, to read or change it. Messages say which store, and how it differs from a server's. */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { attempt } from "../core/attempt.ts";
import { isLocalUrl, toEndpoint } from "../core/base-url.ts";
import { type PlantStore, StoreError, type StoreReader, useAndClose } from "../core/store.ts";
import { createStoreError, failures } from "../store/store-failure.ts";
import { assertDirectory, makeDirectory, toWriteError } from "../store/durable-files.ts";
import { parseStoreUrl } from "../store/store-url.ts";
import { CommandError, UsageError } from "./command-error.ts";
import type { Run } from "./command.ts";
import { findDataDirectory } from "./config/directories.ts";
import type { Io } from "./io.ts";
import { serverOptions, storeOption } from "./options/local.ts";
import { toLongFlag, urlOption } from "./options/remote.ts";
import {
  readDefaultUrl,
  readOption,
  readOptions,
  savingCommands,
  type Setting,
  toCommandLine,
} from "./options/values.ts";

interface StoreRun extends Pick<Run, "flags" | "io" | "terminal"> {
  /** Ends the check of a server for a hint. */
  readonly signal?: AbortSignal | undefined;
  /** True if other messages of the command name the store. */
  readonly isNamed?: true;
}

/**
 * Names the store of a command as {@link nameStore}, opens it, reads from it, and always closes it.
 *
 * @throws CommandError if the store is missing, with a hint; any other StoreError, and every error of `read`
 */
export function readStore<T>(run: StoreRun, read: (store: StoreReader) => Promise<T>): Promise<T> {
  const onWarning = (message: string): void => void run.terminal.warning(message);
  return use(run, "reads", async (url) => parseStoreUrl(url).openReader({ onWarning }), read);
}

/**
 * Names the store of a command as {@link nameStore}, opens it if it exists, changes it, and always closes it.
 *
 * @throws CommandError if the store is missing, with a hint; any other StoreError, and every error of `change`
 */
export function changeStore<T>(
  run: StoreRun,
  change: (store: PlantStore) => Promise<T>,
): Promise<T> {
  const open = async (url: string): Promise<PlantStore> => {
    assertWritable(url);
    const { openStore } = await import("../store/open-store.ts");
    return openStore(url, { mustExist: true });
  };
  return use(run, "changes", open, change);
}

/**
 * Asserts that this user may change the file of a store, if it exists. SQLite reports some cases as an error of the disk.
 *
 * @throws StoreError `readOnly`
 */
export function assertWritable(url: string): void {
  const { path } = parseStoreUrl(url);
  if (path === undefined || !existsSync(path)) return;
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw createStoreError(failures.readOnly, resolve(path), error);
  }
}

/** The effect of a command on its store, as a verb. */
type StoreUse = "reads" | "changes" | "copies" | "replaces";

/**
 * Names the store of a command on stderr, if that is a terminal. If it is the default store, but `create` probably sends
 * plants to another one, says so instead, also elsewhere: it is a warning unless the command only reads.
 */
export async function nameStore(
  url: string,
  { flags, io, terminal, isNamed }: StoreRun,
  verb: StoreUse,
): Promise<void> {
  const isDefault = readOption(storeOption.store, flags["store"], io).source === "the default";
  const server = isDefault ? readDefaultUrl(io) : undefined;
  if (server === undefined || servesDefaultStore(server, io)) {
    if (io.stderr.isTTY && !isNamed) await terminal.note(`Store: ${parseStoreUrl(url).url}`);
    return;
  }
  const { value, source, savedBy } = server;
  const origin = savedBy === undefined ? source : savingCommands[savedBy];
  const sentence = `this ${verb} ${parseStoreUrl(url).url}; "create" sends to ${value} (${origin})`;
  await (verb === "reads" ? terminal.note(`note: ${sentence}`) : terminal.warning(sentence));
}

/** Checks for a server of this machine at the default port, or where the first server was: others usually have another store. */
function servesDefaultStore({ value = "" }: Setting<string>, io: Io): boolean {
  if (!isLocalUrl(value)) return false;
  const saved = readDefaultUrl({ ...io, env: { ...io.env, [urlOption.url.env]: "" } });
  const urls = [urlOption.url.default, saved?.savedBy === "serve" ? saved.value : undefined];
  return urls.some((url) => url !== undefined && toSocketOrPort(url) === toSocketOrPort(value));
}

function toSocketOrPort(url: string): string {
  const { socketPath, httpUrl } = toEndpoint(url);
  return socketPath ?? new URL(httpUrl).port;
}

async function use<Store extends Pick<PlantStore, "close">, T>(
  run: StoreRun,
  verb: StoreUse,
  open: (url: string) => Promise<Store>,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { store: url } = readOptions(storeOption, run.flags, run.io);
  await nameStore(url, run, verb);
  try {
    return await useAndClose(await open(url), work);
  } catch (error) {
    if (!(error instanceof StoreError && error.reason === "unusable")) throw error;
    const { path } = parseStoreUrl(url);
    const hints = path !== undefined && !existsSync(path) ? await explainMissing(run) : [];
    throw new CommandError("usage", error.message, { cause: error, hints });
  }
}

/** A command line for the store of a run, without its password. The environment names it for every command. */
export function toStoreCommand(command: string, { flags: { store } }: Pick<Run, "flags">): string {
  const { type } = storeOption.store;
  return toCommandLine(command, storeOption, { store: store && type.format(type.parse(store)) });
}

/** The command line that shows all plants of the store, or of the server, of a run. */
export function toListCommand(run: Pick<Run, "flags">): string {
  return selectsServer(run)
    ? toCommandLine("list", serverOptions, run.flags)
    : toStoreCommand("list", run);
}

/** Explains why a local store may lack a plant: the server has it in memory. @returns one sentence, or nothing */
export async function explainMissing(run: StoreRun): Promise<readonly string[]> {
  const { flags, io, signal = new AbortController().signal } = run;
  if (selectsServer(run)) return [];
  const { store } = readOptions(storeOption, flags, io);
  const url = parseStoreUrl(store).kind === "database" ? undefined : readDefaultUrl(io)?.value;
  if (url === undefined) return [];
  // Loads the client, which other commands that open a store do without.
  const { checkLocalServer } = await import("../client/probe.ts");
  const server = await checkLocalServer(url, signal);
  if (server?.state !== "ready" || !server.isVolatile) return [];
  return [
    `the server at ${url} keeps its plants in memory: read them with --url ${url} if it has --operations all, or start it with another store`,
  ];
}

/**
 * Creates the data directory if a store is in it.
 *
 * @throws StoreError if it cannot be created
 */
export function makeDefaultDirectory(url: string, io: Io): void {
  const directory = findDefaultDirectory(url, io);
  if (directory === undefined) return;
  try {
    makeDirectory(directory);
  } catch (error) {
    throw toWriteError(directory, error);
  }
}

/**
 * Asserts that a store can be created or changed at its path. Only the data directory may be missing: that of any other store
 * may be on a disk that is not mounted.
 *
 * @throws StoreError
 */
export function assertStorePath(url: string, io: Io): void {
  const { path } = parseStoreUrl(url);
  if (path === undefined) return;
  if (findDefaultDirectory(url, io) === undefined) assertDirectory(resolve(path));
  assertWritable(url);
}

/** @returns undefined for a store that is not in the data directory */
function findDefaultDirectory(url: string, io: Io): string | undefined {
  const { path } = parseStoreUrl(url);
  const directory = path && dirname(resolve(path));
  return directory === attempt(() => resolve(findDataDirectory(io))) ? directory : undefined;
}

/**
 * Checks whether a command line selects a server. Only the flag does: a variable or the last login would change the target of
 * a command that deletes.
 *
 * @throws UsageError if a flag belongs to the other kind of target
 */
export function selectsServer({ flags }: Pick<Run, "flags">): boolean {
  if (flags["url"] === undefined) {
    const [, row] = Object.entries(serverOptions).find(([name]) => flags[name] !== undefined) ?? [];
    if (row === undefined) return false;
    throw new UsageError(`${toLongFlag(row.flags)} is for a server: select it with --url`);
  }
  if (flags["store"] === undefined) return true;
  throw new UsageError("--url excludes --store: remove one of them");
}
