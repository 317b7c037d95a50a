/** `plantstore serve --operations all`, and `--demo` for documentation sites. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { clearHourly } from "../../../../src/cli/commands/serve/demo.ts";
import { createMemoryStore } from "../../../../src/store/open-store.ts";
import { containing, runCli, startServe } from "../../../helpers/run-cli.ts";
import { findFreePort } from "../../../helpers/postgres-server.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

const token = "token-of-the-documentation";
const env = { PLANTSTORE_TOKEN: token };

async function serve(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const home = await createTemporaryDirectory();
  const run = await startServe(["--port", "0", "--log-format", "text", ...args], {
    home,
    env: { ...env, ...more },
  });
  await run.saw("Listening on");
  return run;
}

const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

function send(url: string, method: string, path: string, body?: string): Promise<Response> {
  return fetch(url + path, { method, headers, ...(body !== undefined && { body }) });
}

describe("--operations all", () => {
  it("lists and deletes plants, and says so", async () => {
    const { url, stderr } = await serve(["--store", "memory:", "--operations", "all"]);
    expect(stderr()).toContain("Serves: create, list and delete (--operations all)");
    await send(url, "POST", "/plants", '{"id":1,"name":"fern"}');
    expect(await (await send(url, "GET", "/plants")).json()).toEqual([{ id: 1, name: "fern" }]);
    expect((await send(url, "DELETE", "/plants/1")).status).toBe(204);
  });

  it("is set by PLANTSTORE_OPERATIONS, and is not the default", async () => {
    const whole = await serve(["--store", "memory:"], { PLANTSTORE_OPERATIONS: "all" });
    expect((await send(whole.url, "GET", "/plants")).status).toBe(200);
    const usual = await serve(["--store", "memory:"]);
    expect((await send(usual.url, "GET", "/plants")).status).toBe(405);
    expect(usual.stderr()).not.toContain("Serves");
  });

  it("rejects another set", async () => {
    const result = await runCli(["serve", "--operations", "read"]);
    expect(result).toExit(2, containing("--operations must be one of create, all"));
  });
});

describe("--demo", () => {
  afterEach(() => vi.useRealTimers());

  async function writeSeeds(count: number, name = "seed"): Promise<string> {
    const path = join(await createTemporaryDirectory(), "seeds.ndjson");
    const lines = Array.from({ length: count }, (_, id) => `{"id":${id},"name":"${name}"}\n`);
    await writeFile(path, lines.join(""));
    return path;
  }

  it("never takes the token that is saved for its address", async () => {
    const home = await createTemporaryDirectory();
    const args = ["--port", String(await findFreePort())];
    const first = await startServe(args, { home });
    const create = ["create", "--id", "1", "--name", "fern", "--url", first.url];
    expect((await runCli(create, { home })).exitCode).toBe(0);
    await first.stop();
    await startServe(["--demo", ...args], { home, terminals: { stderr: true } });
    expect((await runCli(create, { home })).exitCode).toBe(4);
  });

  it("serves all operations from a store in memory to every origin, and says what it is", async () => {
    const { url, stderr } = await serve(["--demo", "--seed", await writeSeeds(2)]);
    expect(stderr()).toContain("every reader of the site can list, replace and delete plants");
    expect(stderr()).toContain(
      "Store: memory, 10,000 plants or 16 MiB: drops the oldest; emptied hourly",
    );
    expect((await send(url, "POST", "/plants", '{"id":1,"name":"moss"}')).status).toBe(200);
    const list = await fetch(`${url}/plants`, {
      headers: { ...headers, origin: "https://docs.example.org" },
    });
    expect(list.headers.get("access-control-allow-origin")).toBe("*");
    expect(await list.json()).toEqual([
      { id: 0, name: "seed" },
      { id: 1, name: "moss" },
    ]);
    const tooLarge = JSON.stringify({ id: 2, name: "x".repeat(16 * 1024) });
    const rejected = await send(url, "POST", "/plants", tooLarge);
    expect(await rejected.json()).toMatchObject({ error: 41300 });
    for (const path of ["/docs", "/openapi.json"]) {
      expect(await (await fetch(url + path)).text()).toContain("This is a demonstration");
    }
  });

  it("keeps its seeds, and gives up the oldest plants of visitors", async () => {
    const { url } = await serve(["--demo", "--seed", await writeSeeds(9999)]);
    for (const id of [10_001, 10_000]) {
      await send(url, "POST", "/plants", `{"id":${id},"name":"visitor"}`);
    }
    const last = await (await send(url, "GET", "/plants?after=9997")).json();
    expect(last).toEqual([
      { id: 9998, name: "seed" },
      { id: 10_000, name: "visitor" },
    ]);
  });

  it("needs seeds that fit", async () => {
    const seeds = await writeSeeds(10_001);
    const result = await runCli(["serve", "--port", "0", "--demo", "--seed", seeds], { env });
    expect(result).toExit(2, containing("--demo keeps at most 10000 plants and 16 MiB"));
  });

  it.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ["--store", ["--store", "sqlite:plants.db"], {}],
    ["--on-conflict", ["--on-conflict", "reject"], {}],
    ["--operations", ["--operations", "create"], {}],
    ["--max-body", ["--max-body", "1MiB"], {}],
    ["PLANTSTORE_STORE", [], { PLANTSTORE_STORE: "sqlite:/srv/plants.db" }],
  ])("rejects another value of %s", async (source, args, variables) => {
    const result = await runCli(["serve", "--demo", ...args], { env: { ...env, ...variables } });
    expect(result).toExit(2, containing(`--demo replaces ${source}: remove one of them`));
  });

  it("is emptied every hour, and then has its seeds", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const store = createMemoryStore({ seeds: [{ id: 1n, name: "seed" }] });
    const messages: string[] = [];
    const log = {
      request: () => undefined,
      error: () => undefined,
      message: (_level: string, text: string) => void messages.push(text),
    };
    const stop = new AbortController();
    clearHourly(store, { log, stop: stop.signal });
    await store.create({ id: 1n, name: "moss" }, "replace");
    await store.create({ id: 2n, name: "fern" }, "replace");
    vi.advanceTimersByTime(59 * 60_000);
    expect(await store.count({})).toBe(2);
    vi.advanceTimersByTime(60_000);
    await expect.poll(() => messages).toEqual(["Emptied: only the seeds are there"]);
    expect(await store.list({ limit: 9 })).toEqual([{ id: 1n, name: "seed" }]);
    stop.abort();
    expect(vi.getTimerCount()).toBe(0);
  });
});
