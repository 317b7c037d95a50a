/** Reads input as a whole, and never more of it than is allowed. */
import { createReadStream } from "node:fs";
import { addAbortSignal } from "node:stream";
import { CommandError } from "./command-error.ts";
import type { InputStream } from "./io.ts";
import { toSystemReason } from "./system-error.ts";

/** Input that goes on beyond what is allowed. */
export class InputTooLarge extends CommandError {
  readonly maxBytes: number;

  constructor(source: string, maxBytes: number) {
    super("usage", `${source} has more than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/**
 * The bytes of a file, a named pipe or a device.
 *
 * @throws CommandError when it can't be read
 * @throws InputTooLarge as soon as there are more than `maxBytes`
 * @throws the signal's reason, once it is aborted
 */
export function readFileBytes(
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  return readAll(createReadStream(path), path, maxBytes, signal);
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
  return readAll(stdin, "standard input", maxBytes, signal);
}

async function readAll(
  stream: InputStream,
  source: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    const bytes: AsyncIterable<Uint8Array> = addAbortSignal(signal, stream);
    for await (const chunk of bytes) {
      length += chunk.length;
      // Leaving the loop closes the stream.
      if (length > maxBytes) throw new InputTooLarge(source, maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof InputTooLarge) throw error;
    throw new CommandError("usage", `${source} can't be read: ${toSystemReason(error)}`, {
      cause: error,
    });
  }
  return Buffer.concat(chunks);
}
