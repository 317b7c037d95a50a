/** The file of records that were not created: as they stood in the input, so that they can be mended and sent again. */
import { open, realpath } from "node:fs/promises";
import { CommandError } from "../command-error.ts";
import type { PlacedRecord } from "./record-input.ts";
import type { CreateOptions } from "./run.ts";
import { toSystemReason } from "../system-error.ts";

/** A file that takes records. */
export interface RejectsFile {
  /** @throws CommandError */
  add(records: readonly PlacedRecord[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the file that is asked for; what is in it stays only when an earlier run is continued.
 *
 * @throws CommandError
 */
export async function openRejectsFile({
  source,
  many,
}: CreateOptions): Promise<RejectsFile | undefined> {
  const path = many.rejectsPath;
  if (path === undefined || source.from !== "inputs") return undefined;
  if (await isOneOf(path, source.paths)) {
    throw new CommandError("usage", `--rejects ${path} is an input: give it another name`);
  }
  const writing = async <T>(write: () => Promise<T>): Promise<T> => {
    try {
      return await write();
    } catch (error) {
      throw new CommandError("usage", `${path} can't be written: ${toSystemReason(error)}`, {
        cause: error,
      });
    }
  };
  const file = await writing(() => open(path, many.fromLine === undefined ? "w" : "a"));
  const { size } = await writing(() => file.stat());
  const toBytes = createLayout(path, size === 0);
  return {
    async add(records) {
      const bytes = toBytes(records);
      if (bytes.length > 0) await writing(() => file.appendFile(bytes));
    },
    close: () => file.close(),
  };
}

async function isOneOf(path: string, inputs: readonly string[]): Promise<boolean> {
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined) return false;
  const targets = await Promise.all(inputs.map((input) => realpath(input).catch(() => undefined)));
  return targets.includes(target);
}

const lineBreak = Buffer.from("\n");

/**
 * A function that turns records into what is written of them: each on a line, rows of a table below their header.
 *
 * @param isEmpty whether the file has no header yet
 */
function createLayout(
  path: string,
  isEmpty: boolean,
): (records: readonly PlacedRecord[]) => Uint8Array {
  let header: Uint8Array | undefined;
  return (records) => {
    const pieces: Uint8Array[] = [];
    for (const record of records) {
      if (header === undefined && record.header !== undefined) {
        header = record.header;
        if (isEmpty) pieces.push(header, lineBreak);
      } else if (header !== undefined && record.header?.toString() !== header.toString()) {
        throw new CommandError(
          "usage",
          `${path} takes rows with the header of the first input, and ${record.path} has another one: give each of them a file of its own`,
        );
      }
      if (record.bytes.length > 0) pieces.push(record.bytes, lineBreak);
    }
    return Buffer.concat(pieces);
  };
}
