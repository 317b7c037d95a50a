/** Backups and restores by the built command, with servers under load, signals, kills and without room. */
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { serveBinary } from "../helpers/binary-server.ts";
import { parseNewPlant } from "../helpers/parse-new-plant.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { runBinary, startBinary } from "../helpers/run-binary.ts";
import { change } from "../helpers/stored-plants.ts";

const token = "token-of-the-backup";
const env = { PLANTSTORE_TOKEN: token };
const timeout = 60_000;

/** Creates the default store of a new home, with plants of negative ids, and returns its path. */
async function createStore(plants: number): Promise<{ home: string; path: string }> {
  const { home, stop } = await serveBinary([], { env });
  await stop();
  const path = join(home, ".local/share/plantstore/plants.db");
  await change(
    path,
    `INSERT INTO plants (id, name, tag)
     WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT ${plants})
     SELECT -n, 'old plant ' || n, hex(zeroblob(50)) FROM numbers`,
  );
  return { home, path };
}

/** Creates plants at a server until it is stopped; `acknowledged` grows meanwhile. */
function createEndlessly(url: string, firstId: number) {
  const acknowledged: number[] = [];
  const stop = new AbortController();
  let nextId = firstId;
  const create = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const id = nextId++;
      const response = await postPlant(url, token, { id, name: `plant ${id}` });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      acknowledged.push(id);
    }
  };
  const finished = Promise.all(Array.from({ length: 8 }, create));
  return { acknowledged, finished, stop: () => stop.abort() };
}

it("has everything that two busy servers acknowledged before, and the servers continue", async () => {
  const { home } = await createStore(100_000);
  const servers = await Promise.all([1, 2].map(() => serveBinary([], { home, env })));
  const writers = servers.map(({ url }, index) => createEndlessly(url, 1 + index * 1_000_000));
  const waitFor = (more: number) => {
    const aims = writers.map(({ acknowledged }) => acknowledged.length + more);
    return vi.waitUntil(
      () => writers.every(({ acknowledged }, index) => acknowledged.length >= (aims[index] ?? 0)),
      { timeout },
    );
  };

  await waitFor(300);
  const before = writers.flatMap(({ acknowledged }) => [...acknowledged]);
  const { code, stdout } = await runBinary(["backup", "copy"], { home });
  await waitFor(300);
  for (const writer of writers) writer.stop();
  await Promise.all(writers.map((writer) => writer.finished));

  const report = JSON.parse(stdout) as { plants: number };
  expect({ code, ...report }).toMatchObject({ code: 0, file: join(home, "copy") });
  const verified = await runBinary(["verify", "copy"], { home });
  expect(JSON.parse(verified.stdout)).toMatchObject({ plants: report.plants });
  const exported = await runBinary(["export", "--store", "sqlite:copy"], { home });
  const plants = exported.stdout
    .trimEnd()
    .split("\n")
    .map((line) => parseNewPlant(Buffer.from(line)))
    .filter(({ id }) => id > 0n);
  expect(plants).toEqual(plants.map(({ id }) => ({ id, name: `plant ${id}` })));
  expect(plants.length + 100_000).toBe(report.plants);
  const found = new Set(plants.map(({ id }) => Number(id)));
  expect(before.filter((id) => !found.has(id))).toEqual([]);
}, 240_000);

it.each(["SIGINT", "SIGTERM"] as const)(
  "%s leaves no part of a backup",
  async (signal) => {
    const { home } = await createStore(100_000);
    const backup = startBinary(["backup", "copy"], { home });
    const listParts = async () => (await readdir(home)).filter((name) => name.startsWith("copy"));
    let hasEnded = false;
    void backup.finished.then(() => (hasEnded = true));
    await vi.waitUntil(async () => hasEnded || (await listParts()).length > 0, {
      timeout,
      interval: 1,
    });
    backup.child.kill(signal);
    const { code, stderr } = await backup.finished;
    // A backup may be complete before the signal arrives.
    if (code === 0) {
      expect(await listParts()).toEqual(["copy"]);
      return;
    }
    expect({ code, signal: backup.child.signalCode, stderr }).toEqual({
      code: null,
      signal,
      stderr: `error: stopped by ${signal}: no backup was made\n`,
    });
    expect(await listParts()).toEqual([]);
  },
  60_000,
);

it("leaves no part of a backup when there is no room, and keeps the older one", async () => {
  const { home, path } = await createStore(20_000);
  await writeFile(join(home, "copy"), "the older one");
  const args = ["backup", "copy", "--force"];
  const { code, stderr } = await runBinary(args, { home, shell: "ulimit -f 100" });
  expect(code).toBe(6);
  expect(stderr).toContain(
    `the store ${path} cannot be copied to ${home}: free some space there, or check both disks`,
  );
  expect((await readdir(home)).filter((name) => name.startsWith("copy"))).toEqual(["copy"]);
  expect(await readFile(join(home, "copy"), "utf8")).toBe("the older one");
});

const rounds = 20;

it(`a restore that is killed leaves the old or the new store, ${rounds} times`, async () => {
  const { home, path } = await createStore(20_000);
  await runBinary(["backup", "new"], { home });
  await change(join(home, "new"), "DELETE FROM plants WHERE id < -10");
  await runBinary(["backup", "old"], { home });
  const restore = (file: string) => startBinary(["restore", "--force", file], { home });
  const count = async (): Promise<number> => {
    const { stdout, stderr } = await runBinary(["verify", path], { home });
    expect(stderr).toBe("");
    return (JSON.parse(stdout) as { plants: number }).plants;
  };

  const startedAtMs = performance.now();
  expect((await restore("old").finished).code).toBe(0);
  const durationMs = performance.now() - startedAtMs;
  const counts = new Set<number>();
  for (let round = 0; round < rounds; round++) {
    const running = restore(round % 2 === 0 ? "new" : "old");
    await sleep((durationMs * (round + 1)) / rounds);
    running.child.kill("SIGKILL");
    await running.finished;
    counts.add(await count());
  }
  expect([...counts].filter((plants) => plants !== 10 && plants !== 20_000)).toEqual([]);
  expect((await restore("new").finished).code).toBe(0);
  expect(await count()).toBe(10);
  expect((await serveBinary([], { home, env })).url).toMatch(/^http:/);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
}, 300_000);

it("a store that a server uses is not replaced", async () => {
  const { home, path } = await createStore(10);
  const server = await serveBinary([], { home, env });
  await server.run(["backup", "copy"]);
  const restore = ["restore", "--force", "copy", "--store", `sqlite:${path}`];
  expect(await server.run(restore)).toMatchObject({
    code: 6,
    stderr: `error: the store ${path} is in use: stop every plantstore process on it, then restore again\n`,
  });
  expect(await server.run(["create", "--id", "1", "--name", "fern"])).toMatchObject({ code: 0 });
});
