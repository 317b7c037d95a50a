/** Servers and clients survive the failover of PostgreSQL to a synchronous standby. */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { runSql, usePostgres, useSynchronousStandby, withHost } from "../helpers/postgres.ts";
import { type Running, startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const primary = usePostgres();
const standby = useSynchronousStandby(primary);

const token = "token-of-the-failover";
/** Acknowledged plants before the primary is killed, and after that. */
const plantsPerPhase = 2000;
const promotionDelayMs = 1000;

const blockSize = 1000;

/** A client that creates plants until it is stopped. */
interface BulkClient {
  readonly process: Running;
  /** Results in the order in which plants were sent, with the time at which each was printed. */
  readonly results: readonly {
    readonly id: number;
    readonly error?: number;
    readonly atMs: number;
  }[];
  readonly stop: () => void;
}

/** Both clients send the same ids, one of them in descending order within a block, so that both win some. */
function toId(client: number, index: number): number {
  const offset = index % blockSize;
  return client === 0 ? index : index - offset + blockSize - 1 - offset;
}

function startClient(client: number, url: string, home: string): BulkClient {
  const running = startBinary(["create", "--json", "--concurrency", "64", "-"], {
    home,
    env: { PLANTSTORE_TOKEN: token, PLANTSTORE_URL: url },
    collects: false,
  });
  const { stdin, stdout } = running.child;
  const results: { id: number; error?: number; atMs: number }[] = [];
  const lines = createInterface({ input: stdout });
  lines.on("line", (line) => {
    const { error: rejection } = JSON.parse(line) as {
      readonly error?: { readonly error: number };
    };
    const error = rejection?.error;
    const result = { id: toId(client, results.length), atMs: performance.now() };
    results.push(error === undefined ? result : { ...result, error });
  });
  const stop = new AbortController();
  stdin.on("error", () => stop.abort());
  void (async () => {
    let index = 0;
    while (!stop.signal.aborted || index % blockSize > 0) {
      const id = toId(client, index++);
      stdin.write(`${JSON.stringify({ id, name: `plant ${id} of client ${client}` })}\n`);
      while (index - results.length > blockSize && !stdin.destroyed) await sleep(1);
    }
    stdin.end();
  })();
  return { process: running, results, stop: () => stop.abort() };
}

function countCreated(clients: readonly BulkClient[]): number {
  return clients.flatMap(({ results }) => results).filter(({ error }) => error === undefined)
    .length;
}

it("keeps every acknowledged plant, has one winner per id, and continues by itself", async () => {
  const home = await createTemporaryDirectory();
  const store = withHost(primary.url, standby.url);
  const env = { PLANTSTORE_STORE: store, PLANTSTORE_TOKEN: token };
  const servers = [1, 2].map(() => startBinary(["serve", "--port", "0"], { home, env }));
  const urls = await Promise.all(servers.map((server) => server.firstLine));
  const clients = urls.map((url, client) => startClient(client, url, home));
  const waitForCreates = (number: number) =>
    vi.waitUntil(() => countCreated(clients) > number, { timeout: 120_000 });

  await waitForCreates(plantsPerPhase);
  const killedAtMs = performance.now();
  await primary.kill();
  await sleep(promotionDelayMs);
  await runSql(standby.url, "SELECT pg_promote()");
  const promotedAtMs = performance.now();
  await waitForCreates(countCreated(clients) + plantsPerPhase);
  for (const client of clients) client.stop();
  await Promise.all(clients.map((client) => client.process.finished));

  const results = clients.flatMap((client) => client.results);
  expect(new Set(results.map(({ error }) => error))).toEqual(new Set([undefined, 40_900]));
  const winners = clients.flatMap(({ results: own }, client) =>
    own
      .filter(({ error }) => error === undefined)
      .map(({ id }) => ({ id, name: `plant ${id} of client ${client}` })),
  );
  expect(await runSql(standby.url, "SELECT id::int, name FROM plants ORDER BY id")).toEqual(
    winners.toSorted((a, b) => a.id - b.id),
  );

  const times = results.filter(({ error }) => error === undefined).map(({ atMs }) => atMs);
  const lastBeforeMs = Math.max(...times.filter((atMs) => atMs <= killedAtMs));
  const firstAfterMs = Math.min(...times.filter((atMs) => atMs > promotedAtMs));
  console.log(
    `failover: ${winners.length} plants acknowledged; creates were unavailable for ` +
      `${Math.round(firstAfterMs - lastBeforeMs)} ms, ${Math.round(firstAfterMs - promotedAtMs)} ms of it after the promotion`,
  );
}, 300_000);
