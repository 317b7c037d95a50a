/** The contract of storage engines, as tests that run on every engine. */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { int64Max, int64Min, type NewPlant } from "../../src/core/plant.ts";
import { memberNames } from "../../src/core/read-plant.ts";
import type {
  CommitEntry,
  ChangeResult,
  ConflictPolicy,
  PlantFilter,
  PlantQuery,
  PlantStore,
  StoreEngine,
  TokenRecord,
} from "../../src/core/store.ts";
import { createGroupCommitStore } from "../../src/store/group-commit.ts";
import { readPlantPages } from "../../src/store/pages.ts";
import { listAll } from "../helpers/all-plants.ts";
import { anyPlant, expectSameMembers, toDifferentPlants } from "../helpers/any-plant.ts";
import type { OnEnd } from "../helpers/temporary-directory.ts";
import { toEntries } from "./entries.ts";

const digest = "ab".repeat(32);
const token: TokenRecord = {
  digest,
  prefix: "pst_abcd",
  name: "laptop",
  issuedAtMs: 1_700_000_000_000,
};

const notableIds = [
  int64Min,
  int64Min + 1n,
  -(2n ** 53n) - 1n,
  -(2n ** 31n) - 1n,
  -1n,
  0n,
  1n,
  2n ** 31n,
  2n ** 32n + 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  int64Max - 1n,
  int64Max,
];

const notableStrings = [
  ["the empty string", ""],
  ["NUL alone", "\0"],
  ["NUL in the middle", "fern\0pot"],
  ["NUL at the end", "fern\0"],
  ["a byte order mark", "\uFEFFfern\uFEFF"],
  ["an astral character", "🌱"],
  ["the last code point", "\u{10FFFF}"],
  ["a replacement character", "\uFFFD"],
  ["noncharacters", "\uFFFE\uFFFF"],
  ["decomposed letters", "mo\u0308nstera"],
  ["control characters", "\u0001\b\t\n\r\u001F\u007F\u0085"],
  ["SQL", "'; DROP TABLE plants; --"],
  ["digits", "007"],
  ["spaces at the ends", "  fern  "],
  ["a megabyte", "🌱".repeat(2 ** 18)],
] as const;

/** Creates a plant. @returns the result alone */
async function create(store: PlantStore, plant: NewPlant, onConflict: ConflictPolicy = "reject") {
  return (await store.create(plant, onConflict)).result;
}

/** Opens a store, the same one with each call. */
export type Open = () => Promise<StoreEngine>;

/** Reads everything of a store. */
async function readAll(store: Pick<PlantStore, "list" | "count" | "listTokens">) {
  const plants = await listAll(store);
  return { plants, count: await store.count({}), tokens: await store.listTokens() };
}

/** Closes a store, opens it again, and expects the same plants and tokens, and their results. */
export async function expectKept(store: PlantStore | StoreEngine, open: Open): Promise<void> {
  const before = await readAll(store);
  await store.close();
  const again = await open();
  try {
    expect(await readAll(again)).toStrictEqual(before);
    const results = await again.commit(toEntries(before.plants.slice(0, 100)));
    expect(results.filter((result) => result !== "unchanged")).toEqual([]);
  } finally {
    await again.close();
  }
}

/**
 * Runs the contract on an engine. The store of each test, and of each group of tests that share one, is opened again at the
 * end.
 *
 * @param createEmpty creates an empty store, and returns what opens it
 * @param isKept false if the store ends with its engine
 */
export function describeStoreContract(
  engineName: string,
  createEmpty: (onEnd?: OnEnd) => Promise<Open>,
  isKept = true,
): void {
  const end = (store: PlantStore | StoreEngine, open: Open): Promise<void> =>
    isKept ? expectKept(store, open) : store.close();

  async function openEngine(): Promise<StoreEngine> {
    const open = await createEmpty();
    const engine = await open();
    onTestFinished(() => end(engine, open));
    return engine;
  }

  async function openStore(): Promise<PlantStore> {
    const open = await createEmpty();
    const store = createGroupCommitStore(await open());
    onTestFinished(() => end(store, open));
    return store;
  }

  /** Opens one store for the tests of a suite, which use different ids or remove what they add. */
  function shareStore(prepare = async (_store: PlantStore): Promise<void> => {}): () => PlantStore {
    const ends: (() => Promise<void>)[] = [];
    let store: PlantStore;
    beforeAll(async () => {
      const open = await createEmpty((onEnd) => void ends.unshift(onEnd));
      store = createGroupCommitStore(await open());
      ends.unshift(() => end(store, open));
      await prepare(store);
    });
    afterAll(async () => {
      for (const each of ends) await each();
    });
    return () => store;
  }

  describe(`the ${engineName} engine stores plants exactly`, () => {
    const getStore = shareStore();

    it.each(notableIds)("id %s", async (id) => {
      const store = getStore();
      expect(await create(store, { id, name: "fern" })).toBe("created");
      expect(await create(store, { id, name: "fern" })).toBe("unchanged");
      expect(await store.get(id)).toStrictEqual({ id, name: "fern" });
    });

    const texts = notableStrings.map(([what, text], index) => [what, text, 1000 + index] as const);
    it.each(texts)("%s as name and as tag", async (_, text, number) => {
      const store = getStore();
      const id = BigInt(number);
      const plant = { id, name: text, tag: text };
      expect(await store.create(plant, "reject")).toMatchObject({ result: "created" });
      expect(await store.get(id)).toStrictEqual(plant);
      expect(await store.create(plant, "reject")).toMatchObject({ result: "unchanged" });
    });

    it("for any plant, which is unchanged when it is sent again", async () => {
      const store = await openStore();
      await fc.assert(
        fc.asyncProperty(anyPlant, async (plant) => {
          await store.create(plant, "replace");
          expect(await store.get(plant.id)).toStrictEqual(plant);
          expect(await store.create(plant, "reject")).toMatchObject({ result: "unchanged" });
        }),
      );
    });
  });

  describe(`the ${engineName} engine compares every member of a create with the stored plant:`, () => {
    const getStore = shareStore();

    it.each(memberNames.filter((member) => member !== "id"))("%s", async (member) => {
      const store = getStore();
      await fc.assert(
        fc.asyncProperty(toDifferentPlants(member), async ([plant, other]) => {
          await store.create(plant, "replace");
          expect(await create(store, other), `another ${member}`).toBe("conflict");
          expect(await create(store, other, "replace"), `another ${member}`).toBe("replaced");
          const listed = await store.list({ limit: 100 });
          expectSameMembers(
            listed.filter(({ id }) => id === plant.id),
            [other],
          );
        }),
        { numRuns: 10 },
      );
    });
  });

  describe(`the ${engineName} engine compares a create with the stored plant:`, () => {
    const fern = { id: 1n, name: "fern" };
    const toNamed = (name: string): NewPlant => ({ ...fern, name });
    const rules: [string, NewPlant, NewPlant, "unchanged" | "different"][] = [
      ["the same name, no tag", fern, fern, "unchanged"],
      ["a tag that is undefined", fern, { ...fern, tag: undefined }, "unchanged"],
      ["the same name and tag", { ...fern, tag: "pot" }, { ...fern, tag: "pot" }, "unchanged"],
      ["the same empty tag", { ...fern, tag: "" }, { ...fern, tag: "" }, "unchanged"],
      ["another name", fern, toNamed("moss"), "different"],
      ["another case", fern, toNamed("Fern"), "different"],
      ["a space more", fern, toNamed("fern "), "different"],
      ["a NUL more", fern, toNamed("fern\0"), "different"],
      ["another text after a NUL", toNamed("a\0b"), toNamed("a\0c"), "different"],
      ["another normal form", toNamed("\u00F6"), toNamed("o\u0308"), "different"],
      ["another tag", { ...fern, tag: "pot" }, { ...fern, tag: "bed" }, "different"],
      ["a tag where there was none", fern, { ...fern, tag: "pot" }, "different"],
      ["no tag where there was one", { ...fern, tag: "pot" }, fern, "different"],
      ["an empty tag where there was none", fern, { ...fern, tag: "" }, "different"],
      ["no tag where there was an empty one", { ...fern, tag: "" }, fern, "different"],
    ];

    const getStore = shareStore();
    const cases = rules.map(([what, first, second, verdict], index) => {
      const id = BigInt(index);
      return [what, { ...first, id }, { ...second, id }, verdict] as const;
    });

    it.each(cases)("%s", async (_, first, second, verdict) => {
      const store = getStore();
      await store.create(first, "reject");

      const rejected = await create(store, second);
      expect(rejected).toBe(verdict === "unchanged" ? "unchanged" : "conflict");
      expect(await store.get(first.id)).toEqual(first);

      const replaced = await create(store, second, "replace");
      expect(replaced).toBe(verdict === "unchanged" ? "unchanged" : "replaced");
      expect(await store.get(first.id)).toEqual(second);
    });
  });

  describe.each([
    ["one commit", 20],
    ["several commits", 500],
  ])(`the ${engineName} engine and concurrent creates of one id in %s`, (_, count) => {
    const getStore = shareStore();
    let id = 0n;
    beforeEach(() => void id++);

    async function createAll(toName: (index: number) => string, onConflict: ConflictPolicy) {
      const store = getStore();
      const names = Array.from({ length: count }, (__, index) => toName(index));
      const results = await Promise.all(
        names.map((name) => create(store, { id, name, tag: name }, onConflict)),
      );
      const stored = await store.get(id);
      return { names, results, stored };
    }

    it("all succeed with the same plant, and one of them creates it", async () => {
      const { results } = await createAll(() => "fern", "reject");
      expect(results.filter((result) => result === "created")).toHaveLength(1);
      expect(results.filter((result) => result === "unchanged")).toHaveLength(count - 1);
    });

    it("exactly one of different plants succeeds, and is stored", async () => {
      const { names, results, stored } = await createAll((index) => `plant ${index}`, "reject");
      expect(results.filter((result) => result === "created")).toHaveLength(1);
      expect(results.filter((result) => result === "conflict")).toHaveLength(count - 1);
      const name = names[results.indexOf("created")];
      expect(stored).toStrictEqual({ id, name, tag: name });
    });

    it("all replace each other successfully, and one plant is stored completely", async () => {
      const { names, results, stored } = await createAll((index) => `plant ${index}`, "replace");
      expect(results.filter((result) => result === "created")).toHaveLength(1);
      expect(results.filter((result) => result === "replaced")).toHaveLength(count - 1);
      expect(names).toContain(stored?.name);
      expect(stored?.tag).toBe(stored?.name);
    });
  });

  describe(`the ${engineName} engine deletes plants`, () => {
    it("by their ids, each once", async () => {
      const store = await openStore();
      for (const id of [...notableIds, 7n]) await store.create({ id, name: "fern" }, "reject");
      for (const id of notableIds) {
        expect((await store.deletePlant(id)).result).toBe("deleted");
        expect((await store.deletePlant(id)).result).toBe("absent");
        expect(await store.get(id)).toBeUndefined();
      }
      expect(await store.list({ limit: 9 })).toStrictEqual([{ id: 7n, name: "fern" }]);
      expect(await create(store, { id: 0n, name: "moss" })).toBe("created");
    });

    it("in one order with the creates that arrive at the same time", async () => {
      const store = await openStore();
      const fern = { id: 1n, name: "fern" };
      const changes = await Promise.all([
        store.deletePlant(1n),
        store.create(fern, "reject"),
        store.create({ ...fern, name: "moss" }, "reject"),
        store.deletePlant(1n),
        store.deletePlant(1n),
        store.create({ ...fern, name: "moss" }, "reject"),
      ]);
      const results = changes.map(({ result }) => result);
      expect(results).toEqual(["absent", "created", "conflict", "deleted", "absent", "created"]);
      expect(await store.get(1n)).toStrictEqual({ ...fern, name: "moss" });
    });

    it("and creates them, in batches, as one after the other would", async () => {
      const engine = await openEngine();
      const model = new Map<bigint, NewPlant>();
      const change = (entry: CommitEntry): ChangeResult => {
        if (entry.kind === "delete") return model.delete(entry.id) ? "deleted" : "absent";
        const { plant } = entry;
        const stored = model.get(plant.id);
        if (stored?.name === plant.name && stored.tag === plant.tag) return "unchanged";
        if (stored !== undefined && entry.onConflict === "reject") return "conflict";
        model.set(plant.id, plant);
        return stored === undefined ? "created" : "replaced";
      };
      const id = fc.bigInt({ min: -1n, max: 1n });
      const anyDelete = fc.record({ kind: fc.constant("delete" as const), id });
      const anyCreate = fc.record({
        kind: fc.constant("create" as const),
        plant: fc.record(
          {
            id,
            name: fc.constantFrom("fern", "fern\0", ""),
            tag: fc.constantFrom("pot", "", "␛"),
          },
          { requiredKeys: ["id", "name"], noNullPrototype: true },
        ),
        onConflict: fc.constantFrom<ConflictPolicy>("reject", "replace"),
      });
      const anyBatch = fc.array(fc.oneof(anyCreate, anyDelete), { minLength: 1, maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(anyBatch, async (batch) => {
          expect(await engine.commit(batch)).toEqual(batch.map(change));
          const listed = await engine.list({ limit: 9 });
          const stored = [...model.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
          expect(listed).toStrictEqual(stored);
        }),
        { numRuns: 200 },
      );
    });
  });

  describe(`the ${engineName} engine lists plants`, () => {
    const plants = [
      { id: int64Max, name: "last" },
      { id: 2n, name: "moss", tag: "bed" },
      { id: int64Min, name: "first", tag: "" },
      { id: 10n, name: "fern", tag: "pot" },
      { id: -1n, name: "rose", tag: "bed" },
    ];

    const getStore = shareStore(async (store) => {
      await Promise.all(plants.map((plant) => store.create(plant, "reject")));
    });

    it.each<[string, PlantQuery, bigint[]]>([
      ["all, in the order of their ids", { limit: 9 }, [int64Min, -1n, 2n, 10n, int64Max]],
      ["the first ones", { limit: 2 }, [int64Min, -1n]],
      ["the plants after a stored id", { limit: 2, after: -1n }, [2n, 10n]],
      ["the plants after an unknown id", { limit: 9, after: 3n }, [10n, int64Max]],
      ["none after the largest id", { limit: 9, after: int64Max }, []],
      ["the plants with a tag", { limit: 9, tag: "bed" }, [-1n, 2n]],
      ["the plants with an empty tag", { limit: 9, tag: "" }, [int64Min]],
      ["none for an unknown tag", { limit: 9, tag: "be" }, []],
      ["the next one with a tag", { limit: 1, tag: "bed", after: -1n }, [2n]],
    ])("%s", async (_, query, ids) => {
      const expected = ids.map((id) => plants.find((plant) => plant.id === id));
      expect(await getStore().list(query)).toStrictEqual(expected);
    });

    it.each<[string, PlantFilter, number]>([
      ["all", {}, 5],
      ["the plants after a stored id", { after: -1n }, 3],
      ["none after the largest id", { after: int64Max }, 0],
      ["the plants with an empty tag", { tag: "" }, 1],
      ["the plants with a tag after an id", { tag: "bed", after: -1n }, 1],
    ])("and counts %s", async (_, filter, count) => {
      expect(await getStore().count(filter)).toBe(count);
    });

    it("none at first", async () => {
      const store = await openStore();
      expect(await store.list({ limit: 9 })).toEqual([]);
      expect(await store.count({})).toBe(0);
    });

    it("in pages that together have each plant once, whatever its size", async () => {
      const store = await openStore();
      const lengths = [...Array<number>(2500).fill(4), 2 ** 20, 2 ** 19, 2 ** 19, 3];
      const all = lengths.map((length, id) => ({
        id: BigInt(id),
        name: "\u{1F331}".repeat(length / 2),
      }));
      await Promise.all(all.map((plant) => store.create(plant, "reject")));
      const pages: (readonly NewPlant[])[] = [];
      for await (const page of readPlantPages(store, { limit: Infinity })) pages.push(page);
      expect(pages.flat()).toStrictEqual(all);
      expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(2048);
      expect(await store.count({})).toBe(all.length);
    });
  });

  describe(`the ${engineName} engine checks whether it is writable`, () => {
    it("any number of times, without changing the store", async () => {
      const store = await openStore();
      const fern = { id: 0n, name: "fern", tag: "pot" };
      await store.create(fern, "reject");
      await store.checkWritable();
      await store.checkWritable();
      expect(await store.list({ limit: 9 })).toEqual([fern]);
      expect(await store.listTokens()).toEqual([]);
    });
  });

  describe(`the ${engineName} engine stores tokens`, () => {
    it("with all their properties", async () => {
      const store = await openStore();
      const full = {
        ...token,
        name: "a\0 🌱",
        allow: ["create", "list"] as const,
        expiresAtMs: 8.64e15,
        revokedAtMs: 0,
        lastUsedDay: 20_000,
      };
      await store.addToken(full);
      expect(await store.listTokens()).toEqual([full]);
    });

    it("once for each digest, as they were added first", async () => {
      const store = await openStore();
      await store.addToken(token);
      await store.addToken({ ...token, name: "impostor", expiresAtMs: 1 });
      expect(await store.listTokens()).toEqual([token]);
    });

    it.each([
      ["first revocation", "revokedAtMs", [5, 9], { expiresAtMs: 1 }, 5],
      ["earliest expiry", "expiresAtMs", [50, 90, 20], { revokedAtMs: 10 }, 20],
    ] as const)("with the %s", async (_, member, times, otherEnd, expected) => {
      const store = await openStore();
      await store.addToken(token);
      await store.addToken({ ...token, digest: "other", issuedAtMs: token.issuedAtMs + 1 });
      for (const time of times) await store.endToken({ digest, [member]: time });
      await store.endToken({ digest, ...otherEnd });
      const tokens = await store.listTokens();
      expect(tokens.map((listed) => listed[member])).toEqual([expected, undefined]);
    });

    it("with the latest day of their use", async () => {
      const store = await openStore();
      for (const name of ["a", "b", "c"]) await store.addToken({ ...token, digest: name });
      await store.recordTokenUse(["a", "b"], 20_000);
      await store.recordTokenUse(["a"], 20_001);
      await store.recordTokenUse(["a", "b"], 19_999);
      const tokens = await store.listTokens();
      expect(tokens.map(({ lastUsedDay }) => lastUsedDay)).toEqual([20_001, 20_000, undefined]);
    });

    it("with a version that every change renews, and no other call", async () => {
      const store = await openStore();
      let known: string | undefined;
      /** Returns the tokens if they changed since the last call. */
      const readChanged = async () => {
        const { version, tokens } = await store.readTokens(known);
        known = version;
        return tokens?.map(({ name, expiresAtMs, revokedAtMs }) => [
          name,
          expiresAtMs,
          revokedAtMs,
        ]);
      };
      expect(await readChanged()).toEqual([]);
      expect(await readChanged()).toBeUndefined();
      await store.addToken(token);
      expect(await readChanged()).toEqual([["laptop", undefined, undefined]]);
      await store.endToken({ digest, expiresAtMs: 50 });
      expect(await readChanged()).toEqual([["laptop", 50, undefined]]);
      await store.endToken({ digest, revokedAtMs: 10 });
      expect(await readChanged()).toEqual([["laptop", 50, 10]]);
      await store.recordTokenUse([digest], 20_000);
      await store.checkWritable();
      await store.create({ id: 1n, name: "fern" }, "replace");
      expect(await readChanged()).toBeUndefined();
    });

    it("and ignores changes of unknown tokens", async () => {
      const store = await openStore();
      await store.endToken({ digest, expiresAtMs: 5, revokedAtMs: 5 });
      await store.recordTokenUse([digest], 20_000);
      expect(await store.listTokens()).toEqual([]);
    });

    it("and lists the oldest first, and tokens of the same age in the order of their addition", async () => {
      const store = await openStore();
      const ages = [3, 1, 2, 1];
      for (const [index, issuedAtMs] of ages.entries()) {
        await store.addToken({ ...token, digest: `${9 - index}`, issuedAtMs });
      }
      const tokens = await store.listTokens();
      expect(tokens.map((listed) => listed.digest)).toEqual(["8", "6", "7", "9"]);
    });
  });

  describe.runIf(isKept)(`the ${engineName} engine that was not closed`, () => {
    it("leaves what it has stored and nothing that it rejected", async () => {
      const open = await createEmpty();
      const [killed, next] = [await open(), await open()];
      onTestFinished(async () => {
        for (const engine of [killed, next]) await engine.close();
      });
      const fern = { id: 1n, name: "fern", tag: "pot" };
      const moss = { id: 2n, name: "moss" };
      expect(await killed.commit(toEntries([fern, moss, { ...fern, tag: "bed" }]))).toEqual([
        "created",
        "created",
        "conflict",
      ]);
      expect(await killed.commit([{ kind: "delete", id: moss.id }])).toEqual(["deleted"]);
      await killed.addToken(token);
      expect(await readAll(next)).toEqual({ plants: [fern], count: 1, tokens: [token] });
    });
  });

  describe(`the ${engineName} engine closes`, () => {
    it("once, although it is called several times", async () => {
      const engine = await (await createEmpty())();
      await engine.close();
      await expect(engine.close()).resolves.toBeUndefined();
    });

    it.each<[string, (store: PlantStore) => Promise<unknown>]>([
      ["create", (store) => store.create({ id: 1n, name: "fern" }, "reject")],
      ["deletePlant", (store) => store.deletePlant(1n)],
      ["get", (store) => store.get(1n)],
      ["listCommitted", (store) => store.listCommitted({ limit: 1 })],
      ["list", (store) => store.list({ limit: 1 })],
      ["count", (store) => store.count({})],
      ["checkWritable", (store) => store.checkWritable()],
      ["addToken", (store) => store.addToken(token)],
      ["listTokens", (store) => store.listTokens()],
      ["readTokens", (store) => store.readTokens(undefined)],
      ["endToken", (store) => store.endToken({ digest, revokedAtMs: 1 })],
      ["recordTokenUse", (store) => store.recordTokenUse([digest], 1)],
    ])("and then rejects %s", async (_, call) => {
      const store = createGroupCommitStore(await (await createEmpty())());
      await store.close();
      await expect(call(store)).rejects.toMatchObject({
        name: "StoreError",
        reason: "closed",
      });
    });
  });
}
