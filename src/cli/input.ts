/** Reads files, named pipes, devices, and standard input as `-`: completely, up to a limit, or in chunks. */
// Not node:fs/promises, which takes 3 ms to load.
import { constants, createReadStream, openSync, promises, type Stats } from "node:fs";
import { addAbortSignal } from "node:stream";
import { toInputName } from "../core/messages.ts";
import type { InputSyntaxError } from "../records/record-reader.ts";
import { adviseCommand, CommandError, toReadError } from "./command-error.ts";
import type { InputStream, Io } from "./io.ts";

export async function readBytes(
  path: string,
  name: string,
  maxBytes: number,
  io: Pick<Io, "stdin">,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of readInputChunks(path, io, signal, name)) {
    length += chunk.length;
    // Leaving the loop closes the stream.
    if (length > maxBytes) {
      throw new CommandError("usage", `${name} has more than ${maxBytes} bytes`);
    }
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}

/** The error of an input in which no record can be found. @param command reads it from standard input */
export function toInputError(cause: InputSyntaxError, command: string, option = ""): CommandError {
  const { conversion, message } = cause;
  const hints =
    conversion === undefined ? [] : adviseCommand("For example", `${conversion} | ${command}`);
  return new CommandError("usage", option + message, { cause, hints });
}

/** Reads chunks no faster than the caller consumes them. */
export async function* readInputChunks(
  path: string,
  io: Pick<Io, "stdin">,
  signal: AbortSignal,
  name = toInputName(path),
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const stream = path === "-" ? io.stdin : await openFile(path);
    const bytes: AsyncIterable<Uint8Array> = addAbortSignal(signal, stream);
    for await (const chunk of bytes) yield chunk;
  } catch (error) {
    signal.throwIfAborted();
    throw toReadError(name, error);
  }
}

/** Checks that a path can be read, and is no directory. */
export async function statReadable(
  path: string,
  name: string,
  hints?: readonly string[],
): Promise<Stats> {
  try {
    await promises.access(path, constants.R_OK);
    const stats = await promises.stat(path);
    if (!stats.isDirectory()) return stats;
  } catch (error) {
    throw toReadError(name, error, hints);
  }
  throw new CommandError("usage", `${name} cannot be read: it is a directory`);
}

/** Reads named pipes through a socket: a blocked read, or open, in the thread pool could not be cancelled. */
async function openFile(path: string): Promise<InputStream> {
  const stats = await promises.stat(path);
  if (!stats.isFIFO()) return createReadStream(path);
  const { Socket } = await import("node:net");
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}
