/** Tells an input of exactly one plant from all others, without keeping its record back until that is known. */
import type { PlacedRecord, RecordInput } from "./record-input.ts";

/** Records, and whether there is only one. */
export interface FirstRecords {
  /** undefined: there is none */
  readonly first: PlacedRecord | undefined;
  /** All of them, the first included, those together that come in together. */
  readonly all: AsyncIterable<Iterable<PlacedRecord>>;
  /**
   * Whether the input is not made for many records and holds one or none. Resolves with the second record, or the end.
   */
  readonly isAlone: Promise<boolean>;
  /** What {@link FirstRecords.isAlone} resolves with; undefined: not known yet. */
  isKnownAlone(): boolean | undefined;
}

/**
 * Reads the first record, and begins to read the second.
 *
 * @param isMany whether to take any input as one that is made for many
 * @throws what reading the first one throws
 */
export async function readFirstRecords(input: RecordInput, isMany: boolean): Promise<FirstRecords> {
  const { pieces } = input;
  let piece: Iterator<PlacedRecord> = [].values();

  async function readNext(): Promise<PlacedRecord | undefined> {
    for (;;) {
      const next = piece.next();
      if (!next.done) return next.value;
      const more = await pieces.next();
      if (more.done) return undefined;
      piece = more.value[Symbol.iterator]();
    }
  }

  async function* readAll(): AsyncGenerator<Iterable<PlacedRecord>, void, undefined> {
    if (first === undefined) return;
    yield [first];
    const next = await second;
    if (next === undefined) return;
    yield [next];
    yield { [Symbol.iterator]: () => piece };
    for (let more = await pieces.next(); !more.done; more = await pieces.next()) yield more.value;
  }

  const first = await readNext();
  const second = first === undefined ? Promise.resolve(first) : readNext();
  const isOfMany = isMany || input.isCollection;
  let known = isOfMany ? false : undefined;
  const isAlone = second.then(
    (record) => (known ??= record === undefined && !input.isStopped),
    () => (known = false), // The failure comes with all records.
  );
  return {
    first,
    all: readAll(),
    isAlone: isOfMany ? Promise.resolve(false) : isAlone,
    isKnownAlone: () => known,
  };
}
