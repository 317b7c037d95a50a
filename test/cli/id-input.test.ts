/** Ids on standard input, as `get -` and `delete -` read them. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { containing, runCli } from "../helpers/run-cli.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";

const plants = [1n, 2n, 3n].map((id) => ({ id, name: "fern" }));

describe("get -", () => {
  it.each([
    ["lines", "1\n\n3\n"],
    ["objects", '{"id":1}\n{"id":3,"name":"x"}\n'],
    ["an array", '[{"id":1},{"id":3}]'],
    ["a table, as list --csv prints it", "id,name,tag\n1,fern,\n3,a,b\n"],
    ["a table with quotes and CR LF", 'NAME;"Id"\r\n"a\nb";1\r\nc;3\r\n'],
    ["a table with tabs", "id\tname\n1\tfern\n3\tfern\n"],
    ["a table of ids alone", "id\n1\n3\n"],
    ["a table without names", "count;id\n9;1\n9;3\n"],
  ])("reads the ids of %s", async (_, stdin) => {
    const store = await createSqliteStore(plants);
    const expected = '{"id":1,"name":"fern"}\n{"id":3,"name":"fern"}\n';
    expect(await runCli(["get", "-", "--store", store], { stdin })).toPrint(expected);
  });

  it.each([
    ["a spreadsheet", "PK\u0003\u0004aaaaaaaaaa"],
    ["an array that does not end", '[{"id":7}'],
  ])("rejects %s with a sentence", async (_, stdin) => {
    const store = await createSqliteStore([]);
    const result = await runCli(["get", "-", "--store", store], { stdin });
    expect(result).toExit(2, containing("standard input"));
    expect(result.stderr).not.toContain("bug");
  });

  it.each([
    ["a word", "\nfern\n", 2, "fern"],
    ["a table without the column id", "number,name\n1,fern\n", 1, "number"],
  ])("rejects %s with its line", async (_, stdin, line, got) => {
    const store = await createSqliteStore([]);
    const result = await runCli(["get", "-", "--store", store], { stdin });
    expect(result).toExit(2, containing(`error: line ${line}: the id must be an integer `));
    expect(result.stderr).toContain(`(got "${got}`);
  });

  it("rejects a line over the limit for its length, which is why nothing of it is quoted", async () => {
    const stdin = "1".repeat(64 * 1024 * 1024 + 1);
    const result = await runCli(["get", "-", "--store", await createSqliteStore([])], { stdin });
    expect(result).toExit(2, containing("error: line 1: the plant has more than 67108864 bytes"));
  });
});

it("delete deletes the plants of a table that list prints", async () => {
  const store = await createSqliteStore(plants);
  const { stdout: stdin } = await runCli(["list", "--csv", "--limit", "2", "--store", store]);
  const run = await runCli(["delete", "--yes", "-", "--store", store], { stdin });
  expect(run).toExit(0, containing("deleted 2 plants with the ids 1, 2 "));
  expect(await runCli(["list", "--count", "--store", store])).toPrint("1\n");
});

it.each(["get", "delete"])("%s of a compressed input names itself in the advice", async (name) => {
  const store = await createSqliteStore([]);
  const args = name === "delete" ? [name, "--yes", "-"] : [name, "-"];
  const result = await runCli([...args, "--store", store], { stdin: gzipSync("1\n") });
  expect(result).toExit(2, containing(`gunzip --stdout | plantstore ${name} -\n`));
});
