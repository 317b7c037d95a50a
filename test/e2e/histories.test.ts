/**
 * Histories, as Jepsen checks them: clients create, delete and read few ids through two servers on one store while servers
 * are killed and paused, and PostgreSQL restarts at once, or its standby takes over. An order must explain the results of each
 * id, the reads of clients and of `export`, and the end.
 *
 * Each history takes ten seconds. A longer run:
 *
 *     npm run build && PLANTSTORE_HISTORY_SECONDS=600 npx vitest run --config test/vitest.config.ts --project slow test/e2e/histories
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type CreateOutcome,
  type DeleteOutcome,
  isLinearizable,
  type Operation,
  type Policy,
} from "../helpers/linearizability.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { findFreePort, startPostgres } from "../helpers/postgres-server.ts";
import {
  createStoreUrl,
  runSql,
  startSynchronousStandby,
  usePostgres,
  withHost,
} from "../helpers/postgres.ts";
import { runBinary, type Running, startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const seconds = Number(process.env["PLANTSTORE_HISTORY_SECONDS"] || 10);
const token = "token-of-the-histories";
const clientCount = 8;
/** Few, so that several clients send the same plant at the same time. */
const values = ["fern", "moss", "rose"];
/** Ids that are in use at a time. Others follow them, so that few operations of an id have an unknown outcome. */
const idsAtOnce = 3;
const idLifeMs = 1500;
const requestTimeoutMs = 3000;

const postgres = usePostgres();

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;

/** The operations of each id. */
function createHistories(startedAtMs: number) {
  const histories = new Map<number, Operation[]>();
  const toGeneration = (): number => Math.floor((performance.now() - startedAtMs) / idLifeMs);
  return {
    histories,
    pickId: (): number => toGeneration() * idsAtOnce + Math.floor(Math.random() * idsAtOnce),
    /** Returns the ids in use, and those before them: a request may have chosen one of those. */
    listRecent(): number[] {
      const last = toGeneration();
      return [...histories.keys()].filter((id) => id >= (last - 1) * idsAtOnce);
    },
    add(id: number, operation: Operation): void {
      const history = histories.get(id) ?? [];
      histories.set(id, history);
      history.push(operation);
    },
  };
}

/** Sends a create. @returns undefined if it was certainly not sent */
async function send(port: number, id: number, name: string): Promise<CreateOutcome | undefined> {
  try {
    const signal = AbortSignal.timeout(requestTimeoutMs);
    const response = await postPlant(`http://127.0.0.1:${port}`, token, { id, name }, { signal });
    const { error } = (await response.json()) as { error?: number };
    if (error === 40900) return "conflict";
    return error === undefined
      ? (response.headers.get("x-plantstore-result") as CreateOutcome)
      : "unknown";
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return cause?.code === "ECONNREFUSED" ? undefined : "unknown";
  }
}

/** Sends a request for an operation besides the create. @returns undefined without a response of a handler */
async function request(
  port: number,
  method: string,
  target: string,
): Promise<{ readonly response: Response; readonly body: string } | Error> {
  try {
    const signal = AbortSignal.timeout(requestTimeoutMs);
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`http://127.0.0.1:${port}${target}`, { method, headers, signal });
    return { response, body: await response.text() };
  } catch (error) {
    return error as Error;
  }
}

/** Sends a delete. @returns undefined if it was certainly not sent */
async function remove(port: number, id: number): Promise<DeleteOutcome | undefined> {
  const sent = await request(port, "DELETE", `/plants/${id}`);
  if (sent instanceof Error) {
    const { cause } = sent as { cause?: { code?: string } };
    return cause?.code === "ECONNREFUSED" ? undefined : "unknown";
  }
  if (sent.response.status === 204) return "deleted";
  return sent.body.includes('"error":40401,') ? "absent" : "unknown";
}

/** Reads the name of an id; `failed` if it could not be read. */
async function readName(
  port: number,
  id: number,
): Promise<{ name: string | undefined } | "failed"> {
  const sent = await request(port, "GET", `/plants?after=${id - 1}&limit=1`);
  if (sent instanceof Error || sent.response.status !== 200) return "failed";
  const [plant] = JSON.parse(sent.body) as { id: number; name: string }[];
  return { name: plant?.id === id ? plant.name : undefined };
}

/** Exports the store. @returns the names by id; undefined if the store could not be read */
async function exportAll(home: string, store: string): Promise<Map<number, string> | undefined> {
  const { code, stdout } = await runBinary(["export", "--store", store], { home });
  if (code !== 0) return undefined;
  const lines = stdout.split("\n").slice(0, -1);
  const plants = lines.map((line) => JSON.parse(line) as { id: number; name: string });
  return new Map(plants.map(({ id, name }) => [id, name]));
}

/** A store for a history. */
interface TestedStore {
  readonly url: string;
  /** Interrupts the database; absent if servers alone have faults. */
  readonly interrupt?: () => Promise<void>;
  /** True if `export` shows what a server has not confirmed: a primary whose standby lacks it. */
  readonly isExportAhead?: boolean;
}

/** Runs clients and faults. @returns the operations of each id, and the number of faults of each kind */
async function record({ url: store, interrupt, isExportAhead }: TestedStore, policy: Policy) {
  const home = await createTemporaryDirectory();
  const ports = [await findFreePort(), await findFreePort()];
  const env = { PLANTSTORE_STORE: store, PLANTSTORE_TOKEN: token };
  const startServer = (port: number): Running =>
    startBinary(["serve", "--port", `${port}`, "--on-conflict", policy, "--operations", "all"], {
      home,
      env,
    });
  const servers = ports.map(startServer);
  await Promise.all(servers.map((server) => server.firstLine));

  const startedAtMs = performance.now();
  const { histories, pickId, listRecent, add } = createHistories(startedAtMs);
  const isRunning = (): boolean => performance.now() - startedAtMs < seconds * 1000;
  const faults = { kills: 0, pauses: 0, interruptions: 0 };

  async function runClient(): Promise<void> {
    while (isRunning()) {
      const id = pickId();
      const value = pick(values);
      const kind = pick(["create", "create", "create", "delete", "read"] as const);
      const start = performance.now();
      let result: CreateOutcome | DeleteOutcome | undefined;
      if (kind === "create") {
        const outcome = await send(pick(ports), id, value);
        const end = performance.now();
        if (outcome !== undefined) add(id, { kind, start, end, value, result: outcome });
        result = outcome;
      } else if (kind === "delete") {
        const outcome = await remove(pick(ports), id);
        const end = performance.now();
        if (outcome !== undefined) add(id, { kind, start, end, result: outcome });
        result = outcome;
      } else {
        const outcome = await readName(pick(ports), id);
        const end = performance.now();
        if (outcome === "failed") result = "unknown";
        else {
          add(id, { kind, start, end, value: outcome.name });
          result = "absent";
        }
      }
      await sleep(result === undefined || result === "unknown" ? 200 : 10 * Math.random());
    }
  }

  async function read(toIds: () => readonly number[]): Promise<boolean> {
    const startMs = performance.now();
    const ids = toIds();
    const plants = await exportAll(home, store);
    const end = performance.now();
    for (const id of plants === undefined ? [] : ids) {
      add(id, { kind: "read", start: startMs, end, value: plants?.get(id) });
    }
    return plants !== undefined;
  }

  async function runReader(): Promise<void> {
    while (isRunning() && !isExportAhead) {
      await read(listRecent);
      await sleep(200);
    }
  }

  async function disturb(): Promise<void> {
    for (let round = 0; isRunning(); round++) {
      await sleep(500 + 500 * Math.random());
      const index = round % 2;
      const server = servers[index] as Running;
      switch (round % (interrupt === undefined ? 2 : 3)) {
        case 0:
          server.child.kill("SIGKILL");
          await server.finished;
          servers[index] = startServer(ports[index] as number);
          await servers[index].firstLine;
          faults.kills++;
          break;
        case 1:
          server.child.kill("SIGSTOP");
          await sleep(1000 * Math.random());
          server.child.kill("SIGCONT");
          faults.pauses++;
          break;
        default:
          await interrupt?.();
          faults.interruptions++;
      }
    }
  }

  const clients = Array.from({ length: clientCount }, runClient);
  await Promise.all([...clients, runReader(), disturb()]);
  // A server may still store requests that it received.
  for (const { child } of servers) child.kill("SIGTERM");
  await Promise.all(servers.map(({ finished }) => finished));
  await expect.poll(() => read(() => [...histories.keys()])).toBe(true);
  return { histories, faults };
}

async function createSqlite(): Promise<TestedStore> {
  return { url: `sqlite:${join(await createTemporaryDirectory(), "plants.db")}` };
}

async function createPostgres(): Promise<TestedStore> {
  const interrupt = async (): Promise<void> => {
    await postgres.kill();
    await postgres.start();
  };
  return { url: await createStoreUrl(postgres.url), interrupt };
}

/** The standby of the first primary takes over; later interruptions restart it. */
async function createReplicated(): Promise<TestedStore> {
  const primary = await startPostgres();
  onTestFinished(() => primary.remove());
  const standby = await startSynchronousStandby(primary);
  onTestFinished(() => standby.remove());
  let isPromoted = false;
  const interrupt = async (): Promise<void> => {
    if (isPromoted) {
      await standby.kill();
      await standby.start();
      return;
    }
    await primary.kill();
    await sleep(1000 * Math.random());
    await runSql(standby.url, "SELECT pg_promote()");
    isPromoted = true;
  };
  return { url: withHost(primary.url, standby.url), interrupt, isExportAhead: true };
}

const engines: readonly [name: string, createStore: () => Promise<TestedStore>][] = [
  ["SQLite", createSqlite],
  ["PostgreSQL", createPostgres],
  ["PostgreSQL with a standby", createReplicated],
];

describe.each(engines)("%s", (engine, createStore) => {
  it.each<Policy>(["reject", "replace"])(
    "has an order that explains every result and every read, with --on-conflict %s",
    async (policy) => {
      const store = await createStore();
      const { histories, faults } = await record(store, policy);
      const unexplained = [...histories].filter(([, history]) => !isLinearizable(history, policy));
      expect(unexplained).toEqual([]);

      const recorded = [...histories.values()].flat();
      console.log(
        `histories: ${engine}, ${policy}: ${recorded.length} operations on ${histories.size} ids; ${JSON.stringify(faults)}`,
      );
      const outcomes = recorded.map((operation) =>
        operation.kind === "read" ? "read" : operation.result,
      );
      const changing = policy === "reject" ? "conflict" : "replaced";
      expect(new Set(outcomes)).toEqual(
        new Set(["created", "unchanged", changing, "deleted", "absent", "unknown", "read"]),
      );
      expect(Math.min(faults.kills, faults.pauses)).toBeGreaterThan(0);
      expect(faults.interruptions > 0).toBe(store.interrupt !== undefined);
      // The last operation is the read at the end.
      for (const history of histories.values()) {
        const last = history.at(-1) as Operation;
        const changed: Operation = { ...last, kind: "read", value: "never sent" };
        expect(isLinearizable([...history.slice(0, -1), changed], policy)).toBe(false);
      }
    },
    // The check of a long history takes minutes on a busy machine.
    2 * seconds * 1000 + 120_000,
  );
});
