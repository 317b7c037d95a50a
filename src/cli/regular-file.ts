/** Reads files whose content is at hand: opening a pipe would wait for its writer, and a pending read blocks even the exit. */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  promises,
  readFileSync,
  type Stats,
} from "node:fs";

/** Opens a pipe without waiting. Windows has no such flag: undefined counts as 0. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK;

/** Reads a text. @throws the error of the system; an error if it is not a regular file, or longer than 4 MiB */
export async function readRegularFile(path: string): Promise<string> {
  const file = await promises.open(path, flags);
  try {
    assertRegular(await file.stat());
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Reads a text at once. @throws as {@link readRegularFile} */
export function readRegularFileSync(path: string): string {
  const file = openSync(path, flags);
  try {
    assertRegular(fstatSync(file));
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** Limit for certificates, keys and settings, in bytes. */
const maxBytes = 4 * 1024 * 1024;

function assertRegular(stats: Stats): void {
  if (!stats.isFile()) throw new Error("it is not a regular file");
  if (stats.size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
}
