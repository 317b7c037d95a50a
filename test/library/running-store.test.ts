/** A running store in a test: seeds, reads, reset, and requests without a socket. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createClient,
  type NewPlant,
  type PlantSeed,
  type PlantStoreOptions,
  startPlantStore,
} from "../../src/index.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { sendRaw } from "../helpers/raw-http.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const fern = { id: 9007199254740993n, name: "fern" };
const moss = { id: -5n, name: "moss", tag: "pot" };

async function* generate(plants: readonly NewPlant[]) {
  yield* plants;
}

async function createSeedFile(name: string, text: string): Promise<string> {
  const path = join(await createTemporaryDirectory(), name);
  await writeFile(path, text);
  return path;
}

describe("a seed", () => {
  it.each<[kind: string, toSeed: () => PlantSeed]>([
    ["an array", () => [fern, moss]],
    ["an iterable", () => new Set([fern, moss])],
    ["an async iterable", () => generate([fern, moss])],
  ])("can be %s", async (_kind, toSeed) => {
    await using store = await startPlantStore({ seed: toSeed() });
    expect(await store.all()).toEqual([moss, fern]);
  });

  it.each([
    ["a.ndjson", '{"id":9007199254740993,"name":"fern"}\n{"id":-5,"name":"moss","tag":"pot"}'],
    // In any layout.
    ["a.json", '[{"id":9007199254740993,\n"name":"fern"},\n\n{"id":-5,"name":"moss","tag":"pot"}]'],
    ["A.CSV", "id,name,tag\n9007199254740993,fern,\n-5,moss,pot\n"],
    ["a.tsv", "id\tname\ttag\n9007199254740993\tfern\n-5\tmoss\tpot"],
  ])("can be the file %s", async (name, text) => {
    await using store = await startPlantStore({ seed: await createSeedFile(name, text) });
    expect(await store.all()).toEqual([moss, fern]);
  });

  it("is unchanged when a durable store starts again, which its path names too", async () => {
    const path = join(await createTemporaryDirectory(), "plants.db");
    const url = `sqlite:${path}`;
    const first = await startPlantStore({ store: path, seed: [fern] });
    await first.close();
    await using second = await startPlantStore({ store: url, seed: [fern] });
    expect(await second.seed([fern, moss])).toEqual({ created: 1, unchanged: 1, replaced: 0 });
    expect(await second.count()).toBe(2);
  });

  it("follows onConflict", async () => {
    const changed = { ...fern, name: "moss" };
    await using replacing = await startPlantStore({ seed: [fern], onConflict: "replace" });
    expect(await replacing.seed([changed])).toMatchObject({ replaced: 1 });
    await using rejecting = await startPlantStore({ seed: [fern] });
    await expect(rejecting.seed([moss, changed])).rejects.toMatchObject({
      message: expect.stringMatching(/^seed: record 2: .*different plant/) as string,
      cause: { error: 40900 },
    });
    expect(await rejecting.all()).toEqual([moss, fern]);
  });

  it.each<[kind: string, plant: object, message: string]>([
    [
      "an id that is no safe integer",
      { id: 2 ** 53, name: "a" },
      "seed: record 2: id must be a bigint or a safe integer",
    ],
    ["no name", { id: 1n }, "seed: record 2: name must be a string"],
    ["a tag of null", { id: 1n, name: "a", tag: null }, "seed: record 2: tag must be a string"],
    [
      "an id outside int64",
      { id: 2n ** 63n, name: "a" },
      "seed: record 2: id must be an integer from -9223372036854775808",
    ],
    ["an unpaired surrogate", { id: 1n, name: "\ud800" }, "seed: record 2: "],
  ])("with %s rejects the start and names the record", async (_kind, plant, message) => {
    const seed = [fern, plant as NewPlant];
    await expect(startPlantStore({ seed })).rejects.toThrow(message);
  });

  it("that is a broken file rejects the start and names the record", async () => {
    const seed = await createSeedFile("broken.ndjson", '{"id":1,"name":"a"}\n{"id":2}\n');
    await expect(startPlantStore({ seed })).rejects.toThrow("broken.ndjson: record 2 at line 2: ");
    const missing = startPlantStore({ seed: `${seed}.missing` });
    await expect(missing).rejects.toThrow(new Error(`seed: ${seed}.missing does not exist`));
  });

  it("of another type is rejected", async () => {
    const seed = 5 as unknown as PlantSeed;
    const rule = "seed must be an iterable of plants, or the path of a file (got 5)";
    await expect(startPlantStore({ seed })).rejects.toThrow(new TypeError(rule));
    await using store = await startPlantStore();
    await expect(store.seed(seed)).rejects.toThrow(new TypeError(rule));
  });
});

describe("a running store", () => {
  it("returns and counts more plants than a page has", async () => {
    await using store = await startPlantStore();
    const plants = Array.from({ length: 1000 }, (_, id) => ({ id: BigInt(id), name: "fern" }));
    await store.seed(plants.toReversed());
    expect(await store.all()).toEqual(plants);
    expect(await store.count()).toBe(1000);
  });

  it("is empty after reset(), and accepts its token", async () => {
    await using store = await startPlantStore({ seed: [fern] });
    await store.reset();
    expect(await store.count()).toBe(0);
    const answer = await createClient(store).create({ ...fern, name: "moss" });
    expect(answer).toMatchObject({ ok: true, result: "created" });
  });

  it("is not reset if it is durable", async () => {
    const url = `sqlite:${join(await createTemporaryDirectory(), "plants.db")}`;
    await using store = await startPlantStore({ store: url, seed: [fern] });
    await expect(store.reset()).rejects.toThrow("reset() removes plants only from a memory: store");
    expect(await store.all()).toEqual([fern]);
  });
});

describe("fetch of a running store", () => {
  it.each([true, false])("creates a plant if listen is %s", async (listen) => {
    const store = await startPlantStore({ listen, basePath: "/v1" });
    // Not a method call, as a stub of the global fetch.
    const { fetch: send, url, token } = store;
    const create = (): Promise<Response> =>
      postPlant(url, token, '{"id":9007199254740993,"name":"fern"}', { send });
    expect(await (await create()).json()).toEqual({ name: "fern" });
    expect(await store.all()).toEqual([fern]);
    await store.close();
    const late = await create();
    expect(late.status).toBe(400);
    expect(await late.json()).toMatchObject({ error: 50300 });
  });

  it("has the page and the description under any host", async () => {
    await using store = await startPlantStore({ basePath: "/v1" });
    const page = await store.fetch("http://plants.test/docs");
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("http://plants.test/v1");
    const description = await store.fetch("http://plants.test/openapi.json");
    expect(await description.json()).toMatchObject({ servers: [{ url: "http://plants.test/v1" }] });
  });

  it("gets what faults leave of a response", async () => {
    const faults = { first: ["status", "token", "drop", "cut", "silent"] } as const;
    await using store = await startPlantStore({ listen: false, faults });
    const create = (init = {}) =>
      postPlant("http://a", store.token, '{"id":1,"name":"fern"}', {
        send: (url, options) => store.fetch(url, { ...options, ...init }),
      });
    expect((await create()).status).toBe(502);
    expect(await (await create()).json()).toMatchObject({ error: 40102 });
    await expect(create()).rejects.toThrow(TypeError);
    await expect((await create()).text()).rejects.toThrow(TypeError);
    await expect(create({ signal: AbortSignal.timeout(50) })).rejects.toThrow("timeout");
    expect(await store.count()).toBe(1);
  });

  it("opens no port if listen is false", async () => {
    await using store = await startPlantStore({ listen: false });
    expect(store.url).toBe("http://localhost");
    await expect(startPlantStore({ listen: 1 as unknown as boolean })).rejects.toThrow(
      new TypeError("listen must be true or false (got 1)"),
    );
  });
});

describe("listener of a running store", () => {
  async function listen(options: PlantStoreOptions) {
    const store = await startPlantStore({ listen: false, ...options });
    const server = createServer(store.listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const close = async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await store.close();
    };
    return { ...store, url: `http://127.0.0.1:${port}`, port, [Symbol.asyncDispose]: close };
  }

  it("responds as the store does", async () => {
    await using store = await listen({});
    const client = createClient({ url: store.url, token: store.token });
    expect(await client.create(fern)).toMatchObject({ result: "created" });
    expect(await client.create({ ...fern, name: "moss" })).toMatchObject({
      error: { error: 40900 },
    });
    const wrong = createClient({ url: store.url, token: "wrong" });
    expect(await wrong.create(fern)).toMatchObject({ error: { error: 40102 } });
    const plants = Array.from({ length: 200 }, (_, id) => ({ id: BigInt(id), name: "fern" }));
    for await (const { status } of client.createMany(plants)) expect(status).toBe("created");
    expect(await store.count()).toBe(201);
    expect((await fetch(`${store.url}/docs`)).status).toBe(200);
    expect((await fetch(`${store.url}/healthz`, { method: "HEAD" })).status).toBe(200);
    const large = await client.create({ id: 7n, name: "x".repeat(2 ** 20) });
    expect(large).toMatchObject({ error: { error: 41300 } });
  });

  it.each([
    ["a Host header that is none", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"],
    ["the method TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"],
  ])("responds with an Error to %s", async (_what, request) => {
    await using store = await listen({});
    using connection = await sendRaw(store.port, request);
    await expect.poll(() => connection.received()).toContain('"error":40000');
  });

  it("has the faults of the store", async () => {
    await using store = await listen({ faults: { first: ["drop", "cut", "silent", "status"] } });
    const options = { url: store.url, token: store.token, timeoutMs: 500 };
    const client = createClient({ ...options, retries: 0 });
    await expect(client.create(fern)).rejects.toMatchObject({ reason: "lost" });
    await expect(client.create(fern)).rejects.toMatchObject({ reason: "lost" });
    await expect(client.create(fern)).rejects.toMatchObject({ reason: "timeout" });
    await expect(client.create(fern)).rejects.toMatchObject({ reason: "gateway" });
    expect(await client.create(fern)).toMatchObject({ result: "unchanged" });
  });
});
