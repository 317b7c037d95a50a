/** The plant store and its client as parts of another program. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createClient,
  type CreateOptions,
  type Fetch,
  type PlantClientOptions,
  startPlantStore,
  NotAPlantStoreError,
  StoreError,
  UnavailableError,
} from "../../src/index.ts";
import { findClosedUrl, json, openScriptedServer } from "../client/scripted-server.ts";
import { createCertificate } from "../helpers/certificate.ts";
import { sendRaw } from "../helpers/raw-http.ts";
import { toRawRequest } from "../helpers/raw-request.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const fern = { id: 9007199254740993n, name: "fern" };

describe("startPlantStore", () => {
  it("listens on a free port of this machine, with a token of its own", async () => {
    await using first = await startPlantStore();
    await using second = await startPlantStore();
    expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(second.url).not.toBe(first.url);
    expect(second.token).not.toBe(first.token);
    const answer = await createClient({ url: first.url, token: second.token }).create(fern);
    expect(answer).toMatchObject({ ok: false, error: { error: 40102 } });
  });

  it("uses its options", async () => {
    await using plants = await startPlantStore({
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

  it("uses the status that an error number begins with in status mode http", async () => {
    await using plants = await startPlantStore({ statusMode: "http" });
    const response = await fetch(`${plants.url}/plants`, { method: "POST" });
    expect(response.status).toBe(401);
    const answer = await createClient({ ...plants, token: "wrong" }).create(fern);
    expect(answer).toMatchObject({ ok: false, error: { error: 40102 } });
  });

  it("names its public URL, and allows the origins of pages", async () => {
    const publicUrl = "https://plants.example.org/v1";
    const corsOrigins = ["https://app.example.org"];
    await using plants = await startPlantStore({ publicUrl, corsOrigins });
    const headers = { origin: "https://app.example.org" };
    const response = await fetch(`${plants.url}/openapi.json`, { headers });
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example.org");
    expect(await response.json()).toMatchObject({ servers: [{ url: publicUrl }] });
  });

  it("has the faults that the options say, with ranges and defaults", async () => {
    await using plants = await startPlantStore({ faults: { failRate: 1, latencyMs: [0, 1] } });
    const answer = await createClient({ ...plants, retries: 0 }).create(fern);
    expect(answer).toMatchObject({ ok: false, error: { error: 50301 } });
    expect(await plants.get(fern.id)).toBeUndefined();
  });

  it("stores plants in the store of the option, and closes it before close() resolves", async () => {
    const store = `sqlite:${join(await createTemporaryDirectory(), "plants.db")}`;
    const first = await startPlantStore({ store });
    await createClient(first).create(fern);
    await first.close();
    await using second = await startPlantStore({ store });
    expect(await second.list({ limit: 10 })).toEqual([fern]);
    expect(await createClient({ ...second, token: first.token }).create(fern)).toMatchObject({
      error: { error: 40102 },
    });
  });

  it("can be closed twice, which closes the store", async () => {
    const plants = await startPlantStore();
    await createClient(plants).create(fern);
    await Promise.all([plants.close(), plants.close()]);
    await expect(plants.get(fern.id)).rejects.toThrow(StoreError);
  });

  it.each([0, 20])(
    "responds to a request that the program has sent before close(), and works on for %d ms",
    async (busyMs) => {
      const plants = await startPlantStore();
      const port = Number(new URL(plants.url).port);
      using connection = await sendRaw(port, toRawRequest('{"id":1,"name":"fern"}', plants));
      await expect.poll(() => connection.received()).toContain("200 OK");
      const closed = new Promise<void>((resolve, reject) => {
        connection.socket.write(toRawRequest('{"id":2,"name":"fern"}', plants));
        plants.close().then(resolve, reject);
        const endMs = performance.now() + busyMs;
        while (performance.now() < endMs);
      });
      expect(await connection.resultsAtEnd()).toEqual(["200", "200"]);
      connection.socket.destroy();
      await closed;
    },
  );

  it("ends delayed responses when it is closed", async () => {
    const plants = await startPlantStore({ faults: { latencyMs: 3_600_000 } });
    const create = createClient({ ...plants, retries: 0 }).create(fern);
    await expect.poll(() => plants.count()).toBe(1);
    await plants.close();
    expect(await create).toMatchObject({ ok: true, result: "created" });
  });

  it("can be started again on its port, and no request uses a connection of before", async () => {
    let port = 0;
    for (let round = 0; round < 12; round++) {
      await using plants = await startPlantStore({ port });
      port = Number(new URL(plants.url).port);
      expect(await (await fetch(`${plants.url}/healthz`)).json()).toEqual({ status: "ok" });
    }
  });

  it("reports its own failures to onError", async () => {
    const path = join(await createTemporaryDirectory(), "plants.db");
    const failures: unknown[] = [];
    const onError = (error: unknown): void => void failures.push(error);
    await using plants = await startPlantStore({ store: `sqlite:${path}`, onError });
    await rm(path);
    const answer = await createClient({ ...plants, retries: 0 }).create(fern);
    expect(answer).toMatchObject({ ok: false, error: { error: 50700 } });
    expect(failures).toMatchObject([{ name: "StoreError", reason: "full" }]);
  });

  it.each<[options: object, error: new (...given: never[]) => Error, message: string]>([
    [{ basePath: "/.." }, TypeError, "a path such as /v1"],
    [{ basePath: "/v1?a" }, TypeError, "basePath must be a path such as /v1"],
    [{ basePath: 1 }, TypeError, "basePath must be a string (got 1)"],
    [{ host: "::1%lo" }, TypeError, "without a port or a zone"],
    [{ host: "localhost:80" }, TypeError, "without a port"],
    [{ host: "" }, TypeError, "a host name or an IP address"],
    [{ port: "80" }, TypeError, 'port must be a whole number from 0 to 65535 (got "80")'],
    [{ port: 65_536 }, RangeError, "from 0 to 65535"],
    [{ port: -1 }, RangeError, "from 0 to 65535"],
    [{ maxBodyBytes: -1 }, RangeError, "from 1 to 67108864"],
    [{ maxBodyBytes: Number.NaN }, RangeError, "(got NaN)"],
    [{ maxBodyBytes: 64 * 1024 ** 2 + 1 }, RangeError, "to 67108864"],
    [{ maxBodyBytes: 0.5 }, RangeError, "(got 0.5)"],
    [{ maxInflight: 0 }, RangeError, "maxInflight must be a whole number from 1"],
    [{ maxInflight: Infinity }, RangeError, "a whole number from 1 to 1000000"],
    [{ onConflict: "x" }, TypeError, "must be one of reject, replace"],
    [{ token: "a b" }, TypeError, "token contains a space"],
    [{ token: "" }, TypeError, "token is empty"],
    [{ token: "pst_abc" }, TypeError, "token is incomplete or mistyped"],
    [{ token: 5 }, TypeError, "token must be a string"],
    [{ listen: false, port: 80 }, TypeError, "port has no effect with listen: false"],
    [{ token: "Bearer a" }, TypeError, "token begins with its scheme: leave out Bearer"],
    [[], TypeError, "options must be an object (got an array)"],
    [{ portt: 1 }, TypeError, 'unknown option "portt": did you mean port?'],
    [{ Basepath: "" }, TypeError, "did you mean basePath?"],
    [{ timeout: 1 }, TypeError, 'unknown option "timeout": known: store, host,'],
    [{ publicUrl: "plants" }, TypeError, "publicUrl must be a URL such as"],
    [{ corsOrigins: "*" }, TypeError, 'corsOrigins must be an array of origins such as ["https://'],
    [{ corsOrigins: ["https://a.example/b"] }, TypeError, "corsOrigins must be an origin such as"],
    [{ corsOrigins: ["*", "https://a.example"] }, TypeError, "corsOrigins must be * alone or"],
    [{ faults: { pageStatus: 200 } }, RangeError, "faults.pageStatus must be a whole number"],
    [{ statusMode: "rest" }, TypeError, 'statusMode must be one of contract, http (got "rest")'],
    [{ faults: "5%" }, TypeError, 'faults must be an object (got "5%")'],
    [{ faults: { failrate: 1 } }, TypeError, "did you mean failRate?"],
    [
      { faults: { failRate: 5 } },
      RangeError,
      "faults.failRate must be a number from 0 to 1, such as 0.05 for 5% (got 5)",
    ],
    [{ faults: { first: "fail" } }, TypeError, 'faults.first must be an array such as ["fail", '],
    [{ faults: { first: ["lose"] } }, TypeError, "faults.first must be one of fail, drop"],
    [{ faults: { latencyM: 5 } }, TypeError, 'unknown option "faults.latencyM": did you mean'],
    [{ faults: { dropRate: "5%" } }, TypeError, "faults.dropRate must"],
    [
      { faults: { latencyMs: 3_600_001 } },
      RangeError,
      "faults.latencyMs must be a whole number from 0 to 3600000 (got 3600001)",
    ],
    [
      { faults: { latencyMs: [2, 1] } },
      TypeError,
      "faults.latencyMs must be milliseconds, or a pair of them with the shortest first, such as [200, 2000]",
    ],
    [{ faults: { seed: -1 } }, RangeError, "from 0 to 999999999 (got -1)"],
    [null as unknown as object, TypeError, "options must be an object"],
    [{ faults: null }, TypeError, "faults must be an object (got null)"],
    [{ token: null }, TypeError, "token must be a string"],
    [{ seed: null }, TypeError, "seed must be an iterable of plants"],
    [{ onError: "log" }, TypeError, "onError"],
    [{ store: null }, TypeError, "store must be a string (got null)"],
    [{ store: "nowhere:" }, TypeError, "store is invalid: unknown store type"],
  ])("rejects the options %o", async (options, error, message) => {
    const rejected = startPlantStore(options);
    await expect(rejected).rejects.toThrow(error);
    await expect(rejected).rejects.toThrow(message);
  });

  it.each(["v1", "/v1/", "/v1"])("accepts the base path %s like --base-path", async (basePath) => {
    await using plants = await startPlantStore({ basePath });
    expect(new URL(plants.url).pathname).toBe("/v1");
  });

  it("accepts an IPv6 address in brackets like --host", async () => {
    await using plants = await startPlantStore({ host: "[::1]" });
    expect(new URL(plants.url).hostname).toBe("[::1]");
  });

  it("takes a safe integer as an id, and returns a bigint", async () => {
    await using plants = await startPlantStore({ seed: [{ id: 1, name: "fern" }] });
    expect(await plants.get(1)).toEqual({ id: 1n, name: "fern" });
    expect(await plants.list({ after: 0 })).toEqual([{ id: 1n, name: "fern" }]);
  });

  it.each([2 ** 53, 1.5, "1", null])("rejects the id %o", async (value) => {
    await using plants = await startPlantStore();
    const id = value as unknown as bigint;
    const problem = "must be a bigint, or a safe integer";
    await expect(plants.get(id)).rejects.toThrow(`id ${problem}`);
    await expect(plants.list({ after: id, limit: 1 })).rejects.toThrow(`after ${problem}`);
  });

  it.each([
    [null, "options must be an object (got null)"],
    [{ limit: "1" }, 'limit must be a whole number from 1 to 9007199254740991 (got "1")'],
    [{ limit: 1, tag: 5 }, "tag must be a string, or be left out"],
    [{ limit: 1, sort: "id" }, 'unknown option "sort": known: after, tag, limit'],
  ])("rejects the query %o of a program without types", async (query, message) => {
    await using plants = await startPlantStore();
    await expect(plants.list(query as { limit: number })).rejects.toThrow(new TypeError(message));
  });

  it("lists 100 plants without a limit", async () => {
    const plants = Array.from({ length: 101 }, (_, id) => ({ id: BigInt(id), name: "fern" }));
    await using store = await startPlantStore({ seed: plants });
    expect(await store.list()).toEqual(plants.slice(0, 100));
    expect(await store.list({ limit: undefined, after: 99n })).toEqual(plants.slice(100));
    expect(await store.list({ limit: 1 })).toEqual(plants.slice(0, 1));
  });

  it.each([0, 1.5, Number.NaN])("rejects a limit of %d plants", async (limit) => {
    await using plants = await startPlantStore();
    await expect(plants.list({ limit })).rejects.toThrow(RangeError);
  });

  it("has the default of every option that is undefined", async () => {
    const names = ["store", "host", "port", "listen", "seed", "token"];
    names.push("faults", "journal", "onError");
    const undefinedOptions = Object.fromEntries(names.map((name) => [name, undefined]));
    await using plants = await startPlantStore(undefinedOptions);
    const client = createClient({ ...plants, timeoutMs: undefined, ca: undefined });
    expect(await client.create(fern, { signal: undefined })).toMatchObject({ ok: true });
  });

  it("opens no port under Bun, and says how to serve there", async () => {
    Object.defineProperty(globalThis, "Bun", { value: {}, configurable: true });
    try {
      await expect(startPlantStore()).rejects.toThrow(/listen: false .* Bun\.serve\(\{ fetch/);
      await using plants = await startPlantStore({ listen: false });
      expect(await plants.count()).toBe(0);
    } finally {
      Reflect.deleteProperty(globalThis, "Bun");
    }
  });

  it("uses no SQLite under Deno, and says what to use there", async () => {
    Object.defineProperty(globalThis, "Deno", { value: {}, configurable: true });
    try {
      const store = `sqlite:${join(await createTemporaryDirectory(), "plants.db")}`;
      await expect(startPlantStore({ store })).rejects.toThrow(
        "SQLite cannot be used under Deno: run plantstore with Node.js, or use memory: or PostgreSQL",
      );
      await using plants = await startPlantStore({ listen: false });
      expect(await plants.count()).toBe(0);
    } finally {
      Reflect.deleteProperty(globalThis, "Deno");
    }
  });

  it("rejects if the port is in use", async () => {
    await using plants = await startPlantStore();
    const port = Number(new URL(plants.url).port);
    await expect(startPlantStore({ port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

describe("createClient", () => {
  it("returns the result, and sends every digit and character", async () => {
    await using plants = await startPlantStore();
    const client = createClient(plants);
    const plant = { ...fern, name: "a\u0000b 🌿", tag: "" };
    const { id, ...stored } = plant;
    expect(await client.create(plant)).toEqual({ ok: true, plant: stored, result: "created" });
    expect(await client.create(plant)).toEqual({ ok: true, plant: stored, result: "unchanged" });
    expect(await plants.get(id)).toEqual(plant);
  });

  it("returns the Error of the store as a value", async () => {
    await using plants = await startPlantStore();
    const client = createClient({ ...plants, token: "wrong" });
    expect(await client.create(fern)).toEqual({
      ok: false,
      error: { error: 40102, message: expect.stringContaining("token") as string },
      requestId: expect.any(String) as string,
    });
  });

  describe("fetch", () => {
    it("of a store without a port is used for each request, with its faults", async () => {
      const faults = { failRate: 0.3, dropRate: 0.3, seed: 1 };
      await using plants = await startPlantStore({ listen: false, basePath: "/v1", faults });
      // The host does not matter.
      const client = createClient({ ...plants, url: "http://plants.example/v1", retries: 100 });
      expect(await client.create(fern)).toMatchObject({ ok: true, plant: { name: fern.name } });
      const many = Array.from({ length: 50 }, (_, id) => ({ id: BigInt(id), name: "moss" }));
      const stored: bigint[] = [];
      for await (const { ok, id } of client.createMany(many)) if (ok) stored.push(id);
      expect(stored).toEqual(many.map(({ id }) => id));
      expect(await plants.all()).toEqual([...many, fern]);
    });

    it("of a store that listens is not used", async () => {
      await using plants = await startPlantStore();
      const url = await findClosedUrl();
      for (const options of [plants, { fetch: plants.fetch, token: plants.token }]) {
        const client = createClient({ ...options, url, retries: 0 });
        await expect(client.create(fern)).rejects.toMatchObject({ reason: "refused" });
        const many = client.createMany([fern]).next();
        await expect(many).rejects.toMatchObject({ reason: "refused" });
      }
      expect(await createClient(plants).create(fern)).toMatchObject({ ok: true });
    });

    it("of a program sends create and createMany", async () => {
      await using plants = await startPlantStore();
      const sent: string[] = [];
      const fetch: Fetch = (url, init) => {
        sent.push(`${init.method} ${url}`);
        return globalThis.fetch(url, init);
      };
      const client = createClient({ ...plants, fetch });
      expect(await client.create(fern)).toMatchObject({ ok: true, result: "created" });
      const { value } = await client.createMany([fern]).next();
      expect(value).toMatchObject({ ok: true, status: "unchanged" });
      expect(sent).toEqual(Array.from({ length: 2 }, () => `POST ${plants.url}/plants`));
    });

    it("that fails for each plant stops createMany", async () => {
      const fetch: Fetch = () => Promise.reject(new TypeError("Failed to fetch"));
      const client = createClient({ url: "http://a", token: "a", fetch, retries: 2 });
      const failure = { name: "UnavailableError", reason: "lost", attempts: 3 };
      await expect(client.create(fern)).rejects.toMatchObject(failure);
      await expect(client.createMany([fern]).next()).rejects.toMatchObject(failure);
    });

    it("may respond at once, and must return a Response", async () => {
      const headers = { "content-type": "application/json" };
      const options = { url: "http://a", token: "a" };
      const respond: Fetch = () => new Response('{"name":"fern"}', { headers });
      expect(await createClient({ ...options, fetch: respond }).create(fern)).toMatchObject({
        ok: true,
      });
      const invalid = createClient({ ...options, fetch: () => 5 as unknown as Response });
      await expect(invalid.create(fern)).rejects.toThrow(
        new TypeError("fetch must return a Response"),
      );
    });

    it("rejects with the reason of an aborted signal", async () => {
      const controller = new AbortController();
      const reason = new Error("enough");
      const fetch: Fetch = () => new Promise(() => controller.abort(reason));
      const client = createClient({ url: "http://a", token: "a", fetch });
      const created = client.create(fern, { signal: controller.signal });
      await expect(created).rejects.toBe(reason);
    });
  });

  it("accepts a URL object, which it checks as a string", async () => {
    await using plants = await startPlantStore({ basePath: "/v1" });
    const client = createClient({ ...plants, url: new URL(plants.url) });
    expect(await client.create(fern)).toMatchObject({ ok: true });
    expect(() => createClient({ ...plants, url: new URL("ftp://a") })).toThrow(
      new TypeError('url must be a URL such as http://127.0.0.1:7526 (got "ftp://a/")'),
    );
  });

  const aUrl = "url must be a URL such as http://127.0.0.1:7526";
  const aBareUrl = "url must be a URL without ? and #";
  const aTimeout = "timeoutMs must be a whole number from 1 to 86400000";

  it.each<[options: object, type: string, message: string]>([
    [{ url: 5 }, "TypeError", "url must be a string or a URL (got 5)"],
    [{ url: "nowhere" }, "TypeError", `${aUrl} (got "nowhere")`],
    [{ url: "file:///plants" }, "TypeError", `${aUrl} (got "file:///plants")`],
    [{ url: "http://a/?b=c" }, "TypeError", `${aBareUrl} (got "http://a/?b=c")`],
    [{ url: "http://a/#b" }, "TypeError", `${aBareUrl} (got "http://a/#b")`],
    [
      { url: "http://ada:pw@a" },
      "TypeError",
      "url contains a user name or a password: remove them, because a plant store uses a token",
    ],
    [{ token: "a\r\nb" }, "TypeError", "token is on several lines: write it on one line"],
    [{ token: "" }, "TypeError", "token is empty"],
    [{ timeoutMs: 0 }, "RangeError", `${aTimeout} (got 0)`],
    [{ timeoutMs: Number.NaN }, "RangeError", `${aTimeout} (got NaN)`],
    [{ timeoutMs: 2 ** 31 }, "RangeError", `${aTimeout} (got 2147483648)`],
    [{ timeoutM: 5 }, "TypeError", 'unknown option "timeoutM": did you mean timeoutMs?'],
    [
      { retry: 5 },
      "TypeError",
      'unknown option "retry": known: url, token, fetch, timeoutMs, retries, ca',
    ],
    [{ fetch: "x" }, "TypeError", 'fetch must be a function (got "x")'],
    [
      { fetch, ca: createCertificate("a").cert },
      "TypeError",
      "ca does not concern fetch: leave it out, and let fetch trust the authority",
    ],
    [
      { fetch, url: "unix:/run/plants.sock" },
      "TypeError",
      "url must begin with http: or https:, because fetch cannot use unix:",
    ],
    [{ retries: -1 }, "RangeError", "retries must be a whole number from 0 to 100 (got -1)"],
    [{ retries: 0.5 }, "RangeError", "retries must be a whole number from 0 to 100 (got 0.5)"],
  ])("rejects %j with a %s", (options, name, message) => {
    expect(() => createClient({ url: "http://127.0.0.1:1", token: "a", ...options })).toThrow(
      expect.objectContaining({ name, message }) as Error,
    );
  });

  it("rejects options that are not an object", () => {
    const error = new TypeError("options must be an object (got null)");
    expect(() => createClient(null as unknown as PlantClientOptions)).toThrow(error);
  });

  it.each([
    [null, "options must be an object (got null)"],
    [{ signal: "now" }, 'signal must be an AbortSignal (got "now")'],
    [{ signal: null }, "signal must be an AbortSignal (got null)"],
    [{ timeoutMs: 1 }, 'unknown option "timeoutMs": known: signal'],
  ])("rejects a create with the options %o", async (options, message) => {
    const client = createClient({ url: "http://127.0.0.1:1", token: "a" });
    const created = client.create(fern, options as unknown as CreateOptions);
    await expect(created).rejects.toThrow(new TypeError(message));
  });

  it.each([
    [null, "a plant must be an object"],
    [{ id: 2 ** 53, name: "fern" }, "id must be a bigint or a safe integer"],
    [{ id: 1n }, "name must be a string"],
    [{ id: 1n, name: null }, "name must be a string"],
    [{ id: 1n, name: 5 }, "name must be a string"],
    [{ id: 1n, name: ["a", "b"] }, "name must be a string"],
    [{ id: 1n, name: "fern", tag: null }, "tag must be a string, or be left out"],
    [{ id: 1n, name: "fern", tag: {} }, "tag must be a string, or be left out"],
  ])("rejects %o of a program without types", async (plant, message) => {
    const client = createClient({ url: "http://127.0.0.1:1", token: "a" });
    const created = client.create(plant as unknown as typeof fern);
    await expect(created).rejects.toThrow(TypeError);
    await expect(created).rejects.toThrow(message);
  });

  it("returns a plant without a tag without the member", async () => {
    await using plants = await startPlantStore();
    const answer = await createClient(plants).create({ id: 1n, name: "fern" });
    expect(answer).toStrictEqual({ ok: true, plant: { name: "fern" }, result: "created" });
  });

  it("throws without a response of a plant store", async () => {
    const plants = await startPlantStore();
    const elsewhere = createClient({ ...plants, url: `${plants.url}/elsewhere` });
    expect(await elsewhere.create(fern)).toMatchObject({ ok: false, error: { error: 40400 } });
    const message = `unknown path "/plants/plants": create plants with POST /plants`;
    const twice = createClient({ ...plants, url: `${plants.url}/plants` });
    expect(await twice.create(fern)).toEqual({
      ok: false,
      error: { error: 40400, message },
      requestId: expect.any(String) as string,
    });
    await expect(twice.createMany([fern]).next()).rejects.toMatchObject({
      name: "StoppedError",
      message: `every other create would fail as well: ${message}`,
      cause: { error: { message } },
    });
    const other = await openScriptedServer(json(404, "<h1>"));
    const client = createClient({ ...plants, url: other.url });
    await expect(client.create(fern)).rejects.toThrow(NotAPlantStoreError);
    const proxy = await openScriptedServer(json(413, "<h1>"));
    const limited = createClient({ ...plants, url: proxy.url }).create(fern);
    await expect(limited).rejects.toThrow("a proxy in front of the store limits bodies");
    await plants.close();
    const closed = createClient({ ...plants, retries: 0 });
    await expect(closed.create(fern)).rejects.toThrow(UnavailableError);
  });

  it("rejects with the reason of an aborted signal", async () => {
    await using plants = await startPlantStore();
    const reason = new Error("enough");
    const create = createClient(plants).create(fern, { signal: AbortSignal.abort(reason) });
    await expect(create).rejects.toBe(reason);
  });
});
