/** `plantstore create --rejects`: the records that were not created, in a file that can be corrected and sent again. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { findClosedUrl } from "../../../client/scripted-server.ts";
import { containing, parseLines, runCli } from "../../../helpers/run-cli.ts";
import {
  a,
  b,
  create,
  createInput,
  lineOfA,
  listStored,
  readRejects,
  startTyping,
  summary,
  toPath,
  rejectsPath,
  currentServer,
  useServer,
  writeInput,
} from "./bulk.ts";

useServer();

describe("--rejects", () => {
  it("of several tables has the header of each, and can be corrected and sent again", async () => {
    const paths = [
      await writeInput("first.csv", "id,name\n2,b\nx,a\n,\n"),
      await writeInput("second.csv", '\uFEFF"name";"ID"\r\nc;y\r\n'),
    ];
    const corrected = toPath("rejects.csv");
    const result = await create([...paths, "--rejects", corrected]);
    expect(result).toExit(8, summary(1, 0, 0, 2, 0), containing('"line":2'));
    const text = await readFile(corrected, "utf8");
    expect(text).toBe('id,name\nx,a\n"name";"ID"\r\nc;y\r\n');
    expect(await create([corrected])).toExit(8, summary(0, 0, 0, 2, 0), [
      { line: 2, error: { error: 42202, message: containing("(got x)") } },
      { line: 4, error: { error: 42202, message: containing("(got y)") } },
    ]);
    await writeFile(corrected, text.replace("x", "1").replace("y", "3"));
    expect(await create([corrected])).toMatchObject({ exitCode: 0 });
    const stored = await listStored();
    expect(stored.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  it("writes the records that were not created, byte for byte", async () => {
    const broken = ['{"id":"1",  "name":"é\\u00e9"}', "{", '{"id":1,"name":"other"}'];
    await createInput([a, ...broken, b].join("\r\n"), "--rejects", rejectsPath());
    expect(await readRejects()).toBe(broken.map((line) => `${line}\r\n`).join(""));
  });

  it("creates a file that only its owner can read", async () => {
    await createInput('{"id":1}', "--rejects", rejectsPath());
    expect((await stat(rejectsPath())).mode & 0o777).toBe(0o600);
  });

  it("writes a single plant too", async () => {
    expect(await createInput('{"id":1}', "--rejects", rejectsPath())).toMatchObject({
      exitCode: 3,
    });
    expect(await readRejects()).toBe('{"id":1}\n');
  });

  it("of a table begins with its header", async () => {
    await createInput(
      "\uFEFFid,name\r\n1,a\r\nx,b\r\n2,c,d\r\n",
      "--csv",
      "--rejects",
      rejectsPath(),
    );
    expect(await readRejects()).toBe("id,name\r\nx,b\r\n2,c,d\r\n");
    const again = await create(["--csv", rejectsPath()]);
    expect(again).toExit(8, summary(0, 0, 0, 2, 0), [{ line: 2 }, { line: 3 }]);
  });

  it("writes records in any layout, each on a line, which have the same errors when they are sent again", async () => {
    const records = ["  { }", '{"id":1}', '{\n  "id": "2",\n  "name": "b"\n}'];
    const input = `[${records.join(",\n")},${a}]`;
    const first = await createInput(input, "--rejects", rejectsPath());
    const again = await create([rejectsPath()]);
    const errorsOf = (stdout: string): unknown[] =>
      parseLines(stdout).map((line) => (line as { error?: { error: number } }).error?.error);
    expect(errorsOf(first.stdout)).toEqual([42201, 42204, 42202, undefined]);
    expect(errorsOf(again.stdout)).toEqual([42201, 42204, 42202]);
    expect(await readRejects()).toBe('{ }\n{"id":1}\n{   "id": "2",   "name": "b" }\n');
  });

  it("has each record once after an outage and a resume", async () => {
    const input = await writeInput("plants", '{}\n{"id":2,"name":"b"}\n[]\n{"id":4}\n');
    const server = { url: await findClosedUrl() };
    const first = await create([input, "--rejects", rejectsPath(), "--retry", "2"], { server });
    const resume = `--from-line 2 --rejects ${rejectsPath()} --retry 2 ${input}`;
    const advice = `Resume, and add to ${rejectsPath()}:\n  plantstore create ${resume}\n`;
    expect(first).toExit(6, containing(advice), containing('"line":1'));
    expect(await readRejects()).toBe("{}\n");
    await create(resume.split(" "));
    expect(await readRejects()).toBe('{}\n[]\n{"id":4}\n');
  });

  it.each(["earlier record\n", "edited by hand"])(
    "extends its file with --from-line after %j, and replaces it otherwise",
    async (earlier) => {
      const path = await writeInput("rejects", earlier);
      const input = `${a}\n{}\n[]\n`;
      await createInput(input, "--rejects", path, "--from-line", "3");
      expect(await readFile(path, "utf8")).toBe(`${earlier.trimEnd()}\n[]\n`);
      await createInput(input, "--rejects", path);
      expect(await readFile(path, "utf8")).toBe("{}\n[]\n");
    },
  );

  it("is not replaced by a plant without a token", async () => {
    const path = await writeInput("rejects", "{}\n");
    const env = { PLANTSTORE_URL: currentServer().url };
    const args = ["create", "-", "--rejects", path];
    expect(await runCli(args, { stdin: a, env })).toMatchObject({ exitCode: 4 });
    expect(await readFile(path, "utf8")).toBe("{}\n");
  });

  it("extends its file with --from-line 1 of another input, as the end of a run advises", async () => {
    const first = await writeInput("first", "{}\n");
    const run = startTyping(`${a}\n`, [first, "-", "--rejects", rejectsPath()]);
    await run.saw('"created"');
    run.signal("SIGINT");
    expect((await run.finished).stderr).toContain(
      `, and add to ${rejectsPath()}:\n  plantstore create --from-line 2 --rejects ${rejectsPath()} -\n`,
    );
    await createInput('{"id":2}\n', "--from-line", "1", "--rejects", rejectsPath());
    expect(await readRejects()).toBe('{}\n{"id":2}\n');
  });

  it("lacks a record that is too large, and warns", async () => {
    const tooLong = `{"id":1,"name":"${"x".repeat(64 * 1024 * 1024)}"}`;
    const { exitCode, stdout, stderr } = await createInput(
      `${tooLong}\n${a}\n{}`,
      "--rejects",
      rejectsPath(),
    );
    expect(exitCode).toBe(8);
    expect(stdout).toContain('"error":41300');
    expect(stderr).toContain(
      `warning: ${rejectsPath()} lacks the record at line 1 of standard input: it is too large\n`,
    );
    expect(await readRejects()).toBe("{}\n");
  });

  it("is empty without a reject, also if an older file is there", async () => {
    await writeFile(rejectsPath(), "older\n");
    expect(await createInput(a, "--rejects", rejectsPath())).toMatchObject({ exitCode: 0 });
    expect(await readRejects()).toBe("");
  });

  it("is rejected if it is an input", async () => {
    const path = await writeInput("plants", `${a}\n{}\n`);
    const result = await create([path, "--rejects", path]);
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await readFile(path, "utf8")).toBe(`${a}\n{}\n`);
  });

  it.runIf(process.platform === "linux")(
    "that is full ends the run after the results of earlier records",
    async () => {
      const problem =
        /error: \/dev\/full cannot be written: no space left on device\nResume with .*\n  plantstore create --from-line 2 --rejects \/dev\/full -\n$/;
      expect(await createInput(`${a}\n{}\n`, "--rejects", "/dev/full")).toExit(2, problem, lineOfA);
    },
  );

  it("that cannot be written ends the run before anything is sent", async () => {
    const result = await createInput(`${a}\n${b}\n`, "--rejects", toPath("."));
    expect(result).toExit(2, /^error: .* cannot be written: it is a directory/);
    expect(await listStored()).toEqual([]);
  });
});
