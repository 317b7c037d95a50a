/** Reads files whose content is at hand: opening a pipe would wait for its writer, and a pending read blocks even the exit. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Opens a pipe without waiting. Windows has no such flag: undefined counts as 0. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK;

/** Reads a text at once. @throws the error of the system; an error if it is not a regular file */
export function readRegularFileSync(path: string): string {
  const file = openSync(path, flags);
  try {
    if (!fstatSync(file).isFile()) throw new Error("it is not a regular file");
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
