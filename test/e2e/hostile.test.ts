/** Hostile, broken and slow clients of the built server affect only their own requests, and memory is bounded. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { listStored } from "../helpers/all-plants.ts";
import { serveBinary } from "../helpers/binary-server.ts";
import { getText } from "../helpers/get-text.ts";
import { type Behaviour, createBehaviours, openCrowd } from "../helpers/hostile-clients.ts";
import { exchangeRaw, sendRaw } from "../helpers/raw-http.ts";
import { toRawCreate } from "../helpers/raw-request.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";
import { withYoungGenerationOfNode20 } from "../helpers/young-generation.ts";

const token = "chosen";
const behaviours = createBehaviours(token);
/** Short and small, so that the tests reach them. */
const limits = ["--request-timeout", "3", "--max-connections", "1000"];
/** Bytes by which the memory of a server may grow, with garbage that is not collected yet. */
const maxGrowth = 200 * 1024 * 1024;

function toRequest(id: number, name = `fern ${id}`): string {
  return toRawCreate(id, name, { token });
}

async function start() {
  const home = await createTemporaryDirectory();
  const store = `sqlite:${join(home, "plants.db")}`;
  const env = { PLANTSTORE_TOKEN: token, ...withYoungGenerationOfNode20 };
  const args = ["--store", store, "--metrics", "main", ...limits];
  const server = await serveBinary(args, { home, env });
  const port = Number(new URL(server.url).port);

  /** Creates a plant as a well-behaved client, which retries when the server asks for it. */
  async function create(id: number): Promise<void> {
    for (;;) {
      const { status, headers, body } = await exchangeRaw(port, toRequest(id));
      if (status === 200) return;
      // On a loaded machine even this request may exceed --request-timeout.
      const isRetryable = headers["retry-after"] !== undefined || body.includes('"error":40800');
      if (!isRetryable) throw new Error(body);
      await sleep(50);
    }
  }

  /** Reads the memory of the server, and the longest turn of its event loop since the previous call. */
  async function observe(): Promise<{ bytes: number; delay: number }> {
    const { text } = await getText(port, "/metrics");
    const read = (name: string): number =>
      Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    return {
      bytes: read("process_resident_memory_bytes"),
      delay: read("nodejs_eventloop_lag_max_seconds"),
    };
  }

  /** Stops the server. @returns its exit code, its plants and its log */
  async function stop(): Promise<{ code: number | null; names: string[]; log: string }> {
    const { code, stderr } = await server.stop();
    const plants = await listStored(store);
    return { code, names: plants.map(({ id, name }) => `${id} ${name}`), log: stderr };
  }
  return { port, create, observe, stop };
}

it.each<[count: number, what: string]>([
  [3000, "send nothing"],
  [500, "send their headers a byte at a time"],
  [300, "send their body a byte at a time"],
  [300, "continue a body after its rejection"],
  [300, "stop before the end of a megabyte"],
  [100, "never read their responses"],
  [100, "send requests without end"],
  [50, "nest a million levels"],
  [50, "announce 10 GB and send a part"],
  [50, "send chunks without end"],
  [300, "send a compression bomb"],
  [300, "send noise"],
  [300, "reset their connections"],
])(
  "the server creates plants of other clients in bounded memory while %i clients %s",
  async (count, what) => {
    const server = await start();
    await server.create(0);
    const before = await server.observe();
    const crowd = await openCrowd(server.port, count, behaviours[what] ?? expect.unreachable());
    for (let id = 1; id <= 20; id++) await server.create(id);
    const { bytes, delay } = await server.observe();
    const grown = `by ${bytes - before.bytes} bytes, with turns of up to ${delay} s`;
    expect(bytes - before.bytes, grown).toBeLessThan(maxGrowth);
    crowd.disperse();
    const { code, names, log } = await server.stop();
    expect(code).toBe(0);
    expect(names).toHaveLength(21);
    expect(log).not.toContain('"level":"error"');
  },
);

it("the server survives 1,000 clients that send creates of a megabyte and read no response, with a heap of 256 MB", async () => {
  const env = { PLANTSTORE_TOKEN: token, NODE_OPTIONS: "--max-old-space-size=256" };
  const server = await serveBinary([], { env });
  const port = Number(new URL(server.url).port);
  let id = 0;
  const sendLarge: Behaviour = (socket) => {
    socket.pause();
    const name = "n".repeat(1024 * 1024 - 100);
    let left = 40;
    const pump = (): void => {
      while (left-- > 0 && !socket.destroyed && socket.write(toRequest((id += 1), name)));
    };
    socket.on("drain", pump);
    pump();
    return undefined;
  };
  const crowd = await openCrowd(port, 1000, sendLarge);
  await expect.poll(() => id, { timeout: 240_000 }).toBeGreaterThan(3000);
  crowd.disperse();
  await expect
    .poll(async () => (await exchangeRaw(port, toRequest(id + 1))).status, { timeout: 120_000 })
    .toBe(200);
  const { code, stderr } = await server.stop();
  expect(code).toBe(0);
  expect(stderr).not.toContain('"level":"error"');
}, 400_000);

it("creates a plant only of a complete request, wherever a client ends its connection", async () => {
  const server = await start();
  const request = toRequest(7);
  for (let length = 0; length < request.length; length++) {
    const connection = await sendRaw(server.port, request.slice(0, length));
    if (length % 2 === 0) connection.socket.end();
    else connection.socket.resetAndDestroy();
    connection.socket.resume();
  }
  await server.create(8);
  const { code, names, log } = await server.stop();
  expect({ code, names }).toEqual({ code: 0, names: ["8 fern 8"] });
  expect(log).not.toContain('"level":"error"');
});

it("has every acknowledged plant when it is stopped under load and random hostile clients", async () => {
  const server = await start();
  const acknowledged: string[] = [];
  let isOver = false;
  let nextId = 1;
  async function load(): Promise<void> {
    while (!isOver) {
      const id = nextId++;
      const isDone = await server.create(id).then(
        () => true,
        () => false,
      );
      if (isDone) acknowledged.push(`${id} fern ${id}`);
    }
  }
  async function attack(): Promise<void> {
    const all = Object.values(behaviours);
    while (!isOver) {
      const behave = all[Math.floor(Math.random() * all.length)] ?? expect.unreachable();
      const crowd = await openCrowd(server.port, Math.ceil(Math.random() * 10), behave);
      await sleep(Math.random() * 300);
      crowd.disperse();
    }
  }
  const clients = [...Array.from({ length: 8 }, load), ...Array.from({ length: 2 }, attack)];
  await expect.poll(() => acknowledged.length, { timeout: 100_000 }).toBeGreaterThanOrEqual(500);
  const stopping = server.stop();
  await sleep(100);
  isOver = true;
  const { code, names, log } = await stopping;
  await Promise.all(clients);
  const stored = new Set(names);
  expect(acknowledged.filter((name) => !stored.has(name))).toEqual([]);
  expect(code).toBe(0);
  expect(log).not.toContain('"level":"error"');
});
