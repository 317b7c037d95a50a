/** Faults on demand: their effect on clients, and the guarantees that still hold. */
import { describe, expect, it } from "vitest";
import {
  type FaultKind,
  type FaultRates,
  Faults,
  type ServerFaults,
} from "../../src/server/faults.ts";
import { type Certificate, createCertificate } from "../helpers/certificate.ts";
import { noFaults } from "../helpers/no-faults.ts";
import { testToken } from "../helpers/plant-server.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { createHeldStore } from "../helpers/held-store.ts";
import { exchangeRaw, openRawConnection, sendRaw } from "../helpers/raw-http.ts";
import { toRawCreate, toRawRequest } from "../helpers/raw-request.ts";
import { startRecordedServer } from "../helpers/recorded-server.ts";

const hourMs = 3_600_000;
const staying = new AbortController().signal;

async function drawKinds(options: Partial<FaultRates>, count: number): Promise<string[]> {
  const faults = new Faults({ ...noFaults, ...options });
  const stored = { status: 200, body: "{}", headers: [] };
  const results = Array.from({ length: count }, () => faults.perform(async () => stored, staying));
  return (await Promise.all(results)).map((result) => {
    if (!("status" in result)) return result.error === 40102 ? "token" : "failed";
    if (result.status !== 200) return String(result.status);
    return { all: "dropped", half: "cut", none: "stored" }[result.lost ?? "none"];
  });
}

describe("the sequence of faults", () => {
  const rates = { failRate: 0.3, dropRate: 0.3 };

  it("is the same for the same seed, and differs for another seed", async () => {
    const first = await drawKinds({ ...rates, seed: 1 }, 100);
    expect(await drawKinds({ ...rates, seed: 1 }, 100)).toEqual(first);
    expect(await drawKinds({ ...rates, seed: 2 }, 100)).not.toEqual(first);
    expect(new Set(first)).toEqual(new Set(["stored", "failed", "dropped"]));
  });

  it("begins with the planned faults, and has the rates after them", async () => {
    const kinds = await drawKinds({ failRate: 1, first: ["drop", "fail", "pass"] }, 5);
    expect(kinds).toEqual(["dropped", "failed", "stored", "failed", "failed"]);
    expect(await drawKinds({ first: ["fail"] }, 2)).toEqual(["failed", "stored"]);
    const first = ["status", "token", "cut"] as const;
    expect(await drawKinds({ first, pageStatus: 503 }, 4)).toEqual([
      "503",
      "token",
      "cut",
      "stored",
    ]);
  });

  it("is that of the seed, whatever further kinds there are", async () => {
    const kinds = await drawKinds({ ...rates, seed: 1 }, 6);
    expect(kinds).toEqual(["stored", "dropped", "failed", "dropped", "failed", "dropped"]);
  });

  it("has the rates of the options", async () => {
    const kinds = await drawKinds({ failRate: 0.1, dropRate: 0.5 }, 10_000);
    const count = (kind: string): number => kinds.filter((each) => each === kind).length;
    expect(count("failed")).toBeGreaterThan(900);
    expect(count("failed")).toBeLessThan(1100);
    expect(count("dropped")).toBeGreaterThan(4300);
    expect(count("dropped")).toBeLessThan(4700);
  });

  it.each([
    ["failRate", "failed"],
    ["dropRate", "dropped"],
    ["statusRate", "502"],
    ["tokenRate", "token"],
    ["cutRate", "cut"],
  ])("never has a fault at %s 0 and always has one at 1", async (name, kind) => {
    expect(new Set(await drawKinds({ [name]: 0 }, 1000))).toEqual(new Set(["stored"]));
    expect(new Set(await drawKinds({ [name]: 1 }, 1000))).toEqual(new Set([kind]));
  });
});

/** Starts a server with faults; also returns the faults that it counted and its request records. */
async function startFaulty(
  options: Partial<FaultRates>,
  others: Parameters<typeof startRecordedServer>[0] = {},
) {
  const counted: FaultKind[] = [];
  const faults = new Faults({ ...noFaults, ...options }, (kind) => void counted.push(kind));
  return { ...(await startRecordedServer({ faults, ...others })), counted };
}

describe("a failure on demand", () => {
  it("responds 50301 with Retry-After 0 before the store is used", async () => {
    await using server = await startFaulty({ failRate: 1 });
    const response = await exchangeRaw(server.port, toRawCreate(1));
    expect(response).toMatchObject({ status: 400, headers: { "retry-after": "0" } });
    expect(JSON.parse(response.body)).toEqual({
      error: 50301,
      message: "a fault for tests of clients: try again",
    });
    expect(await server.store.get(1n)).toBeUndefined();
    expect(server.counted).toEqual(["failed"]);
  });

  it("does not hide that a request is invalid", async () => {
    await using server = await startFaulty({ failRate: 1 });
    const { body } = await exchangeRaw(server.port, toRawRequest('{"id":1}'));
    expect(body).toContain('"error":42204');
  });

  it.each(["/healthz", "/readyz", "/openapi.json"])("does not apply to %s", async (path) => {
    await using server = await startFaulty({ failRate: 1, dropRate: 1, latencyMs: hourMs });
    expect((await fetch(server.url + path)).status).toBe(200);
  });
});

const certificate = createCertificate("localhost");
/** A response is cut in each of them by another part of the server. */
const transports: readonly (readonly [
  string,
  { fastLane?: boolean; certificate?: Certificate },
])[] = [
  ["without TLS", {}],
  ["over TLS", { certificate }],
  ["without the fast lane", { fastLane: false }],
];
const healthRequest = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

describe.each([
  ["without TLS", {}],
  ["over TLS", { certificate }],
  ["over TLS, without the fast lane", { certificate, fastLane: false }],
])("a dropped response %s", (_transport, transport) => {
  it("closes the connection after the commit", async () => {
    await using server = await startFaulty({ dropRate: 1 }, transport);
    using connection = await sendRaw(server.port, toRawCreate(1));
    await connection.ended();
    expect(connection.received()).toBe("");
    expect(await server.store.get(1n)).toMatchObject({ id: 1n });
    expect(server.counted).toEqual(["dropped"]);
    expect(server.records).toMatchObject([
      { result: "created", isDropped: true, isAborted: false },
    ]);
    expect(server.errors).toEqual([]);
  });

  it("comes after the responses to earlier requests, and nothing comes after it", async () => {
    await using server = await startFaulty({ first: ["pass", "pass", "drop"] }, transport);
    const requests = [1, 2, 3, 4].map((id) => toRawCreate(id));
    using connection = await sendRaw(server.port, requests.join(""));
    expect(await connection.resultsAtEnd()).toEqual(["200", "200"]);
    expect(await server.store.get(3n)).toMatchObject({ id: 3n });
    expect(server.server.readLoad()).toMatchObject({ changes: 0, waitingBytes: 0 });
  });

  it("holds no memory if the client disconnects before it reads the responses to earlier requests", async () => {
    // All responses are ready at the same time, and the last but one is dropped.
    const count = 12;
    let performed = 0;
    let release = (): void => {};
    const areAllHere = new Promise<void>((resolve) => (release = resolve));
    const faults: ServerFaults = {
      maxDelayMs: 0,
      stop: () => {},
      delay: (read) => read(),
      async perform(create) {
        performed += 1;
        const isDropped = performed === count - 1;
        const result = await create();
        await areAllHere;
        return isDropped && "status" in result ? { ...result, lost: "all" } : result;
      },
    };
    await using server = await startRecordedServer({ faults, ...transport });
    const { socket } = await openRawConnection(server.port);
    socket.pause();
    const name = "x".repeat(1_000_000);
    for (let id = 1; id <= count; id++) socket.write(toRawCreate(id, name));
    await expect.poll(() => performed).toBe(count);
    release();
    // The system takes some of them. The others wait until the client has read those.
    await expect.poll(() => server.records.length).toBeGreaterThan(0);
    expect(server.records.length).toBeLessThan(count - 1);
    socket.destroy();
    const load = { changes: 0, waitingBytes: 0, connections: 0 };
    await expect.poll(() => server.server.readLoad()).toEqual(load);
    expect(server.records).toHaveLength(count);
  });

  it("does not apply to a plant that is not stored", async () => {
    await using server = await startFaulty({ dropRate: 1 }, transport);
    await server.store.create({ id: 1n, name: "another" }, "reject");
    const { body } = await exchangeRaw(server.port, toRawCreate(1));
    expect(body).toContain('"error":40900');
  });
});

describe("a page on demand", () => {
  it("is HTML with a status of a proxy, before the store is used", async () => {
    await using server = await startFaulty({ statusRate: 1 });
    const response = await postPlant(server.url, testToken, '{"id":1,"name":"fern"}');
    expect(response.status).toBe(502);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("retry-after")).toBe("0");
    expect(await response.text()).toContain("<h1>502: a fault for tests of clients</h1>");
    expect(await server.store.get(1n)).toBeUndefined();
    expect(server.counted).toEqual(["status"]);
  });

  it("leaves the connection open", async () => {
    await using server = await startFaulty({ first: ["status", "token", "fail"] });
    const requests = [1, 1, 1, 1].map((id) => toRawCreate(id));
    using connection = await sendRaw(server.port, requests.join(""));
    await expect.poll(() => connection.received()).toContain("200 OK");
    expect(connection.received().match(/HTTP\/1.1 \d+/g)).toEqual([
      "HTTP/1.1 502",
      "HTTP/1.1 400",
      "HTTP/1.1 400",
      "HTTP/1.1 200",
    ]);
  });
});

it("a token is rejected on demand, with the challenge", async () => {
  await using server = await startFaulty({ tokenRate: 1 });
  const { status, headers, body } = await exchangeRaw(server.port, toRawCreate(1));
  expect(status).toBe(400);
  expect(headers["www-authenticate"]).toBe('Bearer realm="plantstore", error="invalid_token"');
  expect(JSON.parse(body)).toEqual({
    error: 40102,
    message: "a fault for tests of clients: the token counts as unknown for this request",
  });
  expect(await server.store.get(1n)).toBeUndefined();
});

describe.each(transports)("a cut response %s", (_transport, transport) => {
  it("ends in the middle of its body, after the commit", async () => {
    await using server = await startFaulty({ cutRate: 1 }, transport);
    using connection = await sendRaw(server.port, toRawCreate(1, "a fern of twenty"));
    await connection.ended();
    expect(connection.received()).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\r\nContent-Length: 27\r\n/);
    expect(connection.received()).toMatch(/\r\n\r\n\{"name":"a fe$/);
    expect(await server.store.get(1n)).toMatchObject({ id: 1n });
    expect(server.records).toMatchObject([
      { result: "created", isDropped: true, isAborted: false },
    ]);
    expect(server.counted).toEqual(["cut"]);
  });

  it("comes after the responses to earlier requests, and nothing comes after it", async () => {
    await using server = await startFaulty({ first: ["pass", "pass", "cut"] }, transport);
    const requests = [1, 2, 3, 4].map((id) => toRawCreate(id));
    using connection = await sendRaw(server.port, requests.join(""));
    await connection.ended();
    expect(connection.received().match(/HTTP\/1.1 200 OK/g)).toHaveLength(3);
    expect(connection.received()).toMatch(/\{"name"$/);
    connection.socket.destroy();
    const load = { changes: 0, waitingBytes: 0, connections: 0 };
    await expect.poll(() => server.server.readLoad()).toEqual(load);
  });
});

describe.each(transports.slice(1))("a cut response to a deletion %s", (_transport, transport) => {
  it("ends in its status line, since it has no body", async () => {
    const options = { ...transport, operations: "all" } as const;
    await using server = await startFaulty({ first: ["pass", "cut"] }, options);
    const requests = toRawCreate(1) + toRawRequest("", { method: "DELETE", target: "/plants/1" });
    using connection = await sendRaw(server.port, requests + toRawCreate(2));
    await connection.ended();
    expect(connection.received()).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\{"name":"fern"\}HTTP\/1\.$/);
    expect(await server.store.get(1n)).toBeUndefined();
    expect(server.records[1]).toMatchObject({ status: 204, isDropped: true });
    expect(server.counted).toEqual(["cut"]);
  });
});

describe.each(transports)("a silent server %s", (_transport, transport) => {
  it.each(["closes its side of", "closes"] as const)(
    "sends no response until the client %s the connection",
    async (how) => {
      await using server = await startFaulty({ silentRate: 1 }, transport);
      using connection = await sendRaw(server.port, toRawCreate(1));
      await expect.poll(() => server.counted).toEqual(["silent"]);
      expect(await server.store.get(1n)).toMatchObject({ id: 1n });
      expect((await exchangeRaw(server.port, healthRequest)).status).toBe(200);
      expect(server.server.readLoad()).toMatchObject({ changes: 1 });
      if (how === "closes") connection.socket.destroy();
      else connection.socket.end();
      await expect.poll(() => server.server.readLoad().changes).toBe(0);
      await expect.poll(() => server.records).toHaveLength(2);
      expect(connection.received()).toBe("");
    },
  );
});

it("a silent server responds with 50302 at the end of the shutdown", async () => {
  await using server = await startFaulty({ silentRate: 1 });
  using connection = await sendRaw(server.port, toRawCreate(1));
  await expect.poll(() => server.counted).toEqual(["silent"]);
  await server.server.close(1);
  expect(await connection.resultsAtEnd()).toEqual(["400 50302"]);
});

describe("a delayed response", () => {
  it("does not delay other paths, and counts as a create in flight", async () => {
    await using server = await startFaulty({ latencyMs: hourMs }, { maxInflight: 1 });
    using connection = await sendRaw(server.port, toRawCreate(1));
    await expect.poll(() => server.counted).toEqual(["delayed"]);
    expect(await server.store.get(1n)).toMatchObject({ id: 1n });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    const response = await exchangeRaw(server.port, toRawCreate(2));
    expect(response.body).toContain('"error":50301');
    expect(connection.received()).toBe("");
  });

  it.each([
    ["", {}],
    [", also if it would be dropped", { dropRate: 1 }],
  ])(
    "is replaced by 50302 at the end of the shutdown, which it does not delay%s",
    async (_, rates) => {
      await using server = await startFaulty({ latencyMs: hourMs, ...rates });
      using connection = await sendRaw(server.port, toRawCreate(1));
      await expect.poll(() => server.counted).toEqual(["delayed"]);
      await server.server.close(1);
      expect(await connection.resultsAtEnd()).toEqual(["400 50302"]);
    },
  );

  it.each([true, false])(
    "arrives although the delay is much longer than the request timeout, with the fast lane %s",
    async (fastLane) => {
      const limits = { requestTimeoutMs: 200, idleTimeoutMs: 100 };
      await using server = await startFaulty({ latencyMs: 3000 }, { ...limits, fastLane });
      const response = await exchangeRaw(server.port, toRawCreate(1));
      expect(response.status).toBe(200);
    },
  );

  it.each([true, false])(
    "ends when its client has gone, with the fast lane %s",
    async (fastLane) => {
      await using server = await startFaulty({ latencyMs: hourMs }, { fastLane });
      using connection = await sendRaw(server.port, toRawCreate(1));
      using half = await sendRaw(server.port, toRawCreate(2));
      await expect.poll(() => server.counted).toEqual(["delayed", "delayed"]);
      connection.socket.destroy();
      await expect.poll(() => server.server.readLoad().changes).toBe(1);
      // A client may close its side and still read the response.
      half.socket.end();
      expect(await half.resultsAtEnd()).toEqual(["200"]);
    },
  );

  it("arrives after a delay in the range", async () => {
    await using server = await startFaulty({ latencyMs: [1, 20] });
    const creating = [1, 2, 3].map((id) => exchangeRaw(server.port, toRawCreate(id)));
    for (const { status } of await Promise.all(creating)) expect(status).toBe(200);
    expect(server.counted).toEqual(["delayed", "delayed", "delayed"]);
  });
});

it("drops a response only after the store has committed", async () => {
  const held = createHeldStore();
  await using server = await startFaulty({ dropRate: 1 }, { store: held.store });
  using connection = await sendRaw(server.port, toRawCreate(1));
  await held.isWaiting(1);
  expect(connection.isOpen()).toBe(true);
  held.release("created");
  await connection.ended();
});
