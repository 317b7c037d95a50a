/** Two servers that share one store, as two processes: on one PostgreSQL database, and on one SQLite file. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serveBinary } from "../helpers/binary-server.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { createStoreUrl, usePostgres } from "../helpers/postgres.ts";
import { parseLines } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const postgres = usePostgres();

const stores: readonly [engine: string, toUrl: (home: string) => Promise<string>][] = [
  ["PostgreSQL", () => createStoreUrl(postgres.url)],
  ["SQLite", async (home) => `sqlite:${join(home, "shared.db")}`],
];

/** Starts two servers at the same time on a new store. */
async function startTwo(toUrl: (home: string) => Promise<string>, args: readonly string[] = []) {
  const home = await createTemporaryDirectory();
  const store = await toUrl(home);
  const options = { home, env: { PLANTSTORE_STORE: store } };
  const [first, second] = await Promise.all([
    serveBinary(args, options),
    serveBinary(args, options),
  ]);
  return { home, store, first, second, urls: [first.url, second.url] };
}

async function readTokens(home: string): Promise<string[]> {
  const directory = join(home, ".config/plantstore/credentials");
  const files = await readdir(directory);
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), "utf8")));
  return texts.map((text) => (JSON.parse(text) as { token: string }).token);
}

async function post(url: string, token: string, plant: object): Promise<string> {
  const response = await postPlant(url, token, plant);
  const { error } = (await response.json()) as { error?: number };
  return response.headers.get("x-plantstore-result") ?? String(error);
}

const ids = Array.from({ length: 100 }, (_, index) => index);

describe.each(stores)("on %s", (_engine, toUrl) => {
  it("both servers accept the token of each", async () => {
    const { home, urls } = await startTwo(toUrl);
    const tokens = await readTokens(home);
    const results = await Promise.all(
      urls.flatMap((url) => tokens.map((token) => post(url, token, { id: 1, name: "fern" }))),
    );
    expect(new Set(results)).toEqual(new Set(["created", "unchanged"]));
    expect(results.filter((result) => result === "created")).toHaveLength(1);
  });

  it("with --on-conflict replace the name and tag of a plant come from one request", async () => {
    const { home, store, first, urls } = await startTwo(toUrl, ["--on-conflict", "replace"]);
    const [token = ""] = await readTokens(home);
    const plants = urls.map((_, server) => ({ name: `name ${server}`, tag: `tag ${server}` }));
    const results = await Promise.all(
      ids.flatMap((id) => urls.map((url, server) => post(url, token, { id, ...plants[server] }))),
    );
    expect(results.filter((result) => result === "created")).toHaveLength(ids.length);
    expect(results.filter((result) => result === "replaced")).toHaveLength(ids.length);

    const { stdout } = await first.run(["export", "--store", store]);
    const stored = parseLines(stdout);
    expect(stored).toHaveLength(ids.length);
    for (const plant of stored) {
      expect(plants.map((each) => ({ id: expect.any(Number) as number, ...each }))).toContainEqual(
        plant,
      );
    }
  });
});

it("the password of a database appears in no output", async () => {
  const url = new URL(await createStoreUrl(postgres.url));
  url.password ||= "hunter2";
  const server = await serveBinary([], { env: { PLANTSTORE_STORE: url.href } });
  const { code, stdout, stderr } = await server.stop();
  expect(code).toBe(0);
  expect(stderr).toContain(`postgres://${url.hostname}:${url.port}/`);
  expect(stdout + stderr).not.toContain(url.password);
  expect(stdout + stderr).not.toContain(decodeURIComponent(url.password));
});
