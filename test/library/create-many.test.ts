/** Bulk creates of a program have results in the order of the plants, and keep few plants in memory. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  createClient,
  type CreateManyResult,
  type NewPlant,
  NotAPlantStoreError,
  StoppedError,
  startPlantStore,
  UnavailableError,
} from "../../src/index.ts";
import { json, openScriptedServer } from "../client/scripted-server.ts";
import { postPlant } from "../helpers/post-plant.ts";

const unused = { url: "http://127.0.0.1:1", token: "a", retries: 0 };

async function collect(
  results: AsyncIterable<CreateManyResult>,
): Promise<{ results: CreateManyResult[]; error?: unknown }> {
  const collected: CreateManyResult[] = [];
  try {
    for await (const result of results) collected.push(result);
  } catch (error) {
    return { results: collected, error };
  }
  return { results: collected };
}

function* count(total: number): Generator<NewPlant> {
  for (let id = 1; id <= total; id++) yield { id: BigInt(id), name: "fern" };
}

it("creates plants while a test has fake timers", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  for (const listen of [true, false]) {
    const store = await startPlantStore({ listen, seed: [{ id: 1n, name: "fern" }] });
    const client = createClient(store);
    expect(await client.create({ id: 2n, name: "fern" })).toMatchObject({ result: "created" });
    const { results } = await collect(client.createMany(count(3)));
    expect(results.map(({ status }) => status)).toEqual(["unchanged", "unchanged", "created"]);
    const send = listen ? fetch : store.fetch;
    expect(
      await (await postPlant(store.url, store.token, '{"id":4,"name":"fern"}', { send })).json(),
    ).toEqual({
      name: "fern",
    });
    expect(await store.count()).toBe(4);
    // The global fetch keeps its connection open. The store does not wait for another request on it.
    await store.close();
  }
});

it("listens once to a signal of many runs", async () => {
  await using store = await startPlantStore({ listen: false });
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const { signal } = new AbortController();
  const client = createClient(store);
  const runs = Array.from({ length: 15 }, () => client.createMany(count(1), { signal }));
  for (const run of runs) await run.next();
  for (const run of runs) await run.return();
  expect(warnings).toEqual([]);
});

it("returns a result for each plant, in the order of the plants", async () => {
  await using store = await startPlantStore({ seed: [{ id: 2n, name: "fern" }] });
  const plants = [
    { id: 1n, name: "fern", tag: "pot" },
    { id: 2n, name: "fern" },
    { id: 2n, name: "moss" },
    { id: 2n ** 63n, name: "fern" },
    { id: 1n, name: "fern", tag: "pot" },
  ];
  const rejected = (error: number) => ({
    ok: false,
    status: "rejected",
    error: { error, message: expect.any(String) as string },
    requestId: expect.any(String) as string,
  });
  expect(await collect(createClient(store).createMany(plants))).toEqual({
    results: [
      { record: 1, id: 1n, ok: true, status: "created", plant: { name: "fern", tag: "pot" } },
      { record: 2, id: 2n, ok: true, status: "unchanged", plant: { name: "fern" } },
      { record: 3, id: 2n, ...rejected(40900) },
      { record: 4, id: 2n ** 63n, ...rejected(42203) },
      { record: 5, id: 1n, ok: true, status: "unchanged", plant: { name: "fern", tag: "pot" } },
    ],
  });
});

it("replaces plants, and sends plants with the same id one after the other", async () => {
  await using store = await startPlantStore({ onConflict: "replace" });
  const plants = ["a", "b", "c"].map((name) => ({ id: 1n, name }));
  const { results } = await collect(createClient(store).createMany(plants));
  expect(results.map(({ status }) => status)).toEqual(["created", "replaced", "replaced"]);
  expect(await store.all()).toEqual([{ id: 1n, name: "c" }]);
});

it.each([1, 7, 1024])("creates all plants with a concurrency of %d", async (concurrency) => {
  await using store = await startPlantStore();
  const results = createClient(store).createMany(count(500), { concurrency });
  const collected = await collect(results);
  expect(collected.results.map(({ id }) => id)).toEqual(Array.from(count(500), ({ id }) => id));
  expect(await store.count()).toBe(500);
});

it("reports plants that fail although others are created", async () => {
  // One request at a time meets the same failures in each run: never three in a row, which would stop the run.
  await using store = await startPlantStore({ faults: { failRate: 0.1, seed: 1 } });
  const client = createClient({ ...store, retries: 0 });
  const { results } = await collect(client.createMany(count(100), { concurrency: 1 }));
  expect(results).toHaveLength(100);
  const failed = results.filter(({ status }) => status === "failed");
  expect(failed.length).toBeGreaterThan(0);
  for (const each of failed) expect(each).toMatchObject({ error: { error: 50301 } });
  expect(await store.count()).toBe(results.length - failed.length);
});

/** Each way to tell results apart, as the compiler accepts it: what is read exists in the type. */
const forms: Readonly<Record<string, (result: CreateManyResult) => string | number | undefined>> = {
  ok: (each) => (each.ok ? each.plant.name : each.error.error),
  notOk(each) {
    if (!each.ok) return each.error.error;
    const status: "created" | "unchanged" | "replaced" = each.status;
    return status === "created" ? each.plant.name : status;
  },
  failure({ status, plant, error }) {
    return status === "rejected" || status === "failed" ? error.error : plant.name;
  },
  success(each) {
    const { status } = each;
    const isStored = status === "created" || status === "unchanged" || status === "replaced";
    return isStored ? each.plant.name : each.error.error;
  },
  noFailure(each) {
    if (each.status !== "rejected" && each.status !== "failed") return each.plant.name;
    return each.error.error;
  },
  switchWithFailures(each) {
    switch (each.status) {
      case "rejected":
      case "failed":
        return each.error.error;
      default:
        return each.plant.name;
    }
  },
  switchWithSuccesses({ status, plant, error }) {
    switch (status) {
      case "created":
      case "unchanged":
      case "replaced":
        return plant.name;
      default:
        return error.error;
    }
  },
  plant: (each) => (each.plant ? each.plant.name : each.error.error),
  error: (each) => (each.error === undefined ? each.plant.name : each.error.error),
  chain: (each) => each.plant?.name ?? each.error?.error,
  destructured({ ok, plant, error, requestId }) {
    const id: string | undefined = requestId;
    return ok ? plant.name : id && error.error;
  },
  filtered(each) {
    const [stored] = [each].filter((one) => one.ok);
    const [rejected] = [each].filter((one) => one.error !== undefined);
    return stored?.plant.name ?? rejected?.error.error;
  },
};

it.each(Object.entries(forms))("has results that can be told apart by %s", async (_, form) => {
  await using store = await startPlantStore({ seed: [{ id: 1n, name: "moss" }] });
  const { results } = await collect(createClient(store).createMany(count(2)));
  expect(results.map(form)).toEqual([40900, "fern"]);
});

describe("plants that arrive one by one", () => {
  it("are sent at once", async () => {
    await using store = await startPlantStore();
    let sendNext = (): void => {};
    async function* generate(): AsyncGenerator<NewPlant> {
      yield { id: 1n, name: "fern" };
      await new Promise<void>((resolve) => (sendNext = resolve));
      yield { id: 2n, name: "moss" };
    }
    const results = createClient(store).createMany(generate());
    expect((await results.next()).value).toMatchObject({ record: 1, status: "created" });
    sendNext();
    expect((await results.next()).value).toMatchObject({ record: 2, status: "created" });
    expect(await results.next()).toMatchObject({ done: true });
  });

  it("are read only as fast as results are taken", async () => {
    await using store = await startPlantStore();
    let read = 0;
    async function* generate(): AsyncGenerator<NewPlant> {
      for (const plant of count(1_000_000)) {
        read++;
        yield plant;
      }
    }
    const results = createClient(store).createMany(generate(), { concurrency: 2 });
    await results.next();
    await expect.poll(() => read).toBeGreaterThan(2);
    await results.return();
    expect(read).toBeLessThan(1000);
  });

  it("are not awaited after the loop ended", async () => {
    await using store = await startPlantStore();
    let isReturned = false;
    const plants: AsyncIterable<NewPlant> = {
      [Symbol.asyncIterator]: () => {
        let isFirst = true;
        return {
          next() {
            if (!isFirst) return new Promise(() => {});
            isFirst = false;
            return Promise.resolve({ done: false, value: { id: 1n, name: "fern" } });
          },
          return() {
            isReturned = true;
            return new Promise(() => {});
          },
        };
      },
    };
    for await (const { status } of createClient(store).createMany(plants)) {
      expect(status).toBe("created");
      break;
    }
    expect(isReturned).toBe(true);
  });

  it("end with the error of their source, after the results before it", async () => {
    await using store = await startPlantStore();
    const reason = new Error("the source failed");
    async function* generate(): AsyncGenerator<NewPlant> {
      yield { id: 1n, name: "fern" };
      throw reason;
    }
    const { results, error } = await collect(createClient(store).createMany(generate()));
    expect(results).toMatchObject([{ record: 1, status: "created" }]);
    expect(error).toBe(reason);
  });
});

describe("throws", () => {
  it("a TypeError for a plant of a program without types", async () => {
    await using store = await startPlantStore();
    const plants = [
      { id: 1n, name: "fern" },
      { id: 2 ** 53, name: "moss" },
    ];
    const { results, error } = await collect(createClient(store).createMany(plants));
    expect(results).toMatchObject([{ record: 1, status: "created" }]);
    expect(error).toEqual(new TypeError("record 2: id must be a bigint or a safe integer"));
  });

  it.each<[options: object, error: Error]>([
    [
      { concurrency: 0 },
      new RangeError("concurrency must be a whole number from 1 to 1024 (got 0)"),
    ],
    [null as unknown as object, new TypeError("options must be an object (got null)")],
    [{ signal: "now" }, new TypeError('signal must be an AbortSignal (got "now")')],
    [{ concurency: 5 }, new TypeError('unknown option "concurency": did you mean concurrency?')],
  ])("an error for the options %j", async (options, error) => {
    const results = createClient(unused).createMany([], options);
    await expect(results.next()).rejects.toThrow(error);
  });

  it.each([
    [null, "plants must be an iterable of plants (got null)"],
    ["fern", 'plants must be an iterable of plants (got "fern")'],
    [{ id: 1n }, "plants must be an iterable of plants (got an object)"],
  ])("a TypeError for the plants %o", async (plants, message) => {
    const results = createClient(unused).createMany(plants as unknown as NewPlant[]);
    await expect(results.next()).rejects.toThrow(new TypeError(message));
  });

  it("UnavailableError without a server", async () => {
    const { results, error } = await collect(createClient(unused).createMany(count(10)));
    expect(results.length).toBeLessThan(10);
    for (const { status } of results) expect(status).toBe("failed");
    expect(error).toBeInstanceOf(UnavailableError);
  });

  it("NotAPlantStoreError for another server", async () => {
    const server = await openScriptedServer(json(404, "<h1>"));
    const client = createClient({ ...unused, url: server.url });
    const { error } = await collect(client.createMany(count(1)));
    expect(error).toBeInstanceOf(NotAPlantStoreError);
  });

  it("StoppedError if the token is rejected", async () => {
    await using store = await startPlantStore();
    const client = createClient({ ...store, token: "wrong" });
    const { results, error } = await collect(client.createMany(count(10)));
    expect(results).toEqual([]);
    expect(error).toBeInstanceOf(StoppedError);
    expect(error).toMatchObject({
      message: expect.stringContaining("the token is unknown") as string,
      cause: { ok: false, error: { error: 40102 } },
    });
  });

  it("the reason of a signal, after the plants in flight", async () => {
    await using store = await startPlantStore();
    const reason = new Error("enough");
    const controller = new AbortController();
    async function* generate(): AsyncGenerator<NewPlant> {
      yield { id: 1n, name: "fern" };
      await new Promise(() => {});
    }
    const results = createClient(store).createMany(generate(), { signal: controller.signal });
    expect((await results.next()).value).toMatchObject({ record: 1 });
    controller.abort(reason);
    await expect(results.next()).rejects.toBe(reason);
    const { signal } = controller;
    const late = await collect(createClient(store).createMany(count(5), { signal }));
    expect(late).toEqual({ results: [], error: reason });
  });
});
