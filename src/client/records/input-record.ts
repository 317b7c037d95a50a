/** A record of an input: the bytes of one plant, wherever they stood. */
import type { RequestError } from "../../core/errors.ts";
import { type NewPlant, parseNewPlant } from "../../core/plant.ts";

/** What stands in an input for one plant, or in the place of one. */
export interface InputRecord {
  /** Where it begins, counted from 1. */
  readonly line: number;
  /** As it stands there, without what separates it from its neighbours; empty when it was too long to be kept. */
  readonly bytes: Uint8Array;
  /** Whether it was. */
  readonly isTooLong?: boolean;
  /**
   * The plant.
   *
   * @throws RequestError that names every broken rule
   */
  readonly parse: () => NewPlant;
}

/**
 * Finds the records in an input that comes in pieces. They are looked for while they are taken, so that no more of them
 * exist than are wanted; all of a piece are to be taken before the next piece is given.
 */
export interface Framing {
  /** Where that begins which is not in any of the records yet, counted from 1. */
  readonly line: number;
  /** Whether the input is of a kind that is made for many records, even if it holds one of them or none. */
  readonly isCollection: boolean;
  /** Of a table, once it has come. */
  readonly header?: Header | undefined;
  /**
   * The records that these bytes complete.
   *
   * @throws HeaderError
   */
  push(bytes: Uint8Array): Iterable<InputRecord>;
  /**
   * The records that the end of the input completes.
   *
   * @throws HeaderError
   */
  end(): Iterable<InputRecord>;
}

/** The header row of a table, which has to stand above rows that are taken out of it. */
export interface Header {
  /** As it stands there, with whatever mark and line end it has. */
  readonly bytes: Uint8Array;
  /** The rows of two tables mean the same below either header when these are the same. */
  readonly columns: Columns;
}

/** The member of a plant that each column holds; undefined: a column that is passed over. */
export type Columns = readonly (string | undefined)[];

/** A header row under which no row can be a plant. The message continues the name of the input. */
export class HeaderError extends Error {
  override readonly name = "HeaderError";
}

/** A record of JSON. */
export function createJsonRecord(line: number, bytes: Uint8Array): InputRecord {
  return { line, bytes, parse: () => parseNewPlant(bytes) };
}

/** A record that is no plant, whatever its bytes are. */
export function createRefusedRecord(
  line: number,
  bytes: Uint8Array,
  refusal: RequestError,
): InputRecord {
  return {
    line,
    bytes,
    parse() {
      throw refusal;
    },
  };
}
