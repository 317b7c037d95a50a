/** Reads files whose content is at hand: opening a pipe would wait for its writer, and a pending read blocks even the exit. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Limit for certificates, keys and settings, in bytes. */
const maxBytes = 4 * 1024 * 1024;

/** Opens a pipe without waiting. Windows has no such flag: undefined counts as 0. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK;

/** Reads a text. @throws the error of the system; an error if it is not a regular file, or longer than 4 MiB */
export function readRegularFile(path: string): string {
  const file = openSync(path, flags);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error("it is not a regular file");
    if (stats.size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
