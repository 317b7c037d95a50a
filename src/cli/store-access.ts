/** How commands open a store themselves, without a server. */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { attempt } from "../core/attempt.ts";
import { type PlantStore, type StoreReader, useAndClose } from "../core/store.ts";
import { createStoreError, failures } from "../store/store-failure.ts";
import { assertDirectory, makeDirectory, toWriteError } from "../store/durable-files.ts";
import { parseStoreUrl } from "../store/store-url.ts";
import { adviseCommand, CommandError } from "./command-error.ts";
import type { Run } from "./command.ts";
import { findDataDirectory } from "./config/saved-settings.ts";
import type { Io } from "./io.ts";
import { storeOption } from "./options/local.ts";
import { readOptions, toCommandLine } from "./options/values.ts";
import { toShownFlags } from "./place.ts";

type StoreRun = Pick<Run, "command" | "flags" | "io" | "terminal">;

/** Names the store on a terminal, opens it to read, and closes it afterwards. */
export function readStore<T>(run: StoreRun, read: (store: StoreReader) => Promise<T>): Promise<T> {
  const onWarning = (message: string): void => void run.terminal.warning(message);
  return useStore(run, async (url) => parseStoreUrl(url).openReader({ onWarning }), read);
}

/** As {@link readStore}, for a change. A store that does not exist is not created. */
export function changeStore<T>(
  run: StoreRun,
  change: (store: PlantStore) => Promise<T>,
): Promise<T> {
  const openExisting = async (url: string): Promise<PlantStore> => {
    assertWritable(url);
    const { openStore } = await import("../store/open-store.ts");
    return openStore(url, { mustExist: true });
  };
  return useStore(run, openExisting, change);
}

/** Asserts that this user may change the file of a store, if it exists: SQLite calls some of these cases errors of the disk. */
export function assertWritable(url: string): void {
  const { path } = parseStoreUrl(url);
  if (path === undefined || !existsSync(path)) return;
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw createStoreError(failures.readOnly, resolve(path), error);
  }
}

async function useStore<Store extends Pick<PlantStore, "close">, T>(
  run: StoreRun,
  openUrl: (url: string) => Promise<Store>,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { store: url } = readOptions(storeOption, run.flags, run.io);
  await run.terminal.namePlace("Store", parseStoreUrl(url).url);
  await assertStarted(url, run);
  return useAndClose(await openUrl(url), work);
}

/** Asserts that a store in the data directory exists. Without a typing error in its path, only `serve` is missing. */
async function assertStarted(url: string, { command, io }: StoreRun): Promise<void> {
  const location = parseStoreUrl(url);
  if (findDefaultDirectory(url, io) === undefined) return;
  if ((await location.listFiles()).some((file) => existsSync(file))) return;
  const flags = command.options?.["url"] === undefined ? "--store" : "--store or --url";
  const hints = adviseCommand(`Start one, or select one with ${flags}`, "plantstore serve");
  throw new CommandError("usage", `no store at ${location.path} yet`, { hints });
}

/** A command line for the same store. */
export function toStoreCommand(command: string, { flags }: Pick<Run, "flags">): string {
  return toCommandLine(command, storeOption, toShownFlags(flags));
}

/** Creates the data directory, if the store is in it. */
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
