/** A running server uses the tokens that its operator issues, rotates, revokes and prunes, with each database. */
import { join } from "node:path";

import { describe, expect, it } from "vitest";
import { createStoreUrl, usePostgres } from "../helpers/postgres.ts";
import { runBinary, startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const postgres = usePostgres();

/** Starts a server. @returns functions that run commands with its store */
async function startServer(store: string) {
  const home = await createTemporaryDirectory();
  const running = startBinary(["serve", "--port", "0"], { home, env: { PLANTSTORE_STORE: store } });
  const url = await running.firstLine;
  const run = (args: readonly string[], stdin = "") =>
    runBinary(args, { home, env: { PLANTSTORE_STORE: store, PLANTSTORE_URL: url }, stdin });
  const create = (token: string) =>
    run(["create", "--id", "1", "--name", "fern", "--token-file", "-"], token);
  return { running, run, create };
}

describe.each<[string, () => Promise<string>]>([
  ["SQLite", async () => `sqlite:${join(await createTemporaryDirectory(), "plants.db")}`],
  ["PostgreSQL", () => createStoreUrl(postgres.url)],
])("a server on %s", (_engine, toStore) => {
  it("accepts a token after it is issued, and rejects it after it is revoked", async () => {
    const { running, run, create } = await startServer(await toStore());
    await run(["create", "--id", "1", "--name", "fern"]);
    const issued = await run(["token", "issue", "--name", "ci"]);
    const created = { code: 0, stdout: '{"name":"fern"}\n' };
    await expect.poll(() => create(issued.stdout)).toMatchObject(created);

    expect(await run(["token", "revoke", "ci"])).toMatchObject({ code: 0 });
    const rejected = { code: 4, stdout: expect.stringContaining('"error":40102') as string };
    await expect.poll(() => create(issued.stdout)).toMatchObject(rejected);

    // A server stores the last uses of its tokens when it stops.
    running.child.kill("SIGTERM");
    await running.finished;
    const { stdout } = await run(["token", "list"]);
    const aDay = expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string;
    const listed = stdout.trimEnd().split("\n");
    expect(listed.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { name: "first", state: "active", lastUsed: aDay },
      { name: "ci", state: "revoked", lastUsed: aDay },
    ]);
  });

  it("accepts both tokens after a rotation with an overlap, and only the new one without", async () => {
    const { run, create } = await startServer(await toStore());
    const first = await run(["token", "issue", "--name", "ci"]);
    const second = await run(["token", "rotate", "ci"]);
    await expect.poll(() => create(second.stdout)).toMatchObject({ code: 0 });
    expect(await create(first.stdout)).toMatchObject({ code: 0 });

    const third = await run(["token", "rotate", "ci", "--overlap", "0"]);
    await expect.poll(() => create(third.stdout)).toMatchObject({ code: 0 });
    for (const old of [first, second]) {
      expect((await create(old.stdout)).stdout).toContain('"error":40102');
    }
    const pruned = await run(["token", "prune"]);
    expect(pruned.stdout.trimEnd().split("\n")).toHaveLength(2);
    // Once the server accepts a newer token, it has also read that the first one is pruned.
    const fourth = await run(["token", "issue", "--name", "later"]);
    await expect.poll(() => create(fourth.stdout)).toMatchObject({ code: 0 });
    expect((await create(first.stdout)).stdout).toContain('"error":40102');
  });
});
