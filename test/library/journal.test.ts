/** The journal of a running store keeps the requests of clients for tests. */
import { describe, expect, it } from "vitest";
import {
  createClient,
  type JournalEntry,
  type RunningPlantStore,
  startPlantStore,
} from "../../src/index.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { exchangeRaw } from "../helpers/raw-http.ts";
import { toRawHead, toRawRequest } from "../helpers/raw-request.ts";

const fern = { id: 1n, name: "fern" };
const fernBody = '{"id":1,"name":"fern"}';

it("has each request with its response, in the order of the responses", async () => {
  await using store = await startPlantStore({ journal: 10, basePath: "/v1", statusMode: "http" });
  const client = createClient(store);
  await client.create(fern);
  await client.create({ ...fern, name: "moss" });
  const { requestId } = await createClient({ ...store, token: "wrong" }).create(fern);
  await fetch(`${store.url}/elsewhere?a=b`);
  const ids = { receivedAt: expect.any(Date) as Date, requestId: expect.any(String) as string };
  const create = { ...ids, method: "POST", path: "/v1/plants", isSent: true };
  const headers = {
    host: new URL(store.url).host,
    "content-type": "application/json",
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": expect.stringContaining("plantstore/") as string,
    "content-length": expect.any(String) as string,
    connection: "close",
  };
  expect(store.requests()).toEqual([
    { ...create, headers, body: fernBody, status: 200, result: "created" },
    { ...create, headers, body: '{"id":1,"name":"moss"}', status: 409, error: 40900 },
    { ...create, headers, status: 401, error: 40102, requestId },
    {
      ...ids,
      method: "GET",
      path: "/v1/elsewhere",
      headers: expect.objectContaining({ accept: "*/*" }) as object,
      status: 404,
      error: 40400,
      isSent: true,
    },
  ]);
});

/** Sends a create in one way. */
type Send = (store: RunningPlantStore, body: string) => Promise<unknown>;

const toPort = ({ url }: RunningPlantStore): number => Number(new URL(url).port);

describe.each<[lane: string, send: Send]>([
  ["the fast lane", (store, body) => exchangeRaw(toPort(store), toRawRequest(body, store))],
  [
    "node:http",
    (store, body) => {
      const chunk = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`;
      const head = `${toRawHead(store)}Transfer-Encoding: chunked\r\n\r\n`;
      return exchangeRaw(toPort(store), `${head}${chunk}0\r\n\r\n`);
    },
  ],
  ["fetch", ({ fetch: send, token }, body) => postPlant("http://a", token, body, { send })],
])("of a request through %s", (_lane, send) => {
  it("has the body, and no credential", async () => {
    await using store = await startPlantStore({ journal: 10 });
    await send(store, '{"id":1,"name":"mönstera 🌱"}');
    expect(store.requests()).toMatchObject([
      { body: '{"id":1,"name":"mönstera 🌱"}', status: 200, result: "created" },
    ]);
    expect(JSON.stringify(store.requests())).not.toContain(store.token);
  });

  it("has the first 64 KiB of the body, without a character that is cut", async () => {
    await using store = await startPlantStore({ journal: 10 });
    const body = JSON.stringify({ id: 1, name: "x" + "ö".repeat(100_000) });
    await send(store, body);
    const [entry] = store.requests();
    expect(entry).toMatchObject({ status: 200, result: "created" });
    expect(body.startsWith(entry?.body ?? "none")).toBe(true);
    const cutCharacter = 1;
    expect(Buffer.byteLength(entry?.body ?? "")).toBe(64 * 1024 - cutCharacter);
  });
});

it("shows that a client repeated its request with the same body", async () => {
  const faults = { dropRate: 0.3, cutRate: 0.3, failRate: 0.2, statusRate: 0.2, seed: 3 };
  await using store = await startPlantStore({ journal: 1000, faults });
  const client = createClient({ ...store, retries: 100 });
  const plants = Array.from({ length: 20 }, (_, id) => ({ id: BigInt(id), name: "fern" }));
  for await (const { ok } of client.createMany(plants)) expect(ok).toBe(true);
  for (const { id } of plants) {
    const ofPlant = store.requests().filter(({ body }) => body === `{"id":${id},"name":"fern"}`);
    expect(ofPlant.some(({ isSent, result }) => isSent && result !== undefined)).toBe(true);
    // A fault before the store has no result, nor has a request on a connection that a fault has closed.
    const results = ofPlant.flatMap(({ result }) => result ?? []);
    expect(results.toSorted()).toEqual(["created", ...results.slice(1).fill("unchanged")]);
  }
  const isDropped = ({ isSent }: JournalEntry): boolean => !isSent;
  expect(store.requests().filter(isDropped).length).toBeGreaterThan(0);
});

it("shows planned faults, which reset() begins again", async () => {
  const faults = { first: ["fail", "drop"] } as const;
  await using store = await startPlantStore({ journal: 10, faults });
  for (const _ of [1, 2]) {
    expect(await createClient(store).create(fern)).toMatchObject({ result: "unchanged" });
    expect(store.requests()).toMatchObject([
      { error: 50301, isSent: true },
      { result: "created", isSent: false },
      { result: "unchanged", isSent: true },
    ]);
    await store.reset();
  }
});

it("has a request whose client went away before the response", async () => {
  const faults = { latencyMs: 500 };
  await using store = await startPlantStore({ listen: false, journal: 1, faults });
  const client = createClient({ ...store, timeoutMs: 50, retries: 0 });
  await expect(client.create(fern)).rejects.toMatchObject({ reason: "timeout" });
  await expect.poll(() => store.requests()).toMatchObject([{ body: fernBody, isSent: false }]);
});

it("has the newest entries in order, however often it was full, until reset()", async () => {
  await using store = await startPlantStore({ journal: 3 });
  expect(store.requests()).toEqual([]);
  const paths: string[] = [];
  for (let count = 0; count < 8; count++) {
    await store.fetch(`http://a/${count}`);
    paths.push(`/${count}`);
    expect(store.requests().map(({ path }) => path)).toEqual(paths.slice(-3));
  }
  const before = store.requests();
  await store.reset();
  expect(store.requests()).toEqual([]);
  // An array that was returned before does not change.
  expect(before).toHaveLength(3);
});

it("has no request that came before reset()", async () => {
  const store = await startPlantStore({ journal: 10, faults: { latencyMs: 3_600_000 } });
  const delayed = createClient(store).create(fern);
  await expect.poll(() => store.count()).toBe(1);
  await store.reset();
  await store.close();
  expect(await delayed).toMatchObject({ result: "created" });
  expect(store.requests()).toEqual([]);
});

describe("nextRequest()", () => {
  it("resolves with the next request, whose response is sent", async () => {
    await using store = await startPlantStore({ journal: 1 });
    const client = createClient(store);
    await client.create(fern);
    const next = store.nextRequest();
    await client.create({ ...fern, id: 2n });
    const entry = await next;
    expect(entry).toMatchObject({ body: '{"id":2,"name":"fern"}', result: "created" });
    expect(store.requests()).toEqual([entry]);
  });

  it("gives each of several calls another request, in the order of the calls", async () => {
    await using store = await startPlantStore({ journal: 10 });
    const next = Promise.all([store.nextRequest(), store.nextRequest()]);
    await store.fetch("http://a/first");
    await store.fetch("http://a/second");
    expect(await next).toMatchObject([{ path: "/first" }, { path: "/second" }]);
  });

  it("rejects if no request comes in time, and then takes no request from another call", async () => {
    await using store = await startPlantStore({ journal: 10 });
    await expect(store.nextRequest({ timeoutMs: 20 })).rejects.toThrow(
      new Error("no request came within 20 ms"),
    );
    const next = store.nextRequest();
    await store.fetch("http://a/later");
    expect(await next).toMatchObject({ path: "/later" });
  });

  it("rejects when the store is closed", async () => {
    const store = await startPlantStore({ journal: 10 });
    const closed = new Error("the store was closed");
    const next = store.nextRequest();
    await Promise.all([store.close(), expect(next).rejects.toThrow(closed)]);
  });

  it.each<[options: object, message: string]>([
    [{ timeoutMs: 0 }, "timeoutMs must be a whole number from 1 to 86400000 (got 0)"],
    [{ timeoutMs: "5" }, "timeoutMs must be a whole number"],
    [{ timeoutM: 5 }, 'unknown option "timeoutM": did you mean timeoutMs?'],
  ])("rejects the options %o", async (options, message) => {
    await using store = await startPlantStore({ journal: 10 });
    await expect(store.nextRequest(options)).rejects.toThrow(message);
  });
});

it("is an option", async () => {
  await using store = await startPlantStore();
  expect(() => store.requests()).toThrow(
    new Error("requests() needs a journal: start the store with an option such as journal: 1000"),
  );
  await expect(store.nextRequest()).rejects.toThrow("nextRequest() needs a journal");
  await expect(startPlantStore({ journal: 0 })).rejects.toThrow(
    new RangeError("journal must be a whole number from 1 to 100000 (got 0)"),
  );
  await expect(startPlantStore({ journal: true as unknown as number })).rejects.toThrow(TypeError);
});

it("has no header with a credential", async () => {
  await using store = await startPlantStore({ journal: 10 });
  const secrets = { "proxy-authorization": "Basic c2VjcmV0", cookie: "session=secret" };
  await store.fetch("http://a/healthz", { headers: { ...secrets, "x-request-id": "shown" } });
  expect(store.requests()).toMatchObject([{ headers: { "x-request-id": "shown" } }]);
  expect(Object.keys(store.requests()[0]?.headers ?? {})).not.toContain("cookie");
  expect(JSON.stringify(store.requests())).not.toContain("c2VjcmV0");
});
