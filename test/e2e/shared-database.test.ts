/** Two servers that share one store, as two processes: on one PostgreSQL database, and on one SQLite file. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serveBinary } from "../helpers/binary-server.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { createStoreUrl, usePostgres } from "../helpers/postgres.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const postgres = usePostgres();

const stores: readonly [engine: string, toUrl: (home: string) => Promise<string>][] = [
  ["PostgreSQL", () => createStoreUrl(postgres.url)],
  ["SQLite", async (home) => `sqlite:${join(home, "shared.db")}`],
];

/** Starts two servers at the same time on a new store. */
async function startTwo(toUrl: (home: string) => Promise<string>, args: readonly string[] = []) {
  const home = await createTemporaryDirectory();
  const options = { home, env: { PLANTSTORE_STORE: await toUrl(home) } };
  const [first, second] = await Promise.all([
    serveBinary(args, options),
    serveBinary(args, options),
  ]);
  return { home, first, second, urls: [first.url, second.url] };
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

  it("exactly one of different plants with one id is stored, whichever server gets it", async () => {
    const { home, first, urls } = await startTwo(toUrl);
    const [token = ""] = await readTokens(home);
    const creates = ids.flatMap((id) =>
      urls.flatMap((url, server) =>
        [0, 1].map(async (attempt) => {
          const name = `plant ${id} of ${server}, ${attempt}`;
          return { id, name, result: await post(url, token, { id, name }) };
        }),
      ),
    );
    const outcomes = await Promise.all(creates);
    const winners = outcomes.filter(({ result }) => result === "created");
    expect(winners.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(ids);
    expect(outcomes.filter(({ result }) => result === "40900")).toHaveLength(300);

    const { stdout } = await first.run(["export"]);
    const stored = winners.toSorted((a, b) => a.id - b.id);
    expect(stdout).toBe(stored.map(({ id, name }) => `${JSON.stringify({ id, name })}\n`).join(""));
  });

  it("with --on-conflict replace the name and tag of a plant come from one request", async () => {
    const { home, first, urls } = await startTwo(toUrl, ["--on-conflict", "replace"]);
    const [token = ""] = await readTokens(home);
    const plants = urls.map((_, server) => ({ name: `name ${server}`, tag: `tag ${server}` }));
    const results = await Promise.all(
      ids.flatMap((id) => urls.map((url, server) => post(url, token, { id, ...plants[server] }))),
    );
    expect(results.filter((result) => result === "created")).toHaveLength(ids.length);
    expect(results.filter((result) => result === "replaced")).toHaveLength(ids.length);

    const { stdout } = await first.run(["export"]);
    const stored = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(stored).toHaveLength(ids.length);
    for (const plant of stored) {
      expect(plants.map((each) => ({ id: expect.any(Number) as number, ...each }))).toContainEqual(
        plant,
      );
    }
  });

  it("a server has every plant that another one acknowledged before kill -9", async () => {
    const { home, first, second } = await startTwo(toUrl);
    const [token = ""] = await readTokens(home);
    const createAll = (url: string): Promise<string[]> =>
      Promise.all(ids.map((id) => post(url, token, { id, name: "fern" })));
    const results = await createAll(first.url);
    expect(new Set(results)).toEqual(new Set(["created"]));
    first.child.kill("SIGKILL");
    const again = await createAll(second.url);
    expect(new Set(again)).toEqual(new Set(["unchanged"]));
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
