/** The first steps of the README and of a new user, with the built command. */
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { loadSqlite } from "../../src/store/sqlite/driver.ts";
import { serveBinary } from "../helpers/binary-server.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { type Running, runBinary, startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

let home: string;
let url: string;
let server: Running;

/** Starts the server of the home. */
async function restart(): Promise<void> {
  const started = await serveBinary([], { home });
  ({ url } = started);
  server = started;
}

const credentials = (): string => join(home, ".config/plantstore/credentials");

async function readOnlyToken(): Promise<string> {
  const [name = ""] = await readdir(credentials());
  const file = JSON.parse(await readFile(join(credentials(), name), "utf8")) as { token: string };
  return file.token;
}

function create(args: readonly string[], stdin?: string) {
  const options = { home, env: { PLANTSTORE_URL: url } };
  return runBinary(["create", ...args], stdin === undefined ? options : { ...options, stdin });
}

describe("a started server:", () => {
  beforeEach(async () => {
    home = await createTemporaryDirectory();
    await restart();
  });
  afterEach(async () => {
    server.child.kill("SIGKILL");
    await server.finished;
  });

  describe("create", () => {
    it("prints the plant, prints it again for the same plant, and prints the Error for a different one", async () => {
      const fern = ["--id", "9223372036854775807", "--name", "fern"];
      const plant = { code: 0, stdout: '{"name":"fern"}\n', stderr: "" };
      expect(await create(fern)).toEqual(plant);
      expect(await create(fern)).toEqual(plant);

      const other = await create(["--id", "9223372036854775807", "--name", "moss"]);
      expect(other.code).toBe(5);
      expect(other.stdout).toMatch(/^\{"error":40900,"message":"[^"]+"\}\n$/);
      expect(other.stderr).toMatch(/^[^\n]*40900[^\n]*\n$/);
    });

    it("prints a piped plant exactly, without its id", async () => {
      const sent = '{"id":2,"name":"mönstera\\u0000","tag":""}';
      const { code, stdout } = await create(["-"], `${sent}\n`);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: '{"name":"mönstera\\u0000","tag":""}\n',
      });
    });

    it("stores rows that SQLite reads with every digit and character", async () => {
      await create(["--id", "-9223372036854775808", "--name", "fern", "--tag", "pot"]);
      await create([], '{"id":9007199254740993,"name":"a\\u0000b"}');
      const { DatabaseSync } = await loadSqlite();
      const database = new DatabaseSync(join(home, ".local/share/plantstore/plants.db"));
      const rows = database
        .prepare(
          "SELECT CAST(id AS TEXT) AS id, hex(name) AS name, tag FROM plants ORDER BY plants.id",
        )
        .all();
      database.close();
      expect(rows).toEqual([
        { id: "-9223372036854775808", name: "6665726E", tag: "pot" },
        { id: "9007199254740993", name: "610062", tag: null },
      ]);
    });
  });

  it("any HTTP client with the token gets the same responses", async () => {
    const token = await readOnlyToken();
    const created = await postPlant(url, token, { id: 1, name: "fern" });
    expect([created.status, await created.text()]).toEqual([200, '{"name":"fern"}']);
    const rejected = await postPlant(url, token, { id: 1, name: "moss" });
    expect([rejected.status, await rejected.json()]).toMatchObject([400, { error: 40900 }]);
  });

  describe("the first token", () => {
    it("is saved for this user only, and appears in no output and no other file", async () => {
      const token = await readOnlyToken();
      expect(token).toMatch(/^pst_[0-9A-Za-z]{49}$/);
      const [name = ""] = await readdir(credentials());
      expect((await stat(join(credentials(), name))).mode & 0o777).toBe(0o600);
      expect((await stat(credentials())).mode & 0o777).toBe(0o700);

      server.child.kill("SIGTERM");
      const { stdout, stderr } = await server.finished;
      expect(stdout + stderr).not.toContain(token);
      const data = join(home, ".local/share/plantstore");
      for (const file of await readdir(data)) {
        expect(await readFile(join(data, file), "latin1"), file).not.toContain(token.slice(8));
      }
    });

    it("works for another store at the same address", async () => {
      const { port } = new URL(url);
      server.child.kill("SIGTERM");
      await server.finished;
      server = startBinary(["serve", "--port", port, "--store", "memory:"], { home });
      expect(await server.firstLine).toBe(url);
      expect(await create(["--id", "1", "--name", "fern"])).toMatchObject({ code: 0 });
    });

    it("can be a token of PLANTSTORE_TOKEN for serve and create", async () => {
      const env = { PLANTSTORE_TOKEN: "chosen-in-ci" };
      const own = await serveBinary(["--store", "memory:"], { home, env });
      const created = await own.run(["create", "--id", "1", "--name", "a"]);
      expect(created).toMatchObject({ code: 0 });
      expect(await own.stop()).toMatchObject({ code: 0 });
    });
  });

  describe("serve", () => {
    it.each(["SIGINT", "SIGTERM"] as const)(
      "exits with 0 on %s, and prints only the URL on stdout",
      async (signal) => {
        server.child.kill(signal);
        const { code, stdout, stderr } = await server.finished;
        expect({ code, stdout }).toEqual({ code: 0, stdout: `${url}\n` });
        expect(stderr).not.toMatch(/warning|error/i);
      },
    );

    it("has every acknowledged plant after kill -9", async () => {
      const acknowledged: number[] = [];
      const token = await readOnlyToken();
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let id = writer; ; id += 8) {
          const response = await postPlant(url, token, { id, name: `plant ${id}` });
          if (response.status === 200) acknowledged.push(id);
          if (acknowledged.length === 200) server.child.kill("SIGKILL");
        }
      });
      await Promise.allSettled(writers);
      await server.finished;

      await restart();
      expect(acknowledged.length).toBeGreaterThanOrEqual(200);
      const results = await Promise.all(
        acknowledged.map(async (id) => {
          const response = await postPlant(url, token, { id, name: `plant ${id}` });
          return response.headers.get("x-plantstore-result");
        }),
      );
      expect(results.filter((result) => result !== "unchanged")).toEqual([]);
    });
  });
});

describe("serve", () => {
  it.each<[exit: number, what: string, args: (takenPort: number) => string[], message: RegExp]>([
    [1, "a port in use", (port) => ["--port", `${port}`], /port \d+ .*in use.*--port/],
    [
      1,
      "a host of another machine",
      () => ["--port", "0", "--host", "192.0.2.1"],
      /192\.0\.2\.1.*--host/,
    ],
    [
      2,
      "a store below a file",
      () => ["--port", "0", "--store", "sqlite:/dev/null/plants.db"],
      /\/dev\/null/,
    ],
    [2, "a store that is a directory", () => ["--port", "0", "--store", "sqlite:."], /directory/],
  ])(
    "exits with %d and one line if it cannot start with %s",
    async (exit, _what, args, message) => {
      const other = createServer().listen(0, "127.0.0.1");
      await once(other, "listening");
      onTestFinished(() => void other.close());
      const { code, stdout, stderr } = await runBinary(
        ["serve", ...args((other.address() as AddressInfo).port)],
        { home: await createTemporaryDirectory(), env: { PLANTSTORE_STORE: "memory:" } },
      );
      expect({ code, stdout }).toEqual({ code: exit, stdout: "" });
      expect(stderr).toMatch(/^[^\n]+\n$/);
      expect(stderr).toMatch(message);
    },
  );
});
