/** Servers of this version and of the one before share one store. */
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStoreReader } from "../../src/store/open-store.ts";
import { openPostgresReader } from "../../src/store/postgres/engine.ts";
import { buildOldVersion, hasOldVersion } from "../helpers/old-version.ts";
import { createStoreUrl, runSql, usePostgres } from "../helpers/postgres.ts";
import { startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const postgres = usePostgres();
const token = "token-of-two-versions";
const ids = Array.from({ length: 200 }, (_, id) => id);

async function create(url: string, plant: { id: number; name: string }): Promise<string> {
  const response = await fetch(`${url}/plants`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(plant),
  });
  const { error } = (await response.json()) as { readonly error?: number };
  return response.headers.get("x-plantstore-result") ?? String(error);
}

describe.runIf(hasOldVersion())("servers of two versions on one database", () => {
  it.each([
    ["the old one starts first", ["old", "new"]],
    ["the new one starts first", ["new", "old"]],
  ])(
    "have one winner per id and keep each other's plants when %s",
    async (_, order) => {
      const home = await createTemporaryDirectory();
      const store = await createStoreUrl(postgres.url);
      const env = { PLANTSTORE_STORE: store, PLANTSTORE_TOKEN: token };
      const oldBinary = await buildOldVersion();
      const urls: string[] = [];
      for (const version of order) {
        const options = version === "old" ? { home, env, binary: oldBinary } : { home, env };
        urls.push(await startBinary(["serve", "--port", "0"], options).firstLine);
      }

      const outcomes = await Promise.all(
        ids.flatMap((id) =>
          urls.map(async (url, server) => {
            const name = `plant ${id} of server ${server}`;
            return { id, name, result: await create(url, { id, name }) };
          }),
        ),
      );
      const results = outcomes.map(({ result }) => result);
      expect(results.toSorted()).toEqual([...ids.map(() => "40900"), ...ids.map(() => "created")]);
      const winners = outcomes.filter(({ result }) => result === "created");
      expect(await runSql(store, "SELECT id::int, name FROM plants ORDER BY id")).toEqual(
        winners.map(({ id, name }) => ({ id, name })),
      );
      const reader = await openPostgresReader(store);
      onTestFinished(() => reader.close());
      const fed = async () => (await reader.readFeed({ limit: 1000 })).map(({ id }) => Number(id));
      await expect.poll(async () => (await fed()).toSorted((a, b) => a - b)).toEqual(ids);

      for (const url of urls) {
        const repeated = await Promise.all(
          winners.map(({ id, name }) => create(url, { id, name })),
        );
        expect(new Set(repeated)).toEqual(new Set(["unchanged"]));
      }
    },
    120_000,
  );
});

it.runIf(hasOldVersion())(
  "a running server of the old version stores plants in the feed of an upgraded SQLite file",
  async () => {
    const home = await createTemporaryDirectory();
    const store = `sqlite:${join(home, "plants.db")}`;
    const env = { PLANTSTORE_STORE: store, PLANTSTORE_TOKEN: token };
    const args = ["serve", "--port", "0", "--on-conflict", "replace"];
    const oldServer = startBinary(args, { home, env, binary: await buildOldVersion() });
    const oldUrl = await oldServer.firstLine;
    for (const id of [2, 1]) await create(oldUrl, { id, name: "before" });
    const newUrl = await startBinary(args, { home, env }).firstLine;

    const reader = await openStoreReader(store);
    onTestFinished(() => reader.close());
    const before = await reader.readFeed({ limit: 1000 });
    expect(before.map(({ id }) => id)).toEqual([1n, 2n]);
    const urls = [oldUrl, newUrl];
    const results = await Promise.all(
      ids.map(async (id) => create(urls[id % 2] ?? "", { id, name: `plant ${id}` })),
    );
    expect(results.filter((result) => result === "replaced")).toHaveLength(2);
    expect(results.filter((result) => result === "created")).toHaveLength(ids.length - 2);
    const after = await reader.readFeed({ after: before.at(-1)?.cursor, limit: 1000 });
    expect(new Set(after.map(({ cursor }) => cursor)).size).toBe(ids.length);
    const names = after.map(({ plant }) => plant?.name ?? "");
    expect(new Set(names)).toEqual(new Set(ids.map((id) => `plant ${id}`)));
  },
  120_000,
);
