/** A live copy of a store by its feed, while both servers and both ends of the pipe are killed again and again. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { NewPlant } from "../../src/core/plant.ts";
import { openStoreReader } from "../../src/store/open-store.ts";
import { readPlantPages } from "../../src/store/pages.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { type Running, startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const token = "token-of-a-live-copy";
/** Fewer ids than creates, so that most creates replace a plant. */
const ids = 2000;
const clients = 8;
/** Plants that reach the copy between two kills. */
const plantsPerRound = 100;
const minLoadMs = 60_000;

/** A server that is killed and started again. */
class Server {
  url = "";
  #running: Running | undefined;
  readonly #home: string;
  readonly #store: string;

  constructor(home: string, store: string) {
    this.#home = home;
    this.#store = store;
  }

  async restart(): Promise<void> {
    await kill(this.#running);
    this.#running = startBinary(
      ["serve", "--port", "0", "--on-conflict", "replace", "--store", this.#store],
      { home: this.#home, env: { PLANTSTORE_TOKEN: token } },
    );
    this.url = await this.#running.firstLine;
  }

  /** Sends a plant; a server that is killed meanwhile may have stored it or not. */
  async create(plant: { readonly id: number; readonly name: string }): Promise<void> {
    try {
      const response = await postPlant(this.url, token, plant);
      await response.text();
    } catch {
      await sleep(20);
    }
  }
}

async function kill(running: Running | undefined): Promise<void> {
  running?.child.kill("SIGKILL");
  await running?.finished;
}

/** The pipe from one store to the server of the other. */
class Pipe {
  /** Every complete result line. */
  readonly results: string[] = [];
  /** Cursors that were printed by each run of `export --follow`, after the cursor with which it began. */
  readonly runs: { readonly after: string; readonly printed: readonly string[] }[] = [];
  readonly #home: string;
  readonly #store: string;
  #source: Running | undefined;
  #target: Running | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(home: string, store: string) {
    this.#home = home;
    this.#store = store;
  }

  /** The cursor from which to resume, as the manual says. */
  get cursor(): string {
    return this.results.map(toCursor).findLast((cursor) => cursor !== "") ?? "";
  }

  start(url: string): void {
    const home = this.#home;
    const after = this.cursor;
    const source = startBinary(["export", "--follow", "--store", this.#store, "--after", after], {
      home,
    });
    const target = startBinary(["create", "--many", "--url", url], {
      home,
      env: { PLANTSTORE_TOKEN: token },
    });
    target.child.stdin.on("error", () => undefined);
    // Both ends are children of this process: it closes the pipe as the system does.
    void target.finished.then(() => source.child.stdout.destroy());
    source.child.stdout.pipe(target.child.stdin);
    let rest = "";
    target.child.stdout.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      this.results.push(...lines);
    });
    this.#source = source;
    this.#target = target;
    this.#ended = Promise.all([source.finished, target.finished]).then(([{ stdout }]) => {
      const printed = stdout.split("\n").slice(0, -1).map(toCursor);
      this.runs.push({ after, printed });
    });
  }

  /** Kills one end, after which the other one ends by itself, or both. */
  async kill(victim: "source" | "target" | "both"): Promise<void> {
    if (victim !== "target") this.#source?.child.kill("SIGKILL");
    if (victim !== "source") this.#target?.child.kill("SIGKILL");
    await this.#ended;
  }
}

function toCursor(line: string): string {
  const { cursor = "" } = JSON.parse(line) as { readonly cursor?: string };
  return cursor;
}

async function readStore(url: string): Promise<readonly NewPlant[]> {
  const store = await openStoreReader(url);
  const plants: NewPlant[] = [];
  for await (const page of readPlantPages(store, { limit: Infinity })) plants.push(...page);
  await store.close();
  return plants;
}

async function readLastCursor(url: string): Promise<string> {
  const store = await openStoreReader(url);
  let last = "";
  for (;;) {
    const page = await store.readFeed({ after: last || undefined, limit: 1000 });
    if (page.length === 0) break;
    last = page.at(-1)?.cursor ?? last;
  }
  await store.close();
  return last;
}

it("a copy that is resumed after each kill ends with the plants of its store", async () => {
  const home = await createTemporaryDirectory();
  const [storeA, storeB] = ["a", "b"].map((name) => `sqlite:${join(home, `${name}.db`)}`) as [
    string,
    string,
  ];
  const serverA = new Server(home, storeA);
  const serverB = new Server(home, storeB);
  const pipe = new Pipe(home, storeA);
  await Promise.all([serverA.restart(), serverB.restart()]);

  let isOver = false;
  let sent = 0;
  const load = Array.from({ length: clients }, async () => {
    while (!isOver) {
      const number = sent++;
      await serverA.create({ id: (number * 7919) % ids, name: `version ${number}` });
    }
  });

  const rounds: readonly (() => Promise<void>)[] = [
    () => pipe.kill("target"),
    () => serverA.restart(),
    () => pipe.kill("source"),
    async () => {
      await Promise.all([serverB.restart(), pipe.kill("both")]);
    },
    async () => {
      await Promise.all([serverA.restart(), pipe.kill("both")]);
    },
  ];
  const startedAtMs = performance.now();
  pipe.start(serverB.url);
  for (let round = 0; round < 8 || performance.now() - startedAtMs < minLoadMs; round++) {
    const wanted = pipe.results.length + plantsPerRound;
    await expect
      .poll(() => pipe.results.length, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(wanted);
    const runsBefore = pipe.runs.length;
    await rounds[round % rounds.length]?.();
    if (pipe.runs.length > runsBefore) pipe.start(serverB.url);
  }
  isOver = true;
  await Promise.all(load);

  const last = await readLastCursor(storeA);
  await expect.poll(() => pipe.cursor, { timeout: 60_000 }).toBe(last);
  await pipe.kill("both");
  const plants = await readStore(storeA);
  expect(plants.length).toBeGreaterThan(plantsPerRound);
  expect(await readStore(storeB)).toEqual(plants);

  const acknowledged = new Set<string>();
  for (const [index, { after, printed }] of pipe.runs.entries()) {
    const again = printed.filter((cursor) => acknowledged.has(cursor));
    expect(again, "entries that were printed again").toEqual([]);
    expect(new Set(printed).size).toBe(printed.length);
    const next = pipe.runs[index + 1]?.after ?? "";
    for (const cursor of printed.slice(0, printed.indexOf(next) + 1)) acknowledged.add(cursor);
    expect(acknowledged.has(after) || after === "").toBe(true);
  }
}, 180_000);
