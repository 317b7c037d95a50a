import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { NotAPlantStoreError, UnavailableError } from "../../src/client/client-error.ts";
import {
  createPlants,
  type CreatePlantsOptions,
  type Outcome,
  type PlantItem,
} from "../../src/client/create-plants.ts";
import { StoppedError } from "../../src/client/stopped-error.ts";
import { toCreateRequest } from "../../src/client/create-request.ts";
import { type NewPlant, parseNewPlant, readNewPlant } from "../../src/core/plant.ts";
import { openFlakyProxy } from "../helpers/flaky-proxy.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { errorAnswer, findClosedUrl, json, openRawServer } from "./scripted-server.ts";

/** An item with its place in the input, counted from 1. */
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

interface TestOptions extends Partial<CreatePlantsOptions> {
  readonly token?: string;
}

function start(
  items: AsyncGenerator<TestItem>,
  baseUrl: string,
  { token = testToken, ...options }: TestOptions = {},
) {
  async function* groups(): AsyncGenerator<TestItem[]> {
    for await (const item of items) yield [item];
  }
  return createPlants(groups(), {
    request: toCreateRequest(baseUrl, token),
    timeoutMs: 10_000,
    retries: 0,
    concurrency: 64,
    ratePerSecond: Number.POSITIVE_INFINITY,
    isFailFast: false,
    concernsAll: (error) => error === 40102,
    lastCall: new AbortController().signal,
    stopReading: () => void items.return(undefined),
    ...options,
  });
}

interface Told {
  /** Items with a result. */
  readonly outcomes: Outcome<TestItem>[];
  /** Lines of items without a result. */
  readonly unknown: number[];
  readonly error: unknown;
}

/** Returns all outcomes, and the error that ended them. */
async function tell(...args: Parameters<typeof start>): Promise<Told> {
  const outcomes: Outcome<TestItem>[] = [];
  const unknown: number[] = [];
  let error: unknown;
  try {
    for await (const batch of start(...args)) {
      for (const outcome of batch) {
        if (outcome.result === undefined) unknown.push(outcome.item.line);
        else outcomes.push(outcome);
      }
    }
  } catch (thrown) {
    error = thrown;
  }
  return { outcomes, unknown, error };
}

const linesOf = ({ outcomes }: Told): number[] => outcomes.map(({ item }) => item.line);
const oneTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** What stands in for an outcome in a comparison: the result, the number of the Error, or the reason of no answer. */
const kindsOf = ({ outcomes }: Told): unknown[] =>
  outcomes.map(({ result }) => {
    if (result instanceof UnavailableError) return result.reason;
    if (result === undefined || !("ok" in result)) return result?.error;
    return result.ok ? result.result : result.error.error;
  });

const success = json(200, '{"name":"x"}', { "x-plantstore-result": "created" });

interface Arrival {
  readonly plant: NewPlant;
  readonly socket: Socket;
  readonly response: ServerResponse;
}

/** A server that hands over each plant, and answers nothing by itself. */
async function openSlowServer(onArrival: (arrival: Arrival) => void): Promise<string> {
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      onArrival({ plant: parseNewPlant(Buffer.concat(chunks)), socket: request.socket, response });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("many plants", () => {
  it("are created, and told in their order", async () => {
    await using server = await startServer();
    const told = await tell(countedItems(1000), server.url);
    expect(told.error).toBeUndefined();
    expect(linesOf(told)).toEqual(oneTo(1000));
    expect(new Set(kindsOf(told))).toEqual(new Set(["created"]));
    expect(await server.store.list({ limit: 2000 })).toHaveLength(1000);
  });

  it("are told in their order, whichever is answered first", async () => {
    const url = await openSlowServer(({ plant, response }) => {
      setTimeout(() => success(response), Number((plant.id * 7919n) % 50n));
    });
    const told = await tell(countedItems(200), url);
    expect(linesOf(told)).toEqual(oneTo(200));
  });

  it("are told as soon as they are known", async () => {
    const waiting: Arrival[] = [];
    const url = await openSlowServer((arrival) => waiting.push(arrival));
    const outcomes = start(countedItems(2), url);
    const first = outcomes.next();
    while (waiting.length < 2) await sleep(2);
    success(waiting[0]!.response);
    expect((await first).value).toMatchObject([{ item: { line: 1 } }]);
    success(waiting[1]!.response);
    expect((await outcomes.next()).value).toMatchObject([{ item: { line: 2 } }]);
    expect((await outcomes.next()).done).toBe(true);
  });

  it("share connections, on each of which several wait for their answers", async () => {
    const sockets = new Map<Socket, number>();
    const waiting: Arrival[] = [];
    const url = await openSlowServer((arrival) => {
      sockets.set(arrival.socket, (sockets.get(arrival.socket) ?? 0) + 1);
      waiting.push(arrival);
      if (waiting.length === 64) for (const { response } of waiting.splice(0)) success(response);
    });
    const told = await tell(countedItems(640), url, { concurrency: 64 });
    expect(linesOf(told)).toHaveLength(640);
    expect(sockets.size).toBe(4);
  });

  it("that are refused here are not sent, and cost no other", async () => {
    await using server = await startServer();
    const texts = ['{"id":1,"name":"a"}', "{", '{"id":1.5,"name":"a"}', '{"id":4,"name":"b"}'];
    const told = await tell(itemsOf(texts), server.url);
    expect(kindsOf(told)).toEqual(["created", 40001, 42202, "created"]);
  });

  it("with the same id are sent one after the other, and those with others meanwhile", async () => {
    const seen: string[] = [];
    const held: Arrival[] = [];
    const url = await openSlowServer((arrival) => {
      seen.push(arrival.plant.name);
      if (arrival.plant.id === 2n) success(arrival.response);
      else held.push(arrival);
      if (seen.includes("other")) for (const { response } of held.splice(0)) success(response);
    });
    const names = ["first", "second", "third"].map((name) => `{"id":1,"name":"${name}"}`);
    const told = await tell(itemsOf([...names, '{"id":2,"name":"other"}']), url);
    expect(linesOf(told)).toEqual(oneTo(4));
    expect(seen).toEqual(["first", "other", "second", "third"]);
  });

  it("that are large have a connection of their own", async () => {
    await using server = await startServer();
    const name = "x".repeat(100_000);
    const texts = oneTo(20).map((id) => `{"id":${id},"name":"${name}"}`);
    const told = await tell(itemsOf(texts), server.url);
    expect(new Set(kindsOf(told))).toEqual(new Set(["created"]));
  });

  it("are begun at no more than a given rate", async () => {
    await using server = await startServer();
    const startedAtMs = performance.now();
    await tell(countedItems(400), server.url, { ratePerSecond: 1000 });
    expect(performance.now() - startedAtMs).toBeGreaterThan(250);
  });
});

describe("a rate at which the next plant is due in an hour", () => {
  const ratePerSecond = 1 / 3600;

  it("delays neither the first plant nor the end behind the last", async () => {
    await using server = await startServer();
    const told = await tell(countedItems(1), server.url, { ratePerSecond });
    expect(kindsOf(told)).toEqual(["created"]);
  });

  it("does not delay the last call, after which nothing is sent", async () => {
    await using server = await startServer();
    const lastCall = new AbortController();
    const options = { ratePerSecond, lastCall: lastCall.signal };
    const outcomes = start(countedItems(2), server.url, options);
    expect((await outcomes.next()).value).toMatchObject([{ item: { line: 1 } }]);
    lastCall.abort();
    const { value: batch } = await outcomes.next();
    expect(batch).toMatchObject([{ item: { line: 2 }, result: undefined }]);
    expect((await outcomes.next()).done).toBe(true);
    expect(await server.store.list({ limit: 10 })).toHaveLength(1);
  });

  it("does not delay the end of a run that is left", async () => {
    await using server = await startServer();
    let isClosed = false;
    async function* items(): AsyncGenerator<TestItem> {
      try {
        yield* countedItems(3);
      } finally {
        isClosed = true;
      }
    }
    const outcomes = start(items(), server.url, { ratePerSecond });
    await outcomes.next();
    await outcomes.return();
    await expect.poll(() => isClosed).toBe(true);
    expect(await server.store.list({ limit: 10 })).toHaveLength(1);
  });
});

describe("reading goes no faster than creating", () => {
  // Each byte is there six times: in the record, the body, what is on its way, and the answer. All of them: 32 MiB.
  it.each<[what: string, size: number, concurrency: number, most: number]>([
    ["in records", 10, 8, 32],
    ["in bytes", 100_000, 256, 56],
    ["in bytes of very large ones", 4 * 1024 * 1024, 8, 2],
  ])("%s", async (_what, size, concurrency, most) => {
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
    await sleep(500); // With nobody who takes the outcomes.
    expect(read).toBeLessThanOrEqual((taken?.length ?? 0) + most + 1);
    await outcomes.return();
  });

  it("in bytes of the body, which has as escapes what a table has not", async () => {
    const arrivals: Arrival[] = [];
    const url = await openSlowServer((arrival) => arrivals.push(arrival));
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
    // The outcomes come in the order of the records, in which the bodies need not have arrived.
    const findFirst = () => arrivals.find(({ plant }) => plant.id === 1n);
    await expect.poll(findFirst).toBeDefined();
    success(findFirst()!.response);
    await first;
    await outcomes.return();
  });
});

describe("a network that fails", () => {
  it.each<[what: string, drop: number, cut: number, delay: number]>([
    ["drops what passes", 0.1, 0, 0],
    ["cuts what passes in half", 0, 0.1, 0],
    ["does all of it, and is slow", 0.05, 0.05, 0.3],
  ])("and %s: each plant is there once, and told once", async (_what, drop, cut, delay) => {
    await using server = await startServer();
    const proxy = await openFlakyProxy(server.port, { drop, cut, delay }, 42);
    const told = await tell(countedItems(1000), proxy.url, { retries: 100 });
    expect(proxy.broken()).toBeGreaterThan(10);
    expect(told.error).toBeUndefined();
    expect(linesOf(told)).toEqual(oneTo(1000));
    expect(kindsOf(told).filter((kind) => kind !== "created" && kind !== "unchanged")).toEqual([]);
    const plants = await server.store.list({ limit: 2000 });
    expect(plants.map(({ id, name }) => [id, name])).toEqual(
      oneTo(1000).map((id) => [BigInt(id), `plant ${id}`]),
    );
  });

  it.each<[what: string, end: (response: ServerResponse, socket: Socket) => void]>([
    ["with a header", (response) => response.setHeader("connection", "close")],
    ["without a word", (response, socket) => response.on("finish", () => socket.destroy())],
  ])("and a server that ends each connection after some answers, %s", async (_what, end) => {
    const answers = new Map<Socket, number>();
    const seen = new Set<bigint>();
    const url = await openSlowServer(({ plant, socket, response }) => {
      const count = (answers.get(socket) ?? 0) + 1;
      answers.set(socket, count);
      if (count === 3) end(response, socket);
      if (count <= 3) success(response);
      seen.add(plant.id);
    });
    const told = await tell(countedItems(300), url, { retries: 20 });
    expect(told.error).toBeUndefined();
    expect(linesOf(told)).toEqual(oneTo(300));
    expect(seen.size).toBe(300);
    expect(answers.size).toBeGreaterThan(10);
  });

  it("one that never answers a request costs no other its connection for ever", async () => {
    const url = await openSlowServer(({ plant, response }) => {
      if (plant.id !== 3n) success(response);
    });
    const told = await tell(countedItems(100), url, { retries: 2, timeoutMs: 300 });
    expect(linesOf(told)).toEqual(oneTo(100));
    expect(kindsOf(told)[2]).toBe("timeout");
    expect(kindsOf(told).filter((kind) => kind === "created")).toHaveLength(99);
  });
});

describe("a failure that passes", () => {
  it("is repeated, on a connection that no other waits on", async () => {
    const tries = new Map<bigint, number>();
    const url = await openSlowServer(({ plant, response }) => {
      const count = (tries.get(plant.id) ?? 0) + 1;
      tries.set(plant.id, count);
      if (count === 1 && plant.id % 10n === 0n) errorAnswer(50301)(response);
      else success(response);
    });
    const told = await tell(countedItems(100), url, { retries: 1 });
    expect(new Set(kindsOf(told))).toEqual(new Set(["created"]));
    expect([...tries.values()].filter((count) => count === 2)).toHaveLength(10);
  });

  it("that does not pass for one plant is told, and the others go on", async () => {
    const url = await openSlowServer(({ plant, response }) => {
      (plant.id === 5n ? errorAnswer(50700) : success)(response);
    });
    // One at a time, so that others are answered while it is tried again.
    async function* slowly(): AsyncGenerator<TestItem> {
      for await (const record of countedItems(40)) {
        yield record;
        await sleep(20);
      }
    }
    const told = await tell(slowly(), url, { retries: 1 });
    expect(told.error).toBeUndefined();
    expect(kindsOf(told)[4]).toBe(50700);
    expect(kindsOf(told).filter((kind) => kind === "created")).toHaveLength(39);
  });
});

describe("without retries", () => {
  it.each([1, 64])(
    "one transient failure does not stop the run, %i at a time",
    async (concurrency) => {
      const url = await openSlowServer(({ plant, response }) => {
        (plant.id === 5n ? errorAnswer(50301) : success)(response);
      });
      const told = await tell(countedItems(20), url, { retries: 0, concurrency });
      expect(told.error).toBeUndefined();
      expect(kindsOf(told)[4]).toBe(50301);
      expect(kindsOf(told).filter((kind) => kind === "created")).toHaveLength(19);
    },
  );

  it("a store that stays unavailable stops the run after three failures", async () => {
    const url = await openSlowServer(({ response }) => errorAnswer(50301)(response));
    const told = await tell(countedItems(1000), url, { retries: 0, concurrency: 1 });
    expect(kindsOf(told)).toEqual([50301, 50301]);
    expect(told.unknown[0]).toBe(3);
    expect(told.error).toBeInstanceOf(StoppedError);
  });
});

describe("it ends early", () => {
  it("when the token is refused: nothing more is sent", async () => {
    await using server = await startServer();
    const told = await tell(countedItems(100_000), server.url, { token: "wrong" });
    expect(told.outcomes).toEqual([]);
    expect(told.unknown[0]).toBe(1);
    expect(told.unknown.length).toBeLessThan(1000);
    expect(told.error).toBeInstanceOf(StoppedError);
    expect(told.error).toMatchObject({ cause: { ok: false, error: { error: 40102 } } });
  });

  it("when the token is revoked on the way: every plant has a result, or is known to be without one", async () => {
    let count = 0;
    const url = await openSlowServer(({ response }) => {
      count++;
      (count > 500 ? errorAnswer(40102) : success)(response);
    });
    const told = await tell(countedItems(100_000), url);
    expect(told.error).toBeInstanceOf(StoppedError);
    expect(told.outcomes.length).toBeGreaterThanOrEqual(400);
    expect(told.outcomes.length).toBeLessThanOrEqual(500);
    expect(new Set(kindsOf(told))).toEqual(new Set(["created"]));
    const lines = [...linesOf(told), ...told.unknown].toSorted((one, other) => one - other);
    expect(lines).toEqual(oneTo(lines.length));
    expect(count).toBeLessThan(1000);
  });

  it("when something else answers", async () => {
    const url = await openSlowServer(({ response }) => json(404, "{}")(response));
    const told = await tell(countedItems(1000), url, { retries: 5 });
    expect(told).toMatchObject({ outcomes: [], error: { name: "StoppedError" } });
    expect((told.error as StoppedError).cause).toBeInstanceOf(NotAPlantStoreError);
  });

  it("when what answers is not HTTP", async () => {
    const url = await openRawServer((socket) =>
      socket.once("data", () => socket.write("SSH-2.0\r\n")),
    );
    const told = await tell(countedItems(1000), url, { retries: 5 });
    expect((told.error as StoppedError).cause).toBeInstanceOf(NotAPlantStoreError);
  });

  it("when the store is not there, after as many attempts as allowed", async () => {
    const url = await findClosedUrl();
    const told = await tell(countedItems(1000), url, { retries: 2 });
    expect(told.outcomes).toEqual([]);
    expect(told.error).toMatchObject({
      name: "StoppedError",
      cause: { name: "UnavailableError", reason: "refused", attempts: 3 },
    });
    expect(told.unknown[0]).toBe(1);
  });

  it.each([50300, 50301, 50700])("when the store answers all of them with %i", async (error) => {
    const url = await openSlowServer(({ response }) => errorAnswer(error)(response));
    const told = await tell(countedItems(1000), url, { retries: 1 });
    expect(told).toMatchObject({
      outcomes: [],
      error: { name: "StoppedError", cause: { attempts: 2 } },
    });
  });

  it("when reading fails, after what was read before is told", async () => {
    await using server = await startServer();
    const broken = new Error("the disk is gone");
    async function* records(): AsyncGenerator<TestItem> {
      yield* countedItems(10);
      throw broken;
    }
    const told = await tell(records(), server.url);
    expect(linesOf(told)).toEqual(oneTo(10));
    expect(told.error).toBe(broken);
  });

  it("when it is left: requests under way are cut off", async () => {
    const closed: Promise<unknown>[] = [];
    const url = await openSlowServer(({ plant, socket, response }) => {
      if (plant.id === 1n) success(response);
      else closed.push(once(socket, "close"));
    });
    for await (const [first] of start(countedItems(10), url)) {
      expect(first?.item.line).toBe(1);
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
    const told = await tell(itemsOf(texts), server.url, { isFailFast: true, concurrency: 1 });
    expect(kindsOf(told)).toEqual(["created", 42204]);
    expect(told.unknown[0]).toBe(3);
    expect(await server.store.list({ limit: 10 })).toHaveLength(1);
  });

  it("lets plants in flight end, sends earlier ones with the same id, and no later one", async () => {
    const arrivals: Arrival[] = [];
    const url = await openSlowServer((arrival) => void arrivals.push(arrival));
    // Large plants have separate connections, on which responses can come in any order.
    const name = "x".repeat(65_536);
    const ids = [1, 2, 1, 4, 2, ...oneTo(50).map((id) => id + 10)];
    const texts = ids.map((id) => `{"id":${id},"name":"${name}"}`);
    const outcomes = tell(itemsOf(texts), url, { isFailFast: true, concurrency: 5 });
    await expect.poll(() => arrivals.length).toBe(3);
    const respond = (id: bigint, answer: (response: ServerResponse) => void): void => {
      for (const { plant, response } of arrivals) if (plant.id === id) answer(response);
    };
    respond(4n, errorAnswer(40900));
    await sleep(100);
    respond(2n, success);
    respond(1n, success);
    await expect.poll(() => arrivals.length).toBe(4);
    success(arrivals[3]!.response);
    const told = await outcomes;
    expect(linesOf(told)).toEqual([1, 2, 3, 4]);
    expect(kindsOf(told)[3]).toBe(40900);
    expect(told.unknown[0]).toBe(5);
    const arrived = arrivals.map(({ plant }) => Number(plant.id));
    expect(arrived.toSorted((one, other) => one - other)).toEqual([1, 1, 2, 4]);
  });
});

describe("the last call", () => {
  it("lets requests in flight end; a plant that waits for a retry has no result", async () => {
    const lastCall = new AbortController();
    const held: ServerResponse[] = [];
    const url = await openSlowServer(({ plant, response }) => {
      if (plant.id === 1n) errorAnswer(50301)(response);
      else held.push(response);
      if (held.length < 4) return;
      lastCall.abort();
      for (const each of held.splice(0)) success(each);
    });
    const told = await tell(countedItems(5), url, { retries: 50, lastCall: lastCall.signal });
    expect(told.error).toBeUndefined();
    expect(told.unknown).toEqual([1]);
    expect(kindsOf(told)).toEqual(["created", "created", "created", "created"]);
  });
});
