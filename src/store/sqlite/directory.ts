/** Directories that are still there after the loss of power. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { platform } from "node:os";
import { dirname } from "node:path";

/**
 * Creates a directory with the missing ones above it, for their owner alone, and flushes what it created. One by one:
 * Node 20 never comes back from a recursive mkdir where the system lets nobody create anything, as in /proc.
 *
 * @param path absolute and normalized
 */
export function createDirectory(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  createDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process that starts at the same time may have made it.
    if (!existsSync(path)) throw error;
  }
  // The entry of a directory is in the one above it.
  syncDirectory(parent);
}

/** Flushes the entries of a directory. Windows has no such thing, and needs none. */
export function syncDirectory(path: string): void {
  if (platform() === "win32") return;
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
