/** What `create` says about records itself: unknown members, and all rules with `--dry-run`. */
import { describe, expect, it } from "vitest";
import { type CliOptions, containing, parseLines, runCli } from "../../../helpers/run-cli.ts";
import {
  a,
  b,
  createInput,
  listStored,
  readRejects,
  summary,
  rejectsPath,
  useServer,
} from "./bulk.ts";

useServer();

describe("unknown members", () => {
  const tga = (id: number): string => `{"id":${id},"name":"a","tga":"pot"}\n`;

  it("are reported once for each name, with the closest known name", async () => {
    const more = '{"id":9,"Name":"b","name":"c","colour":"green"}\n';
    const { exitCode, stderr } = await createInput(tga(1) + tga(2) + more + tga(3));
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: `warning: record 1 (line 1): unknown member "tga": did you mean "tag"?
warning: record 3 (line 3): unknown member "Name": did you mean "name"?
warning: record 3 (line 3): unknown member "colour": a plant has id, name and tag
`,
    });
  });

  it.each([
    ["x", "a plant has id, name and tag"],
    ["i", "a plant has id, name and tag"],
    ["ta", 'did you mean "tag"?'],
    ["ID", 'did you mean "id"?'],
  ])("called %s have the advice: %s", async (member, advice) => {
    const { stderr } = await createInput(`{"id":1,"name":"a","${member}":1}`);
    expect(stderr).toBe(`warning: record 1 (line 1): unknown member "${member}": ${advice}\n`);
  });

  it("of a single plant are reported too", async () => {
    const warning = 'warning: record 1 (line 1): unknown member "tga": did you mean "tag"?\n';
    expect(await createInput(tga(1))).toExit(0, warning, '{"name":"a"}\n');
  });

  it("are not reported with --quiet", async () => {
    expect(await createInput(tga(1) + tga(2), "--quiet")).toMatchObject({ stderr: "" });
  });

  it("are rejected with --strict before anything is sent", async () => {
    expect(await createInput(tga(1) + a, "--strict")).toExit(8, summary(1, 0, 0, 1, 0), [
      {
        record: 1,
        id: 1,
        status: "rejected",
        error: { message: 'unknown member "tga": did you mean "tag"? (--strict)' },
      },
      { record: 2, status: "created" },
    ]);
    // Not an Error, because no rule of the service is broken.
    expect(await createInput(tga(3), "--strict")).toEqual({
      exitCode: 3,
      stdout: "",
      stderr: 'error: unknown member "tga": did you mean "tag"? (--strict) (in standard input)\n',
    });
    expect(await listStored()).toHaveLength(1);
  });

  it("of a table are columns with cells", async () => {
    const { stderr } = await createInput("id,name,tga\n1,a,\n2,b,pot\n", "--csv");
    expect(stderr).toBe('warning: record 2 (line 3): unknown column "tga": did you mean "tag"?\n');
  });

  it("cannot fill the terminal or the memory with their names", async () => {
    const lines = Array.from({ length: 100 }, (_, id) => `{"id":${id},"name":"a","x${id}":1}\n`);
    const { stderr } = await createInput(lines.join(""));
    expect(stderr.split("\n")).toHaveLength(11);
  });
});

describe("--dry-run", () => {
  const nowhere: CliOptions = { env: { PLANTSTORE_URL: "http://127.0.0.1:1" } };
  const check = (stdin: string, ...args: readonly string[]) =>
    runCli(["create", "--dry-run", ...args], { ...nowhere, stdin });

  it("checks all records with the rules of the service, without a server and a token", async () => {
    const result = await check(`${a}\n{"id":2}\n${a}\n`);
    const counts = /^valid 2, rejected 1, failed 0 in [^\n]*; nothing was sent\n$/;
    expect(result).toExit(8, counts, containing('"status":"rejected"'));
    expect(parseLines(result.stdout)).toEqual([
      { record: 1, line: 1, id: 1, status: "valid", plant: { name: "a" } },
      {
        record: 2,
        line: 2,
        id: 2,
        status: "rejected",
        error: { error: 42204, message: "name is missing: add a string" },
      },
      { record: 3, line: 3, id: 1, status: "valid", plant: { name: "a" } },
    ]);
  });

  it("checks a single plant in the input or in flags", async () => {
    const sentence = "✓ plant 1 is valid; nothing was sent\n";
    expect(await check(a)).toExit(0, sentence, '{"name":"a"}\n');
    expect(await check('{"id":1}')).toMatchObject({ exitCode: 3 });
    const flags = await runCli(["create", "--dry-run", "--id", "1", "--name", "a"], nowhere);
    expect(flags).toExit(0, sentence, '{"name":"a"}\n');
    expect(await check(a, "--quiet")).toPrint("");
  });

  it("does not read certificates", async () => {
    const args = ["--url", "https://plants.example", "--cacert", "/missing"];
    for (const stdin of [a, `${a}\n${b}\n`]) {
      expect(await check(stdin, ...args)).toMatchObject({ exitCode: 0 });
    }
    const flags = ["create", "--dry-run", "--id", "1", "--name", "a", ...args];
    expect(await runCli(flags)).toMatchObject({ exitCode: 0 });
  });

  it("says that nothing was sent although all records are valid", async () => {
    const counts = /^✓ valid 2, rejected 0, failed 0 in [^\n]*; nothing was sent\n$/;
    expect(await check(`${a}\n${b}\n`)).toExit(0, counts, [{ id: 1 }, { id: 2 }]);
    expect(await check(`${a}\n${b}\n`, "--quiet")).toPrint("");
  });

  it("stops with --fail-fast, and writes rejects", async () => {
    const input = `${a}\n{}\n${b}\n`;
    const { stdout, stderr } = await check(input, "--fail-fast", "--rejects", rejectsPath());
    expect(parseLines(stdout)).toMatchObject([{ status: "valid" }, { status: "rejected" }]);
    expect(stderr).toMatch(/^valid 1, rejected 1, failed 0 in /);
    expect(await readRejects()).toBe("{}\n");
  });
});
