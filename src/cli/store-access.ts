/** Opens a store itself, without a server, to read or change it. Messages say which store, and how it differs from a server's. */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { attempt } from "../core/attempt.ts";
import { isLocalUrl, toEndpoint } from "../core/base-url.ts";
import { type PlantStore, StoreError, type StoreReader, useAndClose } from "../core/store.ts";
import { createStoreError, failures } from "../store/store-failure.ts";
import { makeDirectory, toWriteError } from "../store/durable-files.ts";
import { parseStoreUrl } from "../store/store-url.ts";
import { CommandError, UsageError } from "./command-error.ts";
import type { Run } from "./command.ts";
import { findConfigDirectoryIfAny, findDataDirectory } from "./config/directories.ts";
import { digestText, type Io } from "./io.ts";
import { serverOptions, storeOption } from "./options/local.ts";
import { toLongFlag } from "./options/remote.ts";
import { readDefaultUrl, readOption, toCommandLine } from "./options/values.ts";

interface StoreRun extends Pick<Run, "flags" | "io" | "terminal"> {
  /** Ends the check of a server for a hint. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a store, names it as {@link nameStore}, reads from it, and always closes it.
 *
 * @throws CommandError if the store is unusable, with a hint; any other StoreError, and every error of `read`
 */
export function readStore<T>(
  url: string,
  run: StoreRun,
  read: (store: StoreReader) => Promise<T>,
): Promise<T> {
  const open = async (): Promise<StoreReader> => parseStoreUrl(url).openReader();
  return use(url, run, open, async (store) => {
    await nameStore(url, run, "reads", store);
    return read(store);
  });
}

/**
 * Opens an existing store, changes it, and always closes it.
 *
 * @throws CommandError if the store is unusable, with a hint; any other StoreError, and every error of `change`
 */
export function changeStore<T>(
  url: string,
  run: StoreRun,
  change: (store: PlantStore) => Promise<T>,
): Promise<T> {
  const open = async (): Promise<PlantStore> => {
    assertWritable(url);
    const { openStore } = await import("../store/open-store.ts");
    return openStore(url, { mustExist: true });
  };
  return use(url, run, open, change);
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

/** As {@link warnIfElsewhere}. Otherwise names the store on stderr, if that is a terminal. */
export async function nameStore(
  url: string,
  run: StoreRun,
  verb: StoreUse,
  store?: Pick<StoreReader, "listTokens">,
): Promise<void> {
  if (await warnIfElsewhere(url, run, verb, store)) return;
  if (run.io.stderr.isTTY) await run.terminal.note(`Store: ${parseStoreUrl(url).url}`);
}

/**
 * Reports on stderr that a command uses the default store, but `create` sends plants to a server with another one. It is a
 * warning unless the command only reads.
 *
 * @param store undefined if the command does not open it; only a server on another machine is reported then
 * @returns whether it was reported
 */
export async function warnIfElsewhere(
  url: string,
  { flags, io, terminal }: StoreRun,
  verb: StoreUse,
  store?: Pick<StoreReader, "listTokens">,
): Promise<boolean> {
  if (readOption(storeOption.store, flags["store"], io).source !== "the default") return false;
  const setting = readDefaultUrl(io);
  if (setting?.value === undefined) return false;
  const { value: serverUrl, source, savedBy = source } = setting;
  if (isLocalUrl(serverUrl) && !(await lacksSavedToken(serverUrl, io, store))) return false;
  const sentence = `this ${verb} ${parseStoreUrl(url).url}; "create" sends to ${serverUrl} (${savedBy})`;
  await (verb === "reads" ? terminal.note(`note: ${sentence}`) : terminal.warning(sentence));
  return true;
}

/** Checks whether a store lacks the token that is saved for a server; false without a saved token that can be read. */
async function lacksSavedToken(
  serverUrl: string,
  io: Io,
  store: Pick<StoreReader, "listTokens"> | undefined,
): Promise<boolean> {
  const directory = findConfigDirectoryIfAny(io);
  if (store === undefined || directory === undefined) return false;
  const { readCredential } = await import("./config/saved-tokens.ts");
  const token = attempt(() => readCredential(directory, toEndpoint(serverUrl).origin, io))?.token;
  if (token === undefined) return false;
  const digest = digestText(token);
  return (await store.listTokens()).every((record) => record.digest !== digest);
}

async function use<Store extends Pick<PlantStore, "close">, T>(
  url: string,
  run: StoreRun,
  open: () => Promise<Store>,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  try {
    return await useAndClose(await open(), work);
  } catch (error) {
    if (!(error instanceof StoreError && error.reason === "unusable")) throw error;
    const { path, url: shownUrl } = parseStoreUrl(url);
    if (path === undefined || existsSync(path)) throw error;
    const hints = await explainMissing(url, run);
    if (hints.length === 0) throw error;
    const message = `the store ${shownUrl} does not exist on this machine`;
    throw new CommandError("usage", message, { cause: error, hints });
  }
}

/** A command line for the store of a run, without its password. The environment names it for every command. */
export function toStoreCommand(command: string, { flags: { store } }: Pick<Run, "flags">): string {
  const { type } = storeOption.store;
  return toCommandLine(command, storeOption, { store: store && type.format(type.parse(store)) });
}

/**
 * Explains why a local store may lack a plant: `create` sends plants to a server that uses another store.
 *
 * @returns one sentence, or nothing
 */
export async function explainMissing(
  storeUrl: string,
  { io, signal = new AbortController().signal }: Pick<StoreRun, "io" | "signal">,
): Promise<readonly string[]> {
  if (parseStoreUrl(storeUrl).isShared) return [];
  const setting = readDefaultUrl(io);
  if (setting === undefined) return [];
  const { value: url = "", source, savedBy } = setting;
  if (!isLocalUrl(url)) {
    const shownSource = savedBy === undefined ? source : `the ${savedBy}`;
    return [
      `This command opens a store on this machine, but "create" sends plants to ${url} (${shownSource}): run this command on the machine of that server, or set --store to its database`,
    ];
  }
  // Loads the client, which other commands that open a store do without.
  const { checkLocalServer } = await import("../client/probe.ts");
  const server = await checkLocalServer(url, signal);
  if (server?.state !== "ready" || !server.isVolatile) return [];
  return [
    `the server at ${url} keeps its plants in memory, which only that server can read: to read them here, start it without --store memory:`,
  ];
}

/**
 * Creates the data directory if a store is in it. The directory of any other store must exist, because it may be on a disk that
 * is not mounted.
 *
 * @throws StoreError if it cannot be created
 */
export function makeDefaultDirectory(url: string, io: Io): void {
  const { path } = parseStoreUrl(url);
  if (path === undefined) return;
  const directory = dirname(resolve(path));
  if (directory !== attempt(() => resolve(findDataDirectory(io)))) return;
  try {
    makeDirectory(directory);
  } catch (error) {
    throw toWriteError(directory, error);
  }
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
