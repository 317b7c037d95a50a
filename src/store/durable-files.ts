/** Directories and files that survive a power failure, and the errors of writing them. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { platform } from "node:os";
import { dirname } from "node:path";
import { StoreError } from "../core/store.ts";
import { escapeUnprintable, isError, toSystemReason } from "../core/messages.ts";
import { toCode } from "./store-failure.ts";

const isWindows = platform() === "win32";

/**
 * Flushes the entries of a directory. Windows has no such operation, and needs none. Without permission to read the
 * directory, it cannot be flushed; SQLite ignores that too.
 */
export function syncDirectory(path: string): void {
  if (isWindows) return;
  try {
    syncFile(path);
  } catch (error) {
    if (toCode(error) !== "EACCES") throw error;
  }
}

/**
 * Creates a directory and the missing ones above it, for their owner only, and flushes them.
 *
 * Node 20: a recursive mkdir never returns where no directory can be created, as in /proc.
 *
 * @param path absolute and normalized
 */
export function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  makeDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process that starts at the same time may have created it.
    if (!existsSync(path)) throw error;
  }
  syncDirectory(parent);
}

/** Asserts that the directory of a file exists. @throws StoreError */
export function assertDirectory(path: string): void {
  const directory = dirname(path);
  if (existsSync(directory)) return;
  const advice = adviseMissing(path, "create it, or mount its disk");
  const message = `the directory ${directory} does not exist: ${advice}`;
  throw new StoreError("unusable", escapeUnprintable(message));
}

/** Returns the advice about a missing file, unless its path has a `~` that no shell has expanded. */
export function adviseMissing(path: string, advice: string): string {
  const isExpanded = !/[\\/]~[\\/]/.test(path);
  return isExpanded ? advice : 'write $HOME instead of "~", which is not expanded here';
}

/** Flushes what any process has written to a file. Only Windows needs the permission to write. */
export function syncFile(path: string): void {
  const file = openSync(path, isWindows ? "r+" : "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** What to do about a disk that is full or broken, an exhausted quota, or a limit on the size of files. */
const diskAdvice: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", "free some space on its disk, or choose another place"],
  ...["EDQUOT", "EFBIG", "EIO"].map((code) => [code, "check space, quota and disk"] as const),
]);

/** Maps an error of the file system to a StoreError; any other error stays the same. */
export function toWriteError(path: string, error: unknown): unknown {
  const code = toCode(error);
  if (!isError(error) || code === "") return error;
  const advice = diskAdvice.get(code);
  const remedy = advice ?? "choose another place, or change the permissions";
  const message = `${path} cannot be written: ${remedy} (${toSystemReason(error)})`;
  return new StoreError(advice === undefined ? "unusable" : "full", message, { cause: error });
}
