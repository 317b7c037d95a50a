/** The first start of the built command: what it leaves on the disk, and how it ends. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { loadSqlite } from "../../src/store/sqlite/driver.ts";
import { serveBinary } from "../helpers/binary-server.ts";

let server: Awaited<ReturnType<typeof serveBinary>>;
beforeEach(async () => {
  server = await serveBinary();
});

describe("the first server of a user", () => {
  it("stores rows that SQLite reads with every digit and character", async () => {
    const flags = ["--id", "-9223372036854775808", "--name", "fern", "--tag", "pot"];
    await server.run(["create", ...flags]);
    await server.run(["create"], '{"id":9007199254740993,"name":"a\\u0000b"}');
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(join(server.home, ".local/share/plantstore/plants.db"));
    const rows = database
      .prepare("SELECT CAST(id AS TEXT) AS id, hex(name) AS name, tag FROM plants ORDER BY 1")
      .all();
    database.close();
    expect(rows).toEqual([
      { id: "-9223372036854775808", name: "6665726E", tag: "pot" },
      { id: "9007199254740993", name: "610062", tag: null },
    ]);
  });

  it("saves its token for this user only, and in no output and no other file", async () => {
    const credentials = join(server.home, ".config/plantstore/credentials");
    const [name = ""] = await readdir(credentials);
    const file = await readFile(join(credentials, name), "utf8");
    const { token } = JSON.parse(file) as { readonly token: string };
    expect(token).toMatch(/^pst_[0-9A-Za-z]{49}$/);
    expect((await stat(join(credentials, name))).mode & 0o777).toBe(0o600);
    expect((await stat(credentials)).mode & 0o777).toBe(0o700);

    const { stdout, stderr } = await server.stop();
    expect(stdout + stderr).not.toContain(token);
    const data = join(server.home, ".local/share/plantstore");
    for (const each of await readdir(data)) {
      expect(await readFile(join(data, each), "latin1"), each).not.toContain(token.slice(8));
    }
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "exits with 0 on %s, and prints only the URL on stdout",
    async (signal) => {
      server.child.kill(signal);
      const { code, stdout, stderr } = await server.finished;
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${server.url}\n` });
      expect(stderr).not.toMatch(/warning|error/i);
    },
  );
});
