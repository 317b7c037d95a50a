/** A running server uses the tokens that its operator issues and revokes, with each database. */
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { digestToken } from "../../src/auth/authenticator.ts";
import { openStore } from "../../src/store/open-store.ts";
import { serveBinary } from "../helpers/binary-server.ts";
import { createStoreUrl, usePostgres } from "../helpers/postgres.ts";
import { runBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";
import { createUserUrl } from "../store/postgres/stores.ts";

const postgres = usePostgres();

/** Starts a server. @returns functions that run commands with its store */
async function startServer(store: string) {
  const server = await serveBinary([], { env: { PLANTSTORE_STORE: store } });
  const create = (token: string) =>
    server.run(["create", "--id", "1", "--name", "fern", "--token-file", "-"], token);
  return { ...server, create };
}

describe.each<[string, () => Promise<string>]>([
  ["SQLite", async () => `sqlite:${join(await createTemporaryDirectory(), "plants.db")}`],
  ["PostgreSQL", () => createStoreUrl(postgres.url)],
])("a server on %s", (_engine, toStore) => {
  it("accepts a token after it is issued, and rejects it after it is revoked", async () => {
    const { stop, run, create } = await startServer(await toStore());
    await run(["create", "--id", "1", "--name", "fern"]);
    const issued = await run(["token", "issue", "--name", "ci"]);
    const created = { code: 0, stdout: '{"name":"fern"}\n' };
    await expect.poll(() => create(issued.stdout)).toMatchObject(created);

    expect(await run(["token", "revoke", "ci"])).toMatchObject({ code: 0 });
    const rejected = { code: 4, stdout: expect.stringContaining('"error":40102') as string };
    await expect.poll(() => create(issued.stdout)).toMatchObject(rejected);

    // A server stores the last uses of its tokens when it stops.
    await stop();
    const { stdout } = await run(["token", "list", "--all"]);
    const aDay = expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string;
    const listed = stdout.trimEnd().split("\n");
    expect(listed.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { name: "first", state: "active", lastUsed: aDay },
      { name: "ci", state: "revoked", lastUsed: aDay },
    ]);
  });

  it("accepts both tokens of a rotation, until the old one is revoked", async () => {
    const { run, create } = await startServer(await toStore());
    const first = await run(["token", "issue", "--name", "ci"]);
    const second = await run(["token", "issue", "--name", "ci"]);
    const prefix = first.stdout.slice(0, 8);
    expect(await run(["token", "revoke", prefix, "--in", "24h"])).toMatchObject({ code: 0 });
    await expect.poll(() => create(second.stdout)).toMatchObject({ code: 0 });
    expect(await create(first.stdout)).toMatchObject({ code: 0 });

    expect(await run(["token", "revoke", prefix])).toMatchObject({ code: 0 });
    const rejected = { code: 4, stdout: expect.stringContaining('"error":40102') as string };
    await expect.poll(() => create(first.stdout)).toMatchObject(rejected);
    expect(await create(second.stdout)).toMatchObject({ code: 0 });
  });
});

it("token issue issues a token as a role of PostgreSQL that may not delete", async () => {
  const url = await createStoreUrl(postgres.url);
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const old = { prefix: "", name: "old", issuedAtMs: 0, expiresAtMs: 1 };
  await store.addToken({ ...old, digest: digestToken("old-token") });
  const userUrl = await createUserUrl(url, "USAGE", "SELECT, INSERT, UPDATE");
  const home = await createTemporaryDirectory();
  const env = { PLANTSTORE_STORE: userUrl };
  const { code, stdout, stderr } = await runBinary(["token", "issue"], { home, env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const digests = (await store.listTokens()).map(({ digest }) => digest);
  expect(digests).toEqual([digestToken("old-token"), digestToken(stdout.trim())]);
});
