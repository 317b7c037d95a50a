/** The first start of the built command: what it stores, and how it ends. */
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
