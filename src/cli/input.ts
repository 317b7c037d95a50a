/** Reads input: as a whole, and never more of it than is allowed, or as it comes in. */
import { constants, createReadStream, openSync, promises } from "node:fs";
import { addAbortSignal } from "node:stream";
import { CommandError } from "./command-error.ts";
import type { InputStream, Io } from "./io.ts";
import { toSystemReason } from "./system-error.ts";

/**
 * The bytes of a file, a named pipe or a device.
 *
 * @param name what to call it in a message
 * @throws CommandError when it can't be read, or as soon as there are more than `maxBytes`
 * @throws the signal's reason, once it is aborted
 */
export function readFileBytes(
  path: string,
  name: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  return readAll(
    readStream(() => openPath(path), name, signal),
    name,
    maxBytes,
  );
}

/**
 * The bytes of the standard input, up to its end.
 *
 * @throws as {@link readFileBytes}
 */
export function readInputBytes(
  stdin: InputStream,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const source = toInputName("-");
  return readAll(
    readStream(() => stdin, source, signal),
    source,
    maxBytes,
  );
}

/**
 * The bytes of a file, a named pipe or a device, or of the standard input, as they come in and no faster than they are
 * taken.
 *
 * @param path `-` is the standard input
 * @throws CommandError when it can't be read
 * @throws the signal's reason, once it is aborted
 */
export function readChunks(
  path: string,
  io: Pick<Io, "stdin">,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  return readStream(() => (path === "-" ? io.stdin : openPath(path)), toInputName(path), signal);
}

/** What to call an input in a message. */
export function toInputName(path: string): string {
  if (path === "-") return "standard input";
  return path === "" ? '""' : path;
}

async function readAll(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  maxBytes: number,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    // Leaving the loop closes the stream.
    if (length > maxBytes) {
      throw new CommandError("usage", `${source} has more than ${maxBytes} bytes`);
    }
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}

/**
 * A named pipe is read without a thread of its own: that would wait in it for whoever writes, and nothing could call it
 * back. So would the opening of one that nobody writes to.
 */
async function openPath(path: string): Promise<InputStream> {
  const stats = await promises.stat(path);
  if (!stats.isFIFO()) return createReadStream(path);
  const { Socket } = await import("node:net");
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

async function* readStream(
  open: () => InputStream | Promise<InputStream>,
  source: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const bytes: AsyncIterable<Uint8Array> = addAbortSignal(signal, await open());
    for await (const chunk of bytes) yield chunk;
  } catch (error) {
    signal.throwIfAborted();
    throw toInputError(source, error);
  }
}

/**
 * What to say of an input that can't be read.
 *
 * @param cause what the system said
 */
export function toInputError(source: string, cause: unknown): CommandError {
  return new CommandError("usage", `${source} can't be read: ${toSystemReason(cause)}`, { cause });
}
