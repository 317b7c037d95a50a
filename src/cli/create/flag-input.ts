/** The input that flags are: one record. */
import { type PlantFlags, toNewPlant } from "./plant-source.ts";
import type { PlacedRecord, RecordInput } from "./record-input.ts";

/** The plant that flags describe, as the only record of an input. */
export function createFlagInput(flags: PlantFlags): RecordInput {
  const place = { path: "flags", line: 1 };
  async function* read(): AsyncGenerator<PlacedRecord[], void, undefined> {
    yield [{ ...place, bytes: new Uint8Array(), parse: () => toNewPlant(flags) }];
  }
  return {
    pieces: read(),
    totalBytes: 0,
    bytesRead: 0,
    place,
    isCollection: false,
    isStopped: false,
    stop() {},
  };
}
