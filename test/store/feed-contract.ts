/** Tests of the feed and the deletions that every engine has to pass. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { int64Max, int64Min, type NewPlant } from "../../src/core/plant.ts";
import type { FeedEntry, PlantStore, StoreReader } from "../../src/core/store.ts";

/** A store, and a reader of it. */
export interface OpenFeed {
  readonly store: PlantStore;
  readonly reader: StoreReader;
}

const plantOf = (id: bigint, name = `plant ${id}`): NewPlant => ({ id, name });

/** Reads every entry after a cursor, in pages of this size. */
export async function readPages(
  reader: Pick<StoreReader, "readFeed">,
  after?: string,
  limit = 100,
): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = [];
  for (;;) {
    const page = await reader.readFeed({ after: entries.at(-1)?.cursor ?? after, limit });
    expect(page.length).toBeLessThanOrEqual(limit);
    if (page.length === 0) return entries;
    entries.push(...page);
  }
}

const readAll = (reader: StoreReader, after?: string, limit = 2) => readPages(reader, after, limit);

/** Returns the plants of entries; for a deletion, its id. */
function toContent(entries: readonly FeedEntry[]): readonly (NewPlant | bigint)[] {
  return entries.map(({ id, plant }) => plant ?? id);
}

/**
 * Runs the contract on an engine. Every call of `open` returns another empty store, which closes when the test has ended.
 *
 * @param order of creates and deletions that share a commit
 */
export function describeFeedContract(
  engineName: string,
  open: () => Promise<OpenFeed>,
  order: "call" | "id" = "call",
): void {
  const inOrder = (ids: readonly bigint[]): readonly bigint[] =>
    order === "call" ? ids : ids.toSorted((a, b) => (a < b ? -1 : 1));

  async function deleteAll(store: PlantStore, ids: readonly bigint[]): Promise<readonly bigint[]> {
    expect(store.delete).toBeDefined();
    return (await store.delete?.(ids)) ?? [];
  }

  describe(`the feed of the ${engineName} engine`, () => {
    it("has no entries at first", async () => {
      const { reader } = await open();
      expect(await reader.readFeed({ limit: 9 })).toEqual([]);
    });

    it("has the plants in the order of their commits, exactly as they were sent", async () => {
      const { store, reader } = await open();
      const plants: NewPlant[] = [
        { id: int64Max, name: "last", tag: "" },
        { id: 2n ** 53n + 1n, name: "a\0b", tag: "🌱" },
        { id: int64Min, name: "" },
        { id: 0n, name: "mönstera\n" },
      ];
      for (const plant of plants) await store.create(plant, "reject");
      const entries = await readAll(reader);
      expect(entries).toStrictEqual(
        plants.map((plant) => ({ cursor: expect.any(String), id: plant.id, plant })),
      );
    });

    it(`has creates of one commit in the order of the ${order}`, async () => {
      const { store, reader } = await open();
      const ids = [3n, 1n, 2n, 9n, 4n];
      await Promise.all(ids.map((id) => store.create(plantOf(id), "reject")));
      expect((await readAll(reader)).map(({ id }) => id)).toEqual(inOrder(ids));
    });

    it("continues after each cursor with exactly the entries after it", async () => {
      const { store, reader } = await open();
      for (const id of [5n, 3n, 4n, 1n]) await store.create(plantOf(id), "reject");
      await deleteAll(store, [3n]);
      const entries = await readAll(reader);
      expect(entries).toHaveLength(4);
      for (const [index, { cursor }] of entries.entries()) {
        expect(await readAll(reader, cursor, 1)).toStrictEqual(entries.slice(index + 1));
      }
    });

    it("has later commits after the entries that were read", async () => {
      const { store, reader } = await open();
      await store.create(plantOf(2n), "reject");
      const [first] = await readAll(reader);
      await store.create(plantOf(1n), "reject");
      expect(toContent(await readAll(reader, first?.cursor))).toEqual([plantOf(1n)]);
    });

    it("does not move a plant for a create that stores nothing", async () => {
      const { store, reader } = await open();
      for (const id of [1n, 2n]) await store.create(plantOf(id), "reject");
      const before = await readAll(reader);
      expect(await store.create(plantOf(1n), "reject")).toBe("unchanged");
      expect(await store.create(plantOf(1n), "replace")).toBe("unchanged");
      expect(await store.create(plantOf(1n, "moss"), "reject")).toBe("conflict");
      expect(await readAll(reader)).toStrictEqual(before);
    });

    it("moves a replaced plant to the end, without its earlier version", async () => {
      const { store, reader } = await open();
      for (const id of [1n, 2n, 3n]) await store.create(plantOf(id), "reject");
      await store.create(plantOf(1n, "moss"), "replace");
      await store.create(plantOf(3n, "rose"), "replace");
      await store.create(plantOf(1n, "fern"), "replace");
      expect(toContent(await readAll(reader))).toEqual([
        plantOf(2n),
        plantOf(3n, "rose"),
        plantOf(1n, "fern"),
      ]);
    });

    it("never uses a cursor for a second entry, although the last plant is replaced or deleted", async () => {
      const { store, reader } = await open();
      const cursors: (string | undefined)[] = [];
      const readLast = async () => cursors.push((await readAll(reader)).at(-1)?.cursor);
      await store.create(plantOf(1n), "reject");
      await readLast();
      await store.create(plantOf(1n, "moss"), "replace");
      await readLast();
      await deleteAll(store, [1n]);
      await readLast();
      await store.create(plantOf(1n), "reject");
      await readLast();
      expect(new Set(cursors).size).toBe(4);
      expect(toContent(await readAll(reader, cursors[2]))).toEqual([plantOf(1n)]);
    });

    it("brings a copy to the state of the store, although reading pauses at any entry", async () => {
      const id = fc.bigInt({ min: 1n, max: 4n });
      const name = fc.constantFrom("fern", "moss");
      const change = fc.oneof(
        { arbitrary: fc.record({ id, name }), weight: 4 },
        { arbitrary: id, weight: 2 },
        { arbitrary: fc.integer({ min: 1, max: 3 }), weight: 3 },
      );
      const { store, reader } = await open();
      const copy = new Map<bigint, NewPlant>();
      let after: string | undefined;
      const read = async (limit: number): Promise<number> => {
        const entries = await reader.readFeed({ after, limit });
        for (const entry of entries) {
          if (entry.plant === undefined) copy.delete(entry.id);
          else copy.set(entry.id, entry.plant);
        }
        after = entries.at(-1)?.cursor ?? after;
        return entries.length;
      };
      await fc.assert(
        fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
          for (const each of changes) {
            if (typeof each === "number") await read(each);
            else if (typeof each === "bigint") await deleteAll(store, [each]);
            else await store.create(each, "replace");
          }
          while ((await read(3)) > 0);
          const plants = await store.list({ limit: 9 });
          expect([...copy.values()].toSorted((a, b) => Number(a.id - b.id))).toEqual(plants);
        }),
        { numRuns: 30 },
      );
    });

    it("rejects malformed cursors", async () => {
      const { reader } = await open();
      for (const cursor of ["", "fern", "0", "-", "0123456789abcdef-", "fern-1"]) {
        await expect(reader.readFeed({ after: cursor, limit: 1 })).rejects.toMatchObject({
          name: "StoreError",
          reason: "unusable",
          message: expect.stringMatching(`does not accept the cursor "${cursor}": it is malformed`),
        });
      }
    });

    it("rejects the cursor of another store", async () => {
      const other = await open();
      await other.store.create(plantOf(1n), "reject");
      const [entry] = await readAll(other.reader);
      const { store, reader } = await open();
      await store.create(plantOf(1n), "reject");
      await expect(reader.readFeed({ after: entry?.cursor, limit: 1 })).rejects.toMatchObject({
        name: "StoreError",
        reason: "unusable",
        message: expect.stringContaining("it belongs to another store"),
      });
    });
  });

  describe(`the ${engineName} engine deletes plants`, () => {
    it("and returns which of the ids it deleted", async () => {
      const { store } = await open();
      for (const id of [1n, int64Min, 3n]) await store.create(plantOf(id), "reject");
      expect(await deleteAll(store, [int64Min, 2n, 3n])).toEqual([int64Min, 3n]);
      expect(await deleteAll(store, [3n])).toEqual([]);
      expect(await deleteAll(store, [])).toEqual([]);
      expect(await store.list({ limit: 9 })).toEqual([plantOf(1n)]);
    });

    it("once, although an id occurs twice", async () => {
      const { store, reader } = await open();
      await store.create(plantOf(1n), "reject");
      expect(await deleteAll(store, [1n, 1n])).toEqual([1n]);
      expect(toContent(await readAll(reader))).toEqual([1n]);
    });

    it("and leaves an entry for each at the end of the feed", async () => {
      const { store, reader } = await open();
      for (const id of [1n, 2n, 3n]) await store.create(plantOf(id), "reject");
      const last = (await readAll(reader)).at(-1)?.cursor;
      await deleteAll(store, [3n, 1n]);
      const deleted = inOrder([3n, 1n]);
      expect(toContent(await readAll(reader))).toEqual([plantOf(2n), ...deleted]);
      expect(await readAll(reader, last)).toStrictEqual(
        deleted.map((id) => ({ cursor: expect.any(String), id })),
      );
    });

    it("and leaves no entry for an unknown id", async () => {
      const { store, reader } = await open();
      await deleteAll(store, [1n]);
      expect(await readAll(reader)).toEqual([]);
    });

    it("whose ids may be created again, which drops the entry of the deletion", async () => {
      const { store, reader } = await open();
      await store.create(plantOf(1n), "reject");
      await deleteAll(store, [1n]);
      expect(await store.create(plantOf(1n, "moss"), "reject")).toBe("created");
      expect(toContent(await readAll(reader))).toEqual([plantOf(1n, "moss")]);
    });

    it("after all creates that were accepted before", async () => {
      const { store } = await open();
      const created = store.create(plantOf(1n), "reject");
      expect(await deleteAll(store, [1n])).toEqual([1n]);
      expect(await created).toBe("created");
    });
  });
}
