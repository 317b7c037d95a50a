/** Seeds: what is read, checked and stored of them. */
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { RequestError } from "../../src/core/errors.ts";
import type { PlantStore } from "../../src/core/store.ts";
import { checkSeed, readSeed, type SeedRecord, storeSeed } from "../../src/library/seed.ts";
import { InputSyntaxError } from "../../src/records/record-reader.ts";
import { openStore } from "../../src/store/open-store.ts";

const reject = { onConflict: "reject" } as const;

function read(text: string, name = "plants.ndjson", maxRecordBytes = 1000) {
  return readSeed({ name, chunks: Readable.from([Buffer.from(text)]), maxRecordBytes });
}

async function openWith(text: string, name?: string): Promise<PlantStore> {
  const store = await openStore("memory:");
  expect(await storeSeed(store, read(text, name), reject)).not.toBeInstanceOf(RequestError);
  return store;
}

const fernAndMoss = [
  { id: 9007199254740993n, name: "fern" },
  { id: 9007199254740994n, name: "moss", tag: "pot" },
];

describe("a seed is stored with every digit of its ids", () => {
  it.each([
    [
      "NDJSON",
      "plants.ndjson",
      '{"id":9007199254740993,"name":"fern"}\n{"id":9007199254740994,"name":"moss","tag":"pot"}\n',
    ],
    [
      "a JSON array in any layout",
      "plants.json",
      '[ {"id":9007199254740993,\n "name":"fern"},\n{"id":9007199254740994,"name":"moss","tag":"pot"}\n]',
    ],
    ["CSV", "PLANTS.CSV", "id,name,tag\n9007199254740993,fern,\n9007199254740994,moss,pot\n"],
    ["TSV", "plants.tsv", "id\tname\ttag\n9007199254740993\tfern\n9007199254740994\tmoss\tpot"],
  ])("from %s", async (_layout, name, text) => {
    const store = await openWith(text, name);
    expect(await store.list({ limit: 10 })).toEqual(fernAndMoss);
  });
});

describe("the first invalid record is named with its file, record and line", () => {
  it.each<[rule: string, text: string, name: string, error: number, message: string]>([
    [
      "a missing name",
      '{"id":1,"name":"fern"}\n\n{"id":2}\n{"id":3}',
      "plants.ndjson",
      42204,
      "plants.ndjson: record 2 at line 3: name is missing",
    ],
    [
      "a duplicate member",
      '[{"id":1,"name":"a","name":"b"}]',
      "plants.json",
      40005,
      "plants.json: record 1 at line 1: ",
    ],
    [
      "an id outside int64 in a table",
      "id,name\n9223372036854775808,fern\n",
      "plants.csv",
      42203,
      "plants.csv: record 1 at line 2: column id",
    ],
    [
      "a record over the limit of the service",
      `{"id":1,"name":"${"a".repeat(1000)}"}`,
      "plants.ndjson",
      41300,
      "plants.ndjson: record 1 at line 1: ",
    ],
  ])("%s", async (_rule, text, name, error, message) => {
    const store = await openStore("memory:");
    for (const result of [
      await checkSeed(read(text, name)),
      await storeSeed(store, read(text, name), reject),
    ]) {
      expect(result).toBeInstanceOf(RequestError);
      expect(result).toMatchObject({ error });
      expect((result as RequestError).message).toContain(message);
    }
  });

  it("reports input in which no further record can be found", async () => {
    await expect(checkSeed(read('[{"id":1,"name":"fern"}'))).rejects.toThrow(InputSyntaxError);
  });
});

describe("storing a seed again", () => {
  const text = '{"id":1,"name":"fern"}\n{"id":2,"name":"moss"}\n';

  it("changes nothing", async () => {
    const store = await openWith(text);
    expect(await storeSeed(store, read(text), reject)).toEqual({
      created: 0,
      unchanged: 2,
      replaced: 0,
    });
  });

  it("names a record whose id belongs to a different plant, and keeps that plant", async () => {
    const store = await openWith('{"id":2,"name":"ivy"}');
    const result = await storeSeed(store, read(text), reject);
    expect(result).toMatchObject({
      error: 40900,
      message:
        "plants.ndjson: record 2 at line 2: id 2 belongs to a different plant, which was not changed: choose another id",
    });
    expect(await store.get(2n)).toEqual({ id: 2n, name: "ivy" });
  });

  it("replaces that plant with the policy replace", async () => {
    const store = await openWith('{"id":2,"name":"ivy"}');
    expect(await storeSeed(store, read(text), { onConflict: "replace" })).toEqual({
      created: 1,
      unchanged: 0,
      replaced: 1,
    });
    expect(await store.get(2n)).toEqual({ id: 2n, name: "moss" });
  });
});

it("stores a seed of several batches in its order, and reports progress", async () => {
  const store = await openStore("memory:");
  const records = Array.from({ length: 10_001 }, (_, index): SeedRecord => {
    return { plant: { id: BigInt(index % 10_000), name: `fern ${index}` }, name: `${index}` };
  });
  const progress: number[] = [];
  const tally = await storeSeed(store, records, {
    onConflict: "replace",
    onProgress: (count) => void progress.push(count),
  });
  expect(tally).toEqual({ created: 10_000, unchanged: 0, replaced: 1 });
  expect(await store.get(0n)).toMatchObject({ name: "fern 10000" });
  expect(progress).toEqual([4000, 8000, 10_001]);
});
