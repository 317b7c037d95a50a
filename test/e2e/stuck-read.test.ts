/** A signal ends a command that reads, also while the database does not respond. */
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { createStoreUrl, runSql, usePostgres } from "../helpers/postgres.ts";
import { startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const postgres = usePostgres();

/** Locks the plants against reads, until the end of the test. */
async function lockPlants(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  onTestFinished(() => client.end());
  await client.connect();
  await client.query("BEGIN; LOCK TABLE plants IN ACCESS EXCLUSIVE MODE");
}

const isReaderWaiting = `SELECT count(*)::int AS waiting FROM pg_locks
  WHERE relation = 'plants'::regclass AND NOT granted`;

it.each([
  [["--csv"], "SIGTERM", 143],
  [[], "SIGINT", 130],
] as const)("export %j ends with %s while the plants are locked", async (flags, signal, code) => {
  const url = await createStoreUrl(postgres.url);
  const engine = await openPostgresEngine(url);
  onTestFinished(() => engine.close());
  await lockPlants(url);
  const home = await createTemporaryDirectory();
  const run = startBinary(["export", ...flags], { home, env: { PLANTSTORE_STORE: url } });
  await expect
    .poll(async () => (await runSql(url, isReaderWaiting))[0]?.["waiting"])
    .toBeGreaterThan(0);
  run.child.kill(signal);
  const finished = await run.finished;
  expect(finished).toMatchObject({
    code,
    stdout: "",
    stderr: expect.stringMatching(
      `^(?:Store: .*\n)?error: stopped by ${signal}: some plants are missing in the output\n`,
    ),
  });
});
