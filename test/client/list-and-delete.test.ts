/** Lists and deletes plants over HTTP, with and without a program around the client. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createClient,
  NotAPlantStoreError,
  PageTooLargeError,
  type PlantClient,
  StoppedError,
} from "../../src/client.ts";
import { openPool } from "../../src/client/http-pool.ts";
import { openKeptConnection } from "../../src/client/http-request.ts";
import { toCreateRequest } from "../../src/client/create-plant.ts";
import { sendDeletion } from "../../src/client/delete-plants.ts";
import { int64Max, int64Min, type NewPlant } from "../../src/core/plant.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { errorResponse, json, openScriptedServer, type Responder } from "./scripted-server.ts";

function connect(url: string, options: object = {}): PlantClient {
  return createClient({ url, token: testToken, retries: 1, ...options });
}

async function readPages(pages: AsyncIterable<readonly NewPlant[]>) {
  const all: (readonly NewPlant[])[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

async function startAll(plants: readonly NewPlant[]) {
  const server = await startServer({ operations: "all", basePath: "/v1" });
  onTestFinished(() => server.close());
  for (const plant of plants) await server.store.create(plant, "reject");
  return server;
}

describe("list", () => {
  const plants = [
    { id: int64Min, name: "smallest" },
    { id: 2n, name: '"],[{\\', tag: "" },
    { id: 9_007_199_254_740_993n, name: "a" },
    { id: int64Max, name: "largest" },
  ];

  it.each([{}, { fetch }])("returns pages with exact ids: %o", async (options) => {
    const { url } = await startAll(plants);
    const client = connect(url, options);
    expect(await readPages(client.list())).toEqual([plants]);
    expect(await readPages(client.list({ limit: 3 }))).toEqual([
      plants.slice(0, 3),
      plants.slice(3),
    ]);
    expect(await readPages(client.list({ after: 2 }))).toEqual([plants.slice(2)]);
    expect(await readPages(client.list({ after: int64Max }))).toEqual([]);
  });

  it("requests a page when the loop asks for it", async () => {
    const { url, requests } = await openScriptedServer(json(200, '[{"id":1,"name":"a"}]'));
    for await (const page of connect(url).list({ limit: 1 })) {
      expect(page).toEqual([{ id: 1n, name: "a" }]);
      break;
    }
    expect(requests.map(({ path, method }) => `${method} ${path}`)).toEqual([
      "GET /plants?limit=1",
    ]);
  });

  it("ends with an empty page, whatever the length of a page and the header Link say", async () => {
    const link = { link: '<?limit=2&after=2>; Rel="NEXT"' };
    const { url, requests } = await openScriptedServer(
      json(200, '[{"id":1,"name":"a"}]'),
      json(200, '[{"id":2,"name":"b"}]', link),
      json(200, "[]", link),
    );
    const pages = await readPages(connect(url).list({ limit: 2 }));
    expect(pages).toEqual([[{ id: 1n, name: "a" }], [{ id: 2n, name: "b" }]]);
    expect(requests.map(({ path }) => path)).toEqual([
      "/plants?limit=2",
      "/plants?limit=2&after=1",
      "/plants?limit=2&after=2",
    ]);
  });

  it("adds no member that a plant has not", async () => {
    const { url } = await openScriptedServer(json(200, '[{"id":1,"name":"a"}]'), json(200, "[]"));
    const [page] = await readPages(connect(url).list());
    expect(page?.map((plant) => Object.keys(plant))).toEqual([["id", "name"]]);
  });

  it("throws the Error of the store as a StoppedError, after retries", async () => {
    const { url, requests } = await openScriptedServer(
      errorResponse(50300, { "retry-after": "0" }),
    );
    const error = await readPages(connect(url).list()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoppedError);
    expect((error as StoppedError).cause).toMatchObject({ attempts: 2, error: { error: 50300 } });
    expect(requests).toHaveLength(2);
  });

  it.each([
    ["no array", "{}"],
    ["plants without ids", '[{"name":"a"}]'],
    ["ids out of order", '[{"id":2,"name":"a"},{"id":1,"name":"b"}]'],
    ["an id twice", '[{"id":1,"name":"a"},{"id":1,"name":"b"}]'],
    ["an id with a fraction", '[{"id":1.5,"name":"a"}]'],
    ["broken JSON", '[{"id":1,"name":"a"}'],
  ])("rejects %s", async (_, body) => {
    const { url } = await openScriptedServer(json(200, body));
    await expect(readPages(connect(url).list())).rejects.toThrow(NotAPlantStoreError);
  });

  it("rejects a page that is too large, and says where to continue", async () => {
    const { url } = await openScriptedServer(
      json(200, '[{"id":1,"name":"a"}]'),
      json(200, `[{"id":2,"name":"${"a".repeat(17 * 1024 * 1024)}"}]`),
    );
    const error = await readPages(connect(url).list()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PageTooLargeError);
    expect((error as PageTooLargeError).after).toBe(1n);
  });

  it.each([
    [{ limit: 0 }, RangeError],
    [{ limit: 1001 }, RangeError],
    [{ after: 1.5 }, TypeError],
    [{ after: "1" }, TypeError],
    [{ sort: 1n }, TypeError],
  ])("rejects the options %o", async (options, type) => {
    const pages = connect("http://127.0.0.1:1").list(options as object);
    await expect(readPages(pages)).rejects.toThrow(type);
  });

  it("stops at an abort", async () => {
    const { url } = await openScriptedServer(json(200, '[{"id":1,"name":"a"}]'));
    const controller = new AbortController();
    const reason = new Error("enough");
    const pages = connect(url).list({ signal: controller.signal });
    await pages.next();
    controller.abort(reason);
    await expect(pages.next()).rejects.toBe(reason);
  });
});

describe("delete", () => {
  it.each([{}, { fetch }])("deletes a plant, and returns 40401 for none: %o", async (options) => {
    const server = await startAll([{ id: 1n, name: "a" }]);
    const client = connect(server.url, options);
    expect(await client.delete(1)).toEqual({ ok: true });
    expect(await client.delete(1n)).toMatchObject({ ok: false, error: { error: 40401 } });
    expect(await server.store.list({ limit: 1 })).toEqual([]);
  });

  it.each<[doubt: string, respond: Responder]>([
    ["a lost response", (response) => response.destroy()],
    ["a 502 of a proxy", json(502, "")],
    ["a 504 of a proxy", json(504, "")],
    ["50302", errorResponse(50302, { "retry-after": "0" })],
  ])("says that a plant is gone at 40401 after %s", async (_, respond) => {
    const { url } = await openScriptedServer(respond, errorResponse(40401));
    expect(await connect(url).delete(1n)).toEqual({ ok: true, gone: true });
  });

  it.each<[refusal: string, respond: Responder]>([
    ["40800", errorResponse(40800)],
    ["50300", errorResponse(50300, { "retry-after": "0" })],
    ["50301", errorResponse(50301, { "retry-after": "0" })],
    ["50399", errorResponse(50399, { "retry-after": "0" })],
    ["a 503 of a proxy", json(503, "", { "retry-after": "0" })],
    ["a 429 of a proxy", json(429, "", { "retry-after": "0" })],
  ])("returns 40401 after %s, which is a refusal", async (_, respond) => {
    const { url } = await openScriptedServer(respond, errorResponse(40401));
    expect(await connect(url).delete(1n)).toMatchObject({ ok: false, error: { error: 40401 } });
  });

  it("says that a plant is gone at 40401, if a pool sent the request twice", async () => {
    const { url } = await openScriptedServer(
      (response) => void response.writeHead(204).end(),
      (response) => response.destroy(),
      errorResponse(40401),
    );
    const pool = openPool(url, 1, 5000);
    const request = toCreateRequest(url, testToken);
    const options = { request, timeoutMs: 5000, retries: 1, post: pool.post };
    expect(await sendDeletion(1n, options)).toMatchObject({ ok: true });
    expect(await sendDeletion(2n, options)).toMatchObject({ ok: true, gone: true });
    await pool.close();
  });

  it.each([
    ["a pool", [2n, 3n], (url: string) => openPool(url, 16, 5000)],
    ["a kept connection", [2n], openKeptConnection],
  ])("counts a request of %s as sent, if it could not be sent again", async (_, ids, open) => {
    const server = createServer(({ url, socket }, response) => {
      if (url === "/plants/1") response.writeHead(204).end();
      else {
        server.close();
        socket.destroy();
      }
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const connections = open(url);
    const request = toCreateRequest(url, testToken);
    const options = { request, timeoutMs: 5000, retries: 0, post: connections.post };
    expect(await sendDeletion(1n, options)).toMatchObject({ ok: true });
    const failing = ids.map((id) => sendDeletion(id, options).catch((error: unknown) => error));
    const failures = await Promise.all(failing);
    await connections.close();
    expect(failures).toMatchObject(ids.map(() => ({ reason: "lost" })));
  });

  it.each(["1", 1.5, 2 ** 53, undefined])("rejects the id %o", async (id) => {
    const client = connect("http://127.0.0.1:1");
    await expect(client.delete(id as number)).rejects.toThrow(TypeError);
  });

  it("returns 40400 of a server that only creates plants", async () => {
    await using server = await startServer();
    const response = await connect(server.url).delete(1n);
    expect(response).toMatchObject({ ok: false, error: { error: 40400 } });
  });
});

it("takes a safe integer as an id of a plant", async () => {
  const server = await startAll([]);
  const client = connect(server.url);
  expect(await client.create({ id: 7, name: "a" })).toMatchObject({ ok: true });
  for await (const { id } of client.createMany([{ id: 8, name: "b" }])) expect(id).toBe(8n);
  await expect(client.create({ id: 2 ** 53, name: "c" })).rejects.toThrow(
    new TypeError("id must be a bigint or a safe integer"),
  );
  expect((await server.store.list({ limit: 9 })).map(({ id }) => id)).toEqual([7n, 8n]);
});
