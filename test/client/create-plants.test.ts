import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  type ItemResult,
  NotAPlantStoreError,
  type PlantItem,
  StoppedError,
  UnavailableError,
} from "../../src/client/results.ts";
import { sendPlants, type SendPlantsOptions } from "../../src/client/create-plants.ts";
import { toCreateRequest } from "../../src/client/create-plant.ts";
import { openPool } from "../../src/client/http-pool.ts";
import type { NewPlant } from "../../src/core/plant.ts";
import { readNewPlant } from "../../src/core/read-plant.ts";
import { openFlakyProxy } from "../helpers/flaky-proxy.ts";
import { parseNewPlant } from "../helpers/parse-new-plant.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import {
  errorResponse,
  findClosedUrl,
  json,
  openRawServer,
  openScriptedServer,
  type Responder,
} from "./scripted-server.ts";

/** An item with its number in the input, counted from 1. */
interface TestItem extends PlantItem {
  readonly line: number;
}

function toItem(text: string, line: number): TestItem {
  const bytes = Buffer.from(text);
  return { line, bytes, plant: readNewPlant(bytes) };
}

/** Plants with the ids 1, 2, 3 …, each on the line of its id. */
async function* countedItems(count: number): AsyncGenerator<TestItem> {
  for (let id = 1; id <= count; id++) yield toItem(`{"id":${id},"name":"plant ${id}"}`, id);
}

async function* itemsOf(texts: readonly string[]): AsyncGenerator<TestItem> {
  for (const [index, text] of texts.entries()) yield toItem(text, index + 1);
}

interface TestOptions extends Partial<SendPlantsOptions> {
  readonly token?: string;
}

function start(
  items: AsyncGenerator<TestItem>,
  baseUrl: string,
  { token = testToken, ...options }: TestOptions = {},
) {
  const { concurrency = 64, timeoutMs = 10_000 } = options;
  const request = toCreateRequest(baseUrl, token);
  return sendPlants(items, {
    request,
    pool: openPool(request.url, concurrency, timeoutMs),
    timeoutMs,
    retries: 0,
    concurrency,
    stopSending: new AbortController().signal,
    stopReading: () => void items.return(undefined),
    ...options,
  });
}

type Collected = Awaited<ReturnType<typeof run>>;

/** Runs to the end. @returns items with a result, the lines of items without one, and the error of the run */
async function run(...args: Parameters<typeof start>) {
  const outcomes: { item: TestItem; result: ItemResult }[] = [];
  const unknown: number[] = [];
  let error: unknown;
  try {
    for await (const batch of start(...args)) {
      for (const [item, result] of batch) {
        if (result === undefined) unknown.push(item.line);
        else outcomes.push({ item, result });
      }
    }
  } catch (thrown) {
    error = thrown;
  }
  return { outcomes, unknown, error };
}

const linesOf = ({ outcomes }: Collected): number[] => outcomes.map(({ item }) => item.line);
const oneTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Returns the status of each outcome, or the number of its Error, or the reason for which there is no response. */
const kindsOf = ({ outcomes }: Collected): unknown[] =>
  outcomes.map(({ result }) => {
    if (result.ok) return result.status;
    return result.error instanceof UnavailableError ? result.error.reason : result.error.error;
  });

/** Expects one outcome for each plant, in their order: "created" for all of them but one. */
function expectCreatedBut(collected: Collected, count: number, line: number, kind: unknown): void {
  expect(linesOf(collected)).toEqual(oneTo(count));
  expect(kindsOf(collected)).toEqual(
    oneTo(count).map((each) => (each === line ? kind : "created")),
  );
}

const success = json(200, '{"name":"x"}', { "x-plantstore-result": "created" });

interface Arrival {
  readonly plant: NewPlant;
  readonly socket: Socket;
  readonly response: ServerResponse;
}

/** Starts a server that passes each plant to the test, which sends the response. */
async function openManualServer(onArrival: (arrival: Arrival) => void): Promise<string> {
  const { url } = await openScriptedServer((response, { body }) => {
    onArrival({ plant: parseNewPlant(Buffer.from(body)), socket: response.req.socket, response });
  });
  return url;
}

describe("many plants", () => {
  it("have outcomes in the order of the input, whatever the order of the responses is", async () => {
    const url = await openManualServer(({ plant, response }) => {
      setTimeout(() => success(response), Number((plant.id * 7919n) % 50n));
    });
    const collected = await run(countedItems(200), url);
    expect(linesOf(collected)).toEqual(oneTo(200));
  });

  it("share connections with several requests in flight", async () => {
    const sockets = new Set<Socket>();
    const pending: Arrival[] = [];
    const url = await openManualServer((arrival) => {
      sockets.add(arrival.socket);
      pending.push(arrival);
      if (pending.length === 64) for (const { response } of pending.splice(0)) success(response);
    });
    const collected = await run(countedItems(640), url, { concurrency: 64 });
    expect(linesOf(collected)).toHaveLength(640);
    expect(sockets.size).toBe(4);
  });

  it("with the same id are sent one after the other, and other plants meanwhile", async () => {
    const seen: string[] = [];
    const held: Arrival[] = [];
    const url = await openManualServer((arrival) => {
      seen.push(arrival.plant.name);
      if (arrival.plant.id === 2n) success(arrival.response);
      else held.push(arrival);
      if (seen.includes("other")) for (const { response } of held.splice(0)) success(response);
    });
    const names = ["first", "second", "third"].map((name) => `{"id":1,"name":"${name}"}`);
    const collected = await run(itemsOf([...names, '{"id":2,"name":"other"}']), url);
    expect(linesOf(collected)).toEqual(oneTo(4));
    expect(seen).toEqual(["first", "other", "second", "third"]);
  });
});

describe("reading is only as fast as creating", () => {
  // The limit for bytes in memory is 32 MiB. Each byte counts six times: see heldCopies.
  it.each<[what: string, size: number, concurrency: number, most: number]>([
    ["records", 10, 8, 32],
    ["bytes", 100_000, 256, 56],
    ["bytes of very large records", 4 * 1024 * 1024, 8, 2],
  ])("if the limit counts %s", async (_what, size, concurrency, most) => {
    await using server = await startServer({ maxBodyBytes: 8 * 1024 * 1024 });
    let read = 0;
    async function* records(): AsyncGenerator<TestItem> {
      for (let id = 1; id <= 300; id++) {
        read++;
        yield toItem(`{"id":${id},"name":"${"x".repeat(size)}"}`, id);
      }
    }
    const outcomes = start(records(), server.url, { concurrency });
    const { value: taken } = await outcomes.next();
    // No outcome is taken in this time, in which a reader without a limit would continue.
    await sleep(500);
    expect(read).toBeLessThanOrEqual((taken?.length ?? 0) + most + 1);
    await outcomes.return();
  });

  it("if the limit counts bytes of a body that is longer than its record because of escapes", async () => {
    const arrivals: Arrival[] = [];
    const url = await openManualServer((arrival) => arrivals.push(arrival));
    let read = 0;
    async function* records(): AsyncGenerator<TestItem> {
      for (let id = 1n; id <= 100n; id++) {
        read++;
        const name = "\u0001".repeat(200_000);
        yield { line: read, bytes: Buffer.from(name), plant: { id, name } };
      }
    }
    const outcomes = start(records(), url, { concurrency: 256 });
    const first = outcomes.next();
    await expect.poll(() => arrivals.length).toBeGreaterThan(3);
    await sleep(200);
    expect(read).toBeLessThanOrEqual(6);
    // The bodies may arrive in another order than that of the records.
    const findFirst = () => arrivals.find(({ plant }) => plant.id === 1n);
    await expect.poll(findFirst).toBeDefined();
    success(findFirst()!.response);
    await first;
    await outcomes.return();
  });
});

describe("a network with failures", () => {
  it.each<[what: string, drop: number, cut: number, delay: number]>([
    ["drops data", 0.1, 0, 0],
    ["cuts data in half", 0, 0.1, 0],
    ["drops, cuts and delays data", 0.05, 0.05, 0.3],
  ])("and %s leaves each plant with one outcome in the store", async (_what, drop, cut, delay) => {
    await using server = await startServer();
    const proxy = await openFlakyProxy(server.port, { drop, cut, delay }, 42);
    const collected = await run(countedItems(1000), proxy.url, { retries: 100 });
    expect(proxy.broken()).toBeGreaterThan(0);
    expect(collected.error).toBeUndefined();
    expect(linesOf(collected)).toEqual(oneTo(1000));
    expect(kindsOf(collected).filter((kind) => kind !== "created" && kind !== "unchanged")).toEqual(
      [],
    );
    const plants = await server.store.list({ limit: 2000 });
    expect(plants.map(({ id, name }) => [id, name])).toEqual(
      oneTo(1000).map((id) => [BigInt(id), `plant ${id}`]),
    );
  });

  it.each<[what: string, end: (response: ServerResponse, socket: Socket) => void]>([
    ["with Connection: close", (response) => response.setHeader("connection", "close")],
    [
      "without an announcement",
      (response, socket) => response.on("finish", () => socket.destroy()),
    ],
  ])("and a server that ends each connection after three responses %s", async (_what, end) => {
    const counts = new Map<Socket, number>();
    const seen = new Set<bigint>();
    const url = await openManualServer(({ plant, socket, response }) => {
      const count = (counts.get(socket) ?? 0) + 1;
      counts.set(socket, count);
      if (count === 3) end(response, socket);
      if (count <= 3) success(response);
      seen.add(plant.id);
    });
    const collected = await run(countedItems(300), url, { retries: 20 });
    expect(collected.error).toBeUndefined();
    expect(linesOf(collected)).toEqual(oneTo(300));
    expect(seen.size).toBe(300);
    expect(counts.size).toBeGreaterThan(10);
  });

  it("and a server that never responds to one request affects no other request", async () => {
    const url = await openManualServer(({ plant, response }) => {
      if (plant.id !== 3n) success(response);
    });
    const collected = await run(countedItems(100), url, { retries: 2, timeoutMs: 2000 });
    expectCreatedBut(collected, 100, 3, "timeout");
  });
});

describe("a transient failure", () => {
  it("of a plant is retried", async () => {
    const attempts = new Map<bigint, number>();
    const url = await openManualServer(({ plant, response }) => {
      const count = (attempts.get(plant.id) ?? 0) + 1;
      attempts.set(plant.id, count);
      if (count === 1 && plant.id % 10n === 0n) errorResponse(50301)(response);
      else success(response);
    });
    const collected = await run(countedItems(100), url, { retries: 1 });
    expect(new Set(kindsOf(collected))).toEqual(new Set(["created"]));
    expect([...attempts.values()].filter((count) => count === 2)).toHaveLength(10);
  });

  it.each([500, 501, 520, 521, 522, 523, 524, 530, 599])(
    "with status %i of a proxy is retried once the store has created a plant",
    async (status) => {
      const page = json(status, "<h1>", { "content-type": "text/html", "retry-after": "0" });
      const { url, requests } = await openScriptedServer(success, page, success);
      const collected = await run(countedItems(3), url, { concurrency: 1, retries: 1 });
      expectCreatedBut(collected, 3, 0, undefined);
      expect(requests).toHaveLength(4);
    },
  );

  it.each([403, 404, 600])("does not have the status %i, which ends the run", async (status) => {
    const { url, requests } = await openScriptedServer(success, json(status, "<h1>"), success);
    const collected = await run(countedItems(3), url, { concurrency: 1, retries: 1 });
    expect(collected.error).toMatchObject({ name: "NotAPlantStoreError" });
    expect(requests).toHaveLength(2);
  });

  it("that remains for one plant is its outcome, and does not stop the others", async () => {
    const url = await openManualServer(({ plant, response }) => {
      (plant.id === 5n ? errorResponse(50700) : success)(response);
    });
    // Other plants are created during the retry.
    async function* slowly(): AsyncGenerator<TestItem> {
      for await (const record of countedItems(40)) {
        yield record;
        await sleep(20);
      }
    }
    const collected = await run(slowly(), url, { retries: 1 });
    expect(collected.error).toBeUndefined();
    expectCreatedBut(collected, 40, 5, 50700);
  });
});

describe("without retries", () => {
  it.each([1, 64])(
    "one transient failure does not stop the run, %i at a time",
    async (concurrency) => {
      const url = await openManualServer(({ plant, response }) => {
        (plant.id === 5n ? errorResponse(50301) : success)(response);
      });
      const collected = await run(countedItems(20), url, { retries: 0, concurrency });
      expect(collected.error).toBeUndefined();
      expectCreatedBut(collected, 20, 5, 50301);
    },
  );

  it("a store that stays unavailable stops the run after three failures", async () => {
    const { url } = await openScriptedServer(errorResponse(50301));
    const collected = await run(countedItems(1000), url, { retries: 0, concurrency: 1 });
    expect(kindsOf(collected)).toEqual([50301, 50301]);
    expect(collected.unknown[0]).toBe(3);
    expect(collected.error).toBeInstanceOf(StoppedError);
  });
});

describe("the run ends early", () => {
  it("if the token is rejected, and sends nothing more", async () => {
    await using server = await startServer();
    const collected = await run(countedItems(100_000), server.url, { token: "wrong" });
    expect(collected.outcomes).toEqual([]);
    expect(collected.unknown[0]).toBe(1);
    expect(collected.unknown.length).toBeLessThan(1000);
    expect(collected.error).toBeInstanceOf(StoppedError);
    expect(collected.error).toMatchObject({ cause: { ok: false, error: { error: 40102 } } });
  });

  it("if the token is revoked during the run, and every plant has a result or is reported without one", async () => {
    let count = 0;
    const url = await openManualServer(({ response }) => {
      count++;
      (count > 500 ? errorResponse(40102) : success)(response);
    });
    const collected = await run(countedItems(100_000), url);
    expect(collected.error).toBeInstanceOf(StoppedError);
    expect(collected.outcomes.length).toBeGreaterThanOrEqual(400);
    expect(collected.outcomes.length).toBeLessThanOrEqual(500);
    expect(new Set(kindsOf(collected))).toEqual(new Set(["created"]));
    const lines = [...linesOf(collected), ...collected.unknown].toSorted(
      (one, other) => one - other,
    );
    expect(lines).toEqual(oneTo(lines.length));
    expect(count).toBeLessThan(1000);
  });

  const openServer = async (response: Responder) => (await openScriptedServer(response)).url;

  it.each<[what: string, open: () => Promise<string>, message: string]>([
    ["is of another kind of server", () => openServer(json(404, "{}")), "HTTP 404"],
    ["is 500 before the first plant", () => openServer(json(500, "<h1>")), "HTTP 500"],
    ["is 414 of a proxy", () => openServer(json(414, "<h1>")), "a proxy in front of the store"],
    ["is 431 of a proxy", () => openServer(json(431, "<h1>")), "a proxy in front of the store"],
    [
      "is not HTTP",
      () => openRawServer((socket) => socket.once("data", () => socket.write("SSH-2.0\r\n"))),
      "no HTTP response",
    ],
  ])("if the response %s", async (_what, open, message) => {
    const collected = await run(countedItems(1000), await open(), { retries: 5 });
    expect(collected.outcomes).toEqual([]);
    expect(collected.error).toBeInstanceOf(NotAPlantStoreError);
    expect((collected.error as Error).message).toContain(message);
  });

  it("but not if a proxy limits bodies, which rejects only the plant", async () => {
    const { url } = await openScriptedServer(success, json(413, "<h1>"), success);
    const { outcomes, error } = await run(countedItems(3), url, { concurrency: 1 });
    expect(error).toBeUndefined();
    const message = expect.stringContaining("limits bodies") as string;
    expect(outcomes.map(({ result }) => result)).toEqual([
      expect.objectContaining({ status: "created" }),
      { ok: false, status: "rejected", error: { message } },
      expect.objectContaining({ status: "created" }),
    ]);
  });

  it("if no server listens, after as many attempts as allowed", async () => {
    const url = await findClosedUrl();
    const collected = await run(countedItems(1000), url, { retries: 2 });
    expect(collected.outcomes).toEqual([]);
    expect(collected.error).toBeInstanceOf(UnavailableError);
    expect(collected.error).toMatchObject({ reason: "refused", attempts: 3 });
    expect(collected.unknown[0]).toBe(1);
  });

  it.each([50300, 50301, 50700])(
    "if the store responds to all plants with error %i",
    async (error) => {
      const { url } = await openScriptedServer(errorResponse(error));
      const collected = await run(countedItems(1000), url, { retries: 1 });
      expect(collected).toMatchObject({
        outcomes: [],
        error: { name: "StoppedError", cause: { attempts: 2 } },
      });
    },
  );

  it("if the caller stops, and ends the requests in flight", async () => {
    const closed: Promise<unknown>[] = [];
    const url = await openManualServer(({ plant, socket, response }) => {
      if (plant.id === 1n) success(response);
      else closed.push(once(socket, "close"));
    });
    for await (const [first] of start(countedItems(10), url)) {
      expect(first?.[0].line).toBe(1);
      break;
    }
    await Promise.all(closed);
  });
});

describe("fail-fast", () => {
  const invalid = '{"id":0}';
  const toText = (id: number): string => `{"id":${id},"name":"a"}`;

  it("with a concurrency of 1 sends nothing after the first plant that is not created", async () => {
    await using server = await startServer();
    const texts = [toText(1), invalid, ...oneTo(100).map(toText)];
    const collected = await run(itemsOf(texts), server.url, { isFailFast: true, concurrency: 1 });
    expect(kindsOf(collected)).toEqual(["created", 42204]);
    expect(collected.unknown).toEqual([]);
    expect(await server.store.list({ limit: 10 })).toHaveLength(1);
  });

  it("lets plants in flight end, and sends earlier plants with the same id but no later plant", async () => {
    const arrivals: Arrival[] = [];
    const url = await openManualServer((arrival) => void arrivals.push(arrival));
    // Large plants have separate connections, on which responses can come in any order.
    const name = "x".repeat(65_536);
    const ids = [1, 2, 1, 4, 2, ...oneTo(50).map((id) => id + 10)];
    const texts = ids.map((id) => `{"id":${id},"name":"${name}"}`);
    let stopReading = (): void => {};
    const hasStopped = new Promise<void>((resolve) => (stopReading = resolve));
    const outcomes = run(itemsOf(texts), url, { isFailFast: true, concurrency: 5, stopReading });
    await expect.poll(() => arrivals.length).toBe(3);
    const respond = (id: bigint, send: (response: ServerResponse) => void): void => {
      for (const { plant, response } of arrivals) if (plant.id === id) send(response);
    };
    respond(4n, errorResponse(40900));
    await hasStopped;
    respond(2n, success);
    respond(1n, success);
    await expect.poll(() => arrivals.length).toBe(4);
    success(arrivals[3]!.response);
    const collected = await outcomes;
    expect(linesOf(collected)).toEqual([1, 2, 3, 4]);
    expect(kindsOf(collected)[3]).toBe(40900);
    expect(collected.unknown[0]).toBe(5);
    const arrived = arrivals.map(({ plant }) => Number(plant.id));
    expect(arrived.toSorted((one, other) => one - other)).toEqual([1, 1, 2, 4]);
  });
});

describe("the last call", () => {
  it("lets requests in flight end, and leaves a plant that waits for a retry without a result", async () => {
    const stopSending = new AbortController();
    const held: ServerResponse[] = [];
    const url = await openManualServer(({ plant, response }) => {
      if (plant.id === 1n) errorResponse(50301)(response);
      else held.push(response);
      if (held.length < 4) return;
      stopSending.abort();
      for (const each of held.splice(0)) success(each);
    });
    const collected = await run(countedItems(5), url, {
      retries: 50,
      stopSending: stopSending.signal,
    });
    expect(collected.error).toBeUndefined();
    expect(collected.unknown).toEqual([1]);
    expect(kindsOf(collected)).toEqual(["created", "created", "created", "created"]);
  });

  it("ends the run within the time of an attempt, although the server goes on sending", async () => {
    const stopping = new AbortController();
    const head =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n";
    const url = await openRawServer((socket) => {
      socket.once("data", () => {
        stopping.abort();
        socket.write(head);
        const timer = setInterval(() => socket.write(" "), 10);
        socket.on("close", () => clearInterval(timer));
      });
    });
    const options = { retries: 50, timeoutMs: 500, stopSending: stopping.signal };
    const collected = await run(countedItems(5), url, options);
    expect(collected).toMatchObject({ error: undefined, outcomes: [], unknown: oneTo(5) });
  });
});
