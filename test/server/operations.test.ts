/** The operations of a server with all operations, over HTTP: lists, deletes, their parameters, and what they share with creates. */
import { describe, expect, it, onTestFinished } from "vitest";
import { int64Max, type NewPlant } from "../../src/core/plant.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { PlantServerOptions } from "../../src/server/server.ts";
import { noFaults } from "../helpers/no-faults.ts";
import { Faults } from "../../src/server/faults.ts";
import { startServer, type TestServer, testToken } from "../helpers/plant-server.ts";
import { sendRaw } from "../helpers/raw-http.ts";
import { toRawHead } from "../helpers/raw-request.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";
import { startRecordedServer } from "../helpers/recorded-server.ts";

const authorized = { authorization: `Bearer ${testToken}` };

type Send = (target: string, method?: string, init?: RequestInit) => Promise<Response>;

/** Returns a function that sends requests with the token. */
function toSend({ url, fetch }: Pick<TestServer, "url" | "fetch">): Send {
  return (target, method = "GET", init = {}) =>
    fetch(url + target, { method, headers: authorized, ...init });
}

async function startWhole(options: Partial<PlantServerOptions> = {}) {
  const server = await startServer({ operations: "all", ...options });
  return { ...server, send: toSend(server) };
}

async function readError(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: number };
  return [response.status, error];
}

function fill({ store }: Pick<TestServer, "store">, plants: readonly NewPlant[]) {
  return Promise.all(plants.map((plant) => store.create(plant, "reject")));
}

const toPlants = (count: number, name = "fern"): NewPlant[] =>
  Array.from({ length: count }, (_, id) => ({ id: BigInt(id), name }));

describe("GET /plants", () => {
  it("reads two pages at a time, and the others after them, also after a failure", async () => {
    const waiting: ((page: readonly NewPlant[] | Error) => void)[] = [];
    const listCommitted = () =>
      new Promise<readonly NewPlant[]>((resolve, reject) => {
        waiting.push((page) => (page instanceof Error ? reject(page) : resolve(page)));
      });
    await using server = await startServer({
      operations: "all",
      store: {
        create: () => Promise.reject(new Error("no creates")),
        checkWritable: async () => {},
        listCommitted,
      },
    });
    const send = toSend(server);
    const responses = Promise.all([1, 2, 3, 4, 5].map(async () => (await send("/plants")).status));
    await expect.poll(() => waiting.length).toBe(2);
    // It is handled after the others.
    await server.fetch(`${server.url}/healthz`);
    expect(waiting.length).toBe(2);
    waiting[0]?.(new Error("a failure"));
    for (let index = 1; index < 5; index++) {
      await expect.poll(() => waiting.length).toBe(Math.min(index + 2, 5));
      waiting[index]?.([]);
    }
    expect((await responses).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 400]);
  });

  it("names the next page exactly if more plants follow", async () => {
    await using server = await startWhole();
    await fill(server, toPlants(250));
    const read = async (query: string): Promise<[number[], string | null]> => {
      const response = await server.send(`/plants${query}`);
      const plants = (await response.json()) as { id: number }[];
      return [plants.map(({ id }) => id), response.headers.get("link")];
    };
    const ids = toPlants(250).map(({ id }) => Number(id));
    const next = (limit: number, after: number) => `<?limit=${limit}&after=${after}>; rel="next"`;
    expect(await read("")).toEqual([ids.slice(0, 100), next(100, 99)]);
    expect(await read("?limit=100&after=99")).toEqual([ids.slice(100, 200), next(100, 199)]);
    expect(await read("?limit=100&after=199")).toEqual([ids.slice(200), null]);
    expect(await read("?limit=50&after=199")).toEqual([ids.slice(200), null]);
    expect(await read("?limit=49&after=199")).toEqual([ids.slice(200, 249), next(49, 248)]);
    expect(await read("?after=249")).toEqual([[], null]);
    expect(await read(`?after=${int64Max}`)).toEqual([[], null]);
    expect(await read("?limit=1000")).toEqual([ids, null]);
  });

  it("ends a page at 1 MiB, but has one plant of any size", async () => {
    await using server = await startWhole();
    const lengths = [400_000, 400_000, 400_000, 2 ** 20 - 1000, 10, 180_000, 10];
    const toName = (length: number, id: number) => (id === 5 ? "\0" : "x").repeat(length);
    const plants = lengths.map((length, id) => ({ id: BigInt(id), name: toName(length, id) }));
    await fill(server, plants);
    const pages: number[][] = [];
    for (let target: string | undefined = "/plants"; target !== undefined;) {
      const response = await server.send(target);
      const body = await response.text();
      pages.push((JSON.parse(body) as { id: number }[]).map(({ id }) => id));
      if ((pages.at(-1)?.length ?? 0) > 1) expect(body.length).toBeLessThanOrEqual(2 ** 20);
      const [, query] = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "") ?? [];
      target = query && `/plants${query}`;
    }
    expect(pages).toEqual([[0, 1], [2], [3, 4], [5], [6]]);
  });

  it("responds to HEAD with the headers of GET", async () => {
    await using server = await startWhole();
    await fill(server, toPlants(2));
    const [get, head] = [
      await server.send("/plants?limit=1"),
      await server.send("/plants?limit=1", "HEAD"),
    ];
    expect(await head.text()).toBe("");
    for (const name of ["link", "content-length", "content-type", "cache-control"]) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });
});

describe("DELETE /plants/{id}", () => {
  it("names the id without a plant in the message of 40401", async () => {
    await using server = await startWhole();
    expect(await (await server.send("/plants/1", "DELETE")).json()).toEqual({
      error: 40401,
      message: "no plant has the id 1: check the id",
    });
  });

  it("shares a commit with changes that arrive at the same time, in their order", async () => {
    // A commit to a disk takes long enough for the other requests to arrive.
    const store = await openStore(await createSqliteStore([]));
    onTestFinished(() => store.close());
    await using server = await startRecordedServer({ operations: "all", store });
    const create = (name: string, id = 1) => {
      const body = `{"id":${id},"name":"${name}"}`;
      return `${toRawHead({ token: testToken })}Content-Length: ${body.length}\r\n\r\n${body}`;
    };
    const remove = `${toRawHead({ token: testToken }).replace("POST /plants", "DELETE /plants/1")}\r\n`;
    const further = Array.from({ length: 20 }, (_, index) => create("palm", index + 2));
    using connection = await sendRaw(
      server.port,
      [create("fern"), remove, remove, create("moss"), create("fern"), ...further].join(""),
    );
    const results = await connection.results(25);
    expect(results.slice(0, 5)).toEqual(["200", "204", "400 40401", "200", "400 40900"]);
    expect(results.slice(5)).toEqual(further.map(() => "200"));
    expect(server.records.slice(1).some(({ batch = 0 }) => batch > 1)).toBe(true);
  });
});

describe("a server with all operations", () => {
  it("checks the method and the path before the credential", async () => {
    await using server = await startWhole({ basePath: "/v1" });
    const anonymous = { headers: {} };
    for (const [method, target, status, allow] of [
      ["PUT", "/plants/x", 405, "DELETE"],
      ["GET", "/plants/1", 405, "DELETE"],
      ["POST", "/plants/1", 405, "DELETE"],
      ["PATCH", "/plants?limit=x", 405, "POST, GET, HEAD"],
      ["POST", "/plants/", 404, null],
      ["DELETE", "/plants/1/2", 404, null],
      ["DELETE", "/plants", 405, "POST, GET, HEAD"],
    ] as const) {
      const response = await server.send(target, method, anonymous);
      expect([response.status, response.headers.get("allow")], `${method} ${target}`).toEqual([
        status,
        allow,
      ]);
    }
    expect((await server.send("/plants/1".repeat(100), "PUT")).status).toBe(404);
  });

  it("names a path in the message of 40500 by its template", async () => {
    await using server = await startWhole({ basePath: "/v1" });
    const response = await server.send(`/plants/${"x".repeat(500)}`, "PUT");
    expect(await response.json()).toEqual({
      error: 40500,
      message: "method PUT is not allowed on /v1/plants/{id}: send DELETE",
    });
  });

  it.each([
    ["7", ", or GET /plants?after=6&limit=1"],
    ["-9223372036854775808", ", or GET /plants?limit=1"],
    ["fern", ""],
  ])("says which page has the plant of GET /plants/%s", async (id, instead) => {
    await using server = await startWhole();
    const message = `method GET is not allowed on /plants/{id}: send DELETE${instead}`;
    expect(await (await server.send(`/plants/${id}`)).json()).toEqual({ error: 40500, message });
  });

  it("lets pages of allowed origins read Link and delete", async () => {
    await using server = await startWhole({ corsOrigins: ["*"] });
    await fill(server, toPlants(2));
    const origin = { headers: { ...authorized, origin: "https://example.org" } };
    const list = await server.send("/plants?limit=1", "GET", origin);
    expect(list.headers.get("access-control-expose-headers")).toMatch(/\bLink\b/);
    const deleted = await server.send("/plants/1", "DELETE", origin);
    expect(deleted.status).toBe(204);
    expect(deleted.headers.get("access-control-expose-headers")).toMatch(/\bLink\b/);
    expect(deleted.headers.get("access-control-allow-methods")).toBeNull();
    for (const [path, allow] of [
      ["/plants/1", "DELETE, OPTIONS"],
      ["/plants", "POST, GET, HEAD, OPTIONS"],
    ] as const) {
      const preflight = await server.send(path, "OPTIONS", origin);
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-methods")).toBe(allow);
    }
  });

  it("reports each operation by its name", async () => {
    await using server = await startRecordedServer({ operations: "all" });
    const send = toSend(server);
    await send("/plants");
    await send("/plants/1", "DELETE");
    await send("/plants/1", "PUT");
    expect(server.records.map(({ operation, error }) => [operation, error])).toEqual([
      ["list", undefined],
      ["delete", 40401],
      [undefined, 40500],
    ]);
  });

  it("counts creates and deletes for faults, and delays a GET only", async () => {
    const kinds: string[] = [];
    const faults = new Faults(
      { ...noFaults, latencyMs: 1, first: ["pass", "fail", "drop"] },
      (kind) => kinds.push(kind),
    );
    await using server = await startWhole({ faults });
    await fill(server, toPlants(1));
    const list = async () => expect((await server.send("/plants")).status).toBe(200);
    await list();
    expect(kinds).toEqual(["delayed"]);
    expect(await readError(await server.send("/plants/7", "DELETE"))).toEqual([400, 40401]);
    await list();
    const failed = await server.send("/plants/0", "DELETE");
    expect([failed.headers.get("retry-after"), await readError(failed)]).toEqual([
      "0",
      [400, 50301],
    ]);
    expect(await server.store.count({})).toBe(1);
    await expect(server.send("/plants/0", "DELETE")).rejects.toThrow(
      /fetch failed|terminated|other side closed/,
    );
    expect(await server.store.count({})).toBe(0);
    await list();
    expect(kinds.filter((kind) => kind !== "delayed")).toEqual(["failed", "dropped"]);
  });
});
