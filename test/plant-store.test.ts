/** The plant store and its client as parts of another program. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createClient,
  type PlantClientOptions,
  createPlantStore,
  NotAPlantStoreError,
  StoreError,
  UnavailableError,
} from "../src/index.ts";
import { createTemporaryDirectory } from "./helpers/temporary-directory.ts";

const fern = { id: 9007199254740993n, name: "fern" };

describe("createPlantStore", () => {
  it("listens on a free port of this machine, with a token of its own", async () => {
    await using first = await createPlantStore();
    await using second = await createPlantStore();
    expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(second.url).not.toBe(first.url);
    expect(second.token).not.toBe(first.token);
    const answer = await createClient({ url: first.url, token: second.token }).create(fern);
    expect(answer).toMatchObject({ ok: false, error: { error: 40102 } });
  });

  it("is started as the options say", async () => {
    await using plants = await createPlantStore({
      basePath: "/v1",
      token: "chosen",
      onConflict: "replace",
      maxBodyBytes: 100,
    });
    expect(new URL(plants.url).pathname).toBe("/v1");
    expect(plants.token).toBe("chosen");
    const client = createClient(plants);
    await client.create(fern);
    const replaced = await client.create({ ...fern, name: "moss" });
    expect(replaced).toEqual({ ok: true, plant: { name: "moss" }, result: "replaced" });
    const tooLarge = await client.create({ ...fern, name: "a".repeat(100) });
    expect(tooLarge).toMatchObject({ ok: false, error: { error: 41300 } });
  });

  it("keeps plants where the option says, and closes the store before close() is done", async () => {
    const store = `sqlite:${join(await createTemporaryDirectory(), "plants.db")}`;
    const first = await createPlantStore({ store });
    await createClient(first).create(fern);
    await first.close();
    await using second = await createPlantStore({ store });
    expect(await second.store.list({ limit: 10 })).toEqual([fern]);
    expect(await createClient({ ...second, token: first.token }).create(fern)).toMatchObject({
      error: { error: 40102 },
    });
  });

  it("may be closed twice, and the store is closed then", async () => {
    const plants = await createPlantStore();
    await createClient(plants).create(fern);
    await Promise.all([plants.close(), plants.close()]);
    await expect(plants.store.get(fern.id)).rejects.toThrow(StoreError);
  });

  it("tells onError of its own trouble", async () => {
    const path = join(await createTemporaryDirectory(), "plants.db");
    const troubles: unknown[] = [];
    const onError = (error: unknown): void => void troubles.push(error);
    await using plants = await createPlantStore({ store: `sqlite:${path}`, onError });
    await rm(path);
    const answer = await createClient({ ...plants, retries: 0 }).create(fern);
    expect(answer).toMatchObject({ ok: false, error: { error: 50700 } });
    expect(troubles).toMatchObject([{ name: "StoreError", reason: "full" }]);
  });

  it.each<
    [option: string, options: object, error: new (...given: never[]) => Error, message: string]
  >([
    ["a base path that clients resolve away", { basePath: "/.." }, TypeError, "a path such as /v1"],
    [
      "a base path with a query",
      { basePath: "/v1?a" },
      TypeError,
      'basePath is "/v1?a": it must be',
    ],
    ["a base path that is no text", { basePath: 1 }, TypeError, "basePath is of type number"],
    ["a host with a zone", { host: "::1%lo" }, TypeError, "without a port or a zone"],
    ["a host with a port", { host: "localhost:80" }, TypeError, "without a port"],
    ["an empty host", { host: "" }, TypeError, "a host name or an IP address"],
    ["a port that is text", { port: "80" }, TypeError, 'port is "80": it must be a whole number'],
    ["a port that there is not", { port: 65_536 }, RangeError, "from 0 to 65535"],
    ["a port below 0", { port: -1 }, RangeError, "from 0 to 65535"],
    ["a body of less than nothing", { maxBodyBytes: -1 }, RangeError, "from 1 to 67108864"],
    ["a body of NaN bytes", { maxBodyBytes: Number.NaN }, RangeError, "maxBodyBytes is NaN"],
    ["a body over 64 MiB", { maxBodyBytes: 64 * 1024 ** 2 + 1 }, RangeError, "to 67108864"],
    ["half a body", { maxBodyBytes: 0.5 }, RangeError, "maxBodyBytes is 0.5"],
    ["no creates at all", { maxInflight: 0 }, RangeError, "maxInflight is 0"],
    [
      "boundless creates",
      { maxInflight: Infinity },
      RangeError,
      "a whole number from 1 to 1000000",
    ],
    ["another policy", { onConflict: "x" }, TypeError, "must be one of reject, replace"],
    [
      "a token that no header can hold",
      { token: "a b" },
      TypeError,
      "a character that no token has",
    ],
    ["an empty token", { token: "" }, TypeError, "token is empty"],
    ["a mistyped token", { token: "pst_abc" }, TypeError, "token is not complete or was mistyped"],
    ["a token that is no text", { token: 5 }, TypeError, "token must be a string"],
    ["a listener that is none", { onError: "log" }, TypeError, "onError"],
    ["a store that is no text", { store: null }, TypeError, "store is of type object"],
    [
      "a store of a kind that there is not",
      { store: "nowhere:" },
      TypeError,
      "store: unknown kind",
    ],
  ])("refuses %s", async (_what, options, error, message) => {
    const refusal = createPlantStore(options);
    await expect(refusal).rejects.toThrow(error);
    await expect(refusal).rejects.toThrow(message);
  });

  it.each(["v1", "/v1/", "/v1"])("takes the base path %s as --base-path does", async (basePath) => {
    await using plants = await createPlantStore({ basePath });
    expect(new URL(plants.url).pathname).toBe("/v1");
  });

  it("takes an IPv6 address in brackets, as --host does", async () => {
    await using plants = await createPlantStore({ host: "[::1]" });
    expect(new URL(plants.url).hostname).toBe("[::1]");
  });

  it("looks up no id that is a number: it may have lost digits", async () => {
    await using plants = await createPlantStore();
    const id = 1 as unknown as bigint;
    const refusal = new TypeError("afterId must be a bigint, or be left out");
    await expect(plants.store.get(id)).rejects.toThrow(new TypeError("id must be a bigint"));
    await expect(plants.store.list({ afterId: id, limit: 1 })).rejects.toThrow(refusal);
  });

  it.each([0, 1.5, Number.NaN])("lists no %d plants", async (limit) => {
    await using plants = await createPlantStore();
    await expect(plants.store.list({ limit })).rejects.toThrow(RangeError);
  });

  it("leaves nothing open when the port is taken", async () => {
    await using plants = await createPlantStore();
    const port = Number(new URL(plants.url).port);
    await expect(createPlantStore({ port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

describe("createClient", () => {
  it("says what became of a plant, every digit and character of it", async () => {
    await using plants = await createPlantStore();
    const client = createClient(plants);
    const plant = { ...fern, name: "a\u0000b 🌿", tag: "" };
    const { id, ...stored } = plant;
    expect(await client.create(plant)).toEqual({ ok: true, plant: stored, result: "created" });
    expect(await client.create(plant)).toEqual({ ok: true, plant: stored, result: "unchanged" });
    expect(await plants.store.get(id)).toEqual(plant);
  });

  it("gives the store's Error as a value", async () => {
    await using plants = await createPlantStore();
    const client = createClient({ ...plants, token: "wrong" });
    expect(await client.create(fern)).toEqual({
      ok: false,
      error: { error: 40102, message: expect.stringContaining("token") as string },
      requestId: expect.any(String) as string,
    });
  });

  it("takes a URL with slashes at its end", async () => {
    await using plants = await createPlantStore({ basePath: "/v1" });
    const client = createClient({ ...plants, url: `${plants.url}//` });
    expect(await client.create(fern)).toMatchObject({ ok: true });
  });

  it.each<[options: Partial<PlantClientOptions>, error: Error]>([
    [
      { url: "nowhere" },
      new TypeError('url is "nowhere": it must be a URL such as http://127.0.0.1:7526'),
    ],
    [
      { url: "file:///plants" },
      new TypeError('url is "file:///plants": it must be a URL such as http://127.0.0.1:7526'),
    ],
    [
      { url: "http://a/?b=c" },
      new TypeError('url is "http://a/?b=c": it must be a URL that ends before any ? or #'),
    ],
    [
      { url: "http://a/#b" },
      new TypeError('url is "http://a/#b": it must be a URL that ends before any ? or #'),
    ],
    [
      { url: "http://ada:pw@a" },
      new TypeError(
        "url holds a user name or a password: leave them out, a plant store wants a token",
      ),
    ],
    [
      { token: "a\r\nb" },
      new TypeError(
        "token holds a character that no token has, such as a space or a line break: copy it again",
      ),
    ],
    [{ token: "" }, new TypeError("token is empty")],
    [
      { timeoutMs: 0 },
      new RangeError("timeoutMs is 0: it must be a whole number from 1 to 86400000"),
    ],
    [
      { timeoutMs: Number.NaN },
      new RangeError("timeoutMs is NaN: it must be a whole number from 1 to 86400000"),
    ],
    [
      { timeoutMs: 2 ** 31 },
      new RangeError("timeoutMs is 2147483648: it must be a whole number from 1 to 86400000"),
    ],
    [{ retries: -1 }, new RangeError("retries is -1: it must be a whole number from 0 to 100")],
    [{ retries: 0.5 }, new RangeError("retries is 0.5: it must be a whole number from 0 to 100")],
  ])("refuses %j", (options, error) => {
    expect(() => createClient({ url: "http://127.0.0.1:1", token: "a", ...options })).toThrow(
      expect.objectContaining({ name: error.name, message: error.message }) as Error,
    );
  });

  it.each([
    [{ id: 1, name: "fern" }, "id must be a bigint"],
    [{ id: 1n }, "name must be a string"],
    [{ id: 1n, name: null }, "name must be a string"],
    [{ id: 1n, name: 5 }, "name must be a string"],
    [{ id: 1n, name: ["a", "b"] }, "name must be a string"],
    [{ id: 1n, name: "fern", tag: null }, "tag must be a string, or be left out"],
    [{ id: 1n, name: "fern", tag: {} }, "tag must be a string, or be left out"],
  ])("refuses %o of a program without types", async (plant, message) => {
    const client = createClient({ url: "http://127.0.0.1:1", token: "a" });
    await expect(client.create(plant as unknown as typeof fern)).rejects.toThrow(
      new TypeError(message),
    );
  });

  it("returns a plant without a tag as one that has none", async () => {
    await using plants = await createPlantStore();
    const answer = await createClient(plants).create({ id: 1n, name: "fern" });
    expect(answer).toStrictEqual({ ok: true, plant: { name: "fern" }, result: "created" });
  });

  it("throws when nothing answers, and when something else does", async () => {
    const plants = await createPlantStore();
    const elsewhere = createClient({ ...plants, url: `${plants.url}/elsewhere` });
    await expect(elsewhere.create(fern)).rejects.toThrow(NotAPlantStoreError);
    await plants.close();
    const client = createClient({ ...plants, retries: 0 });
    await expect(client.create(fern)).rejects.toThrow(UnavailableError);
  });

  it("ends early by the signal", async () => {
    await using plants = await createPlantStore();
    const reason = new Error("enough");
    const create = createClient(plants).create(fern, { signal: AbortSignal.abort(reason) });
    await expect(create).rejects.toBe(reason);
  });
});
