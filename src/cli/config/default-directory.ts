/** Creates the directory of the default store, for the commands that create stores. */
import { dirname, resolve } from "node:path";
import { attempt } from "../../core/attempt.ts";
import { createDirectory, toWriteError } from "../../store/durable-files.ts";
import { parseStoreUrl } from "../../store/store-url.ts";
import type { Io } from "../io.ts";
import { findDataDirectory } from "./directories.ts";

/**
 * Creates the data directory if a store is in it. The directory of any other store must exist, because it may be on a disk that
 * is not mounted.
 *
 * @throws StoreError if it cannot be created
 */
export function createDefaultDirectory(url: string, io: Io): void {
  const { path } = parseStoreUrl(url);
  if (path === undefined) return;
  const directory = dirname(resolve(path));
  if (directory !== attempt(() => resolve(findDataDirectory(io)))) return;
  try {
    createDirectory(directory);
  } catch (error) {
    throw toWriteError(directory, error);
  }
}
