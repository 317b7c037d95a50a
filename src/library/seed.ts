/** Seeds: plants that a store has before its first request. */
import { RequestError, toIdTakenError } from "../core/errors.ts";
import { toInputName } from "../core/messages.ts";
import { type NewPlant, toTextLength } from "../core/plant.ts";
import type { ConflictPolicy, PlantStore, SuccessfulResult } from "../core/store.ts";
import { createRecordReader } from "../records/json-reader.ts";

export interface SeedRecord {
  /** The plant, or the rule that the record breaks. */
  readonly plant: NewPlant | RequestError;
  /** Names the record in messages, such as `plants.csv: record 3 at line 4`. */
  readonly name: string;
}

/** Number of plants by result. */
export type SeedTally = Readonly<Record<SuccessfulResult, number>>;

/** Maximum number of plants in memory, and of characters in their names and tags unless a single plant has more. */
const maxBatch = { plants: 4000, textLength: 2 ** 24 };

/**
 * Reads the records of a file.
 *
 * @param path `.csv` and `.tsv` at its end select a table; any other file is JSON. `-` is standard input
 * @param maxBytes maximum size of a record
 * @throws InputSyntaxError when no further record can be found
 * @throws the error of `chunks`
 */
export async function* readSeed(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<SeedRecord, void, undefined> {
  const reader = createRecordReader({ path, maxBytes });
  let count = 0;
  for await (const records of reader.read(chunks)) {
    for (const { line, content } of records) {
      const name = `${toInputName(path)}: record ${++count} at line ${line}`;
      yield { plant: content.plant, name };
    }
  }
}

/** Checks all records. @returns a RequestError that names the first invalid one */
export async function checkSeed(
  records: AsyncIterable<SeedRecord>,
): Promise<RequestError | undefined> {
  for await (const { plant, name } of records) {
    if (plant instanceof RequestError) return toRecordError(plant, name);
  }
  return undefined;
}

/**
 * Stores all records, in their order. The plants before an error stay stored. If an id belongs to a different plant, later
 * plants of its batch (see {@link maxBatch}) stay stored too.
 *
 * @returns a RequestError that names the first record that is invalid, or whose id belongs to a different plant
 * @throws StoreError
 */
export async function storeSeed(
  store: Pick<PlantStore, "create">,
  records: AsyncIterable<SeedRecord> | Iterable<SeedRecord>,
  onConflict: ConflictPolicy,
  onProgress?: (storedCount: number) => void,
): Promise<SeedTally | RequestError> {
  const tally = { created: 0, unchanged: 0, replaced: 0 };
  let batch: { readonly plant: NewPlant; readonly name: string }[] = [];
  let textLength = 0;
  let count = 0;
  const storeBatch = async (): Promise<RequestError | undefined> => {
    const stored = batch;
    batch = [];
    textLength = 0;
    const results = await Promise.all(stored.map(({ plant }) => store.create(plant, onConflict)));
    for (const [index, { plant, name }] of stored.entries()) {
      const result = results[index]?.result ?? "conflict";
      if (result === "conflict") return toRecordError(toIdTakenError(plant.id), name);
      tally[result]++;
    }
    onProgress?.((count += stored.length));
    return undefined;
  };
  for await (const { plant, name } of records) {
    if (plant instanceof RequestError) return (await storeBatch()) ?? toRecordError(plant, name);
    batch.push({ plant, name });
    textLength += toTextLength(plant);
    if (batch.length < maxBatch.plants && textLength < maxBatch.textLength) continue;
    const error = await storeBatch();
    if (error !== undefined) return error;
  }
  return (await storeBatch()) ?? tally;
}

function toRecordError({ kind, message }: RequestError, name: string): RequestError {
  return new RequestError(kind, `${name}: ${message}`);
}
