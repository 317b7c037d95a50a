/** Directories that are still there after the loss of power. */
import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { platform } from "node:os";
import { dirname } from "node:path";

/**
 * Creates a directory with the missing ones above it, for their owner alone, and flushes what it created.
 *
 * @param path absolute and normalized
 */
export function createDirectory(path: string): void {
  const topmost = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (topmost === undefined) return;
  // The entry of a directory is in the one above it.
  let created = path;
  while (created.length >= topmost.length) {
    created = dirname(created);
    syncDirectory(created);
  }
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
