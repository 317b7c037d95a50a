/** A running server follows what its owner does to the tokens of its store, whichever database that is. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createStoreUrl, usePostgres } from "../helpers/postgres.ts";
import { runBinary, startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const postgres = usePostgres();

/** A server on a store, and the command beside it. */
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
  it("takes a token within a second after it is issued, and refuses it after it is revoked", async () => {
    const { running, run, create } = await startServer(await toStore());
    // It has read its tokens just now.
    await run(["create", "--id", "1", "--name", "fern"]);
    const issued = await run(["token", "issue", "--name", "ci"]);
    await sleep(1000);
    expect(await create(issued.stdout)).toMatchObject({ code: 0, stdout: '{"name":"fern"}\n' });

    expect(await run(["token", "revoke", "ci"])).toMatchObject({ code: 0 });
    await sleep(1000);
    const refused = await create(issued.stdout);
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.stdout).toContain('"error":40102');

    // The uses that were not noted yet are noted when it stops.
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
    await sleep(1000);
    expect(await create(first.stdout)).toMatchObject({ code: 0 });
    expect(await create(second.stdout)).toMatchObject({ code: 0 });

    const third = await run(["token", "rotate", "ci", "--overlap", "0"]);
    await sleep(1000);
    expect(await create(third.stdout)).toMatchObject({ code: 0 });
    for (const old of [first, second]) {
      expect((await create(old.stdout)).stdout).toContain('"error":40102');
    }
    const pruned = await run(["token", "prune"]);
    expect(pruned.stdout.trimEnd().split("\n")).toHaveLength(2);
    await sleep(1000);
    expect((await create(first.stdout)).stdout).toContain('"error":40102');
  });
});
