/** What `create` shows of many plants while it sends them. */
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { errorResponse, json, openScriptedServer } from "../../../client/scripted-server.ts";
import { testToken } from "../../../helpers/plant-server.ts";
import { type CliOptions, parseLines, runCli, startCli } from "../../../helpers/run-cli.ts";
import {
  a,
  b,
  create,
  currentServer,
  listStored,
  startTyping,
  summary,
  useServer,
  writeInput,
} from "./bulk.ts";

useServer();

describe("a terminal", () => {
  const terminals = { stderr: true };

  it("shows that the store is unavailable, and no remaining time after the whole input is read", async () => {
    const path = await writeInput("plants.json", `${a}\n${b}\n`);
    const unavailable = await openScriptedServer(errorResponse(50_301));
    const options = { server: unavailable, terminals };
    const run = startCli(["create", path, "--retry", "100"], options);
    await run.saw(`${unavailable.url} is unavailable (error 50301), retrying: 0 %, 0 records, 0/s`);
    expect(run.stderr()).not.toContain("left");
    run.signal("SIGINT");
    expect((await run.finished).exitCode).toBe(130);
  });

  it("shows the progress, and at the end the summary", async () => {
    const run = startTyping(`${a}\n${b}\n{}\n`, [], { terminals });
    await run.saw("3 records, 1 rejected, ");
    run.stdin.end();
    expect((await run.finished).stderr).toMatch(
      /created 2, unchanged 0, replaced 0, rejected 1, failed 0 in [\d.]+ s(?: \(\d\/s\))?\n$/,
    );
  });

  it("shows no progress if stdout is a pipe, whose reader may write there too", async () => {
    const run = startTyping(`${a}\n${b}\n`, [], { terminals, isPiped: true });
    await run.saw('"record":2');
    // Progress that begins later is there already.
    const shown = startTyping(`${a}\n${b}\n`, [], { terminals });
    await shown.saw("2 records, ");
    expect(run.stderr()).not.toContain("2 records, ");
    for (const each of [run, shown]) {
      each.stdin.end();
      await each.finished;
    }
  });

  it("on which the input is typed shows no progress", async () => {
    const typed = { terminals: { stdin: true, stderr: true } };
    const run = startTyping(`${a}\n`, ["--json", "-"], typed);
    await run.saw('"status":"created"');
    // Progress that begins later is there already.
    const piped = startTyping(`${a}\n`, ["--json", "-"], { terminals });
    await piped.saw("1 records, ");
    expect(run.stderr()).toBe(
      `Server: ${currentServer().url}\nreading plants as JSON from the terminal: end with Ctrl-D\n`,
    );
    for (const each of [run, piped]) {
      each.stdin.end();
      expect(await each.finished).toMatchObject({ exitCode: 0 });
    }
  });

  it("shows the share of the records that have a result", async () => {
    const pending: (() => void)[] = [];
    const scripted = await openScriptedServer((response) => {
      const reply = (): void => json(200, '{"name":"a"}')(response);
      if (scripted.requests.at(-1)?.body.includes('"id":2,') === true) pending.push(reply);
      else reply();
    });
    const path = await writeInput("plants.json", `${a}\n${b.replace(',"tag":"pot"', "")}\n`);
    const run = startCli(["create", path], { server: scripted, terminals });
    await run.saw("47 %, 1 records");
    for (const reply of pending) reply();
    expect((await run.finished).exitCode).toBe(0);
  });

  it("shows nothing in CI", async () => {
    const options = { env: { CI: "true" }, stdin: `${a}\n${b}\n`, terminals };
    const stderr = `Server: ${currentServer().url}\n`;
    expect(await create([], options)).toMatchObject({ exitCode: 0, stderr });
  });

  it("shows only the summary with --quiet", async () => {
    const options = { stdin: `${a}\n${b}\n`, terminals };
    const result = await create(["--quiet"], options);
    expect(result).toExit(
      0,
      /^\S+✓\S+ created 2, unchanged 0, replaced 0, rejected 0, failed 0 in [^\n]*\n$/,
    );
  });

  it("shows only rejected and failed records if stdout is a terminal", async () => {
    const options = { stdin: `${a}\n{}\n${b}\n`, terminals: { stdout: true } };
    const { stdout, stderr } = await create([], options);
    expect(stdout).toMatch(/^line 2 {2}rejected 42201: id is missing[^]*name is missing/);
    expect(stdout.match(/line \d/g)).toHaveLength(1);
    expect(stderr).toMatch(summary(2, 0, 0, 1, 0));
  });

  it("shows rejected records as sentences, with their files and requests", async () => {
    const moss = '{"id":1,"name":"moss"}';
    const paths = [await writeInput("a.json", `${a}\n${moss}\n`), await writeInput("b.json", moss)];
    const options = { terminals: { stdout: true } };
    const { stdout } = await create(["--quiet", ...paths, "--concurrency", "1"], options);
    const lines = stdout.replaceAll(/request [^)]+/g, "request R");
    const sentence =
      "id 1  rejected 40900: id 1 belongs to a different plant, which was not changed: choose another id (request R)";
    expect(lines).toBe(`${paths[0]} line 2  ${sentence}\n${paths[1]} line 1  ${sentence}\n`);
  });

  it("escapes control characters in the sentences", async () => {
    const message = "\u001b[31mred\u0085";
    const error = JSON.stringify({ error: 40900, message });
    const rejecting = await openScriptedServer(json(400, error));
    const options = { stdin: `${a}\n${b}\n`, terminals: { stdout: true } };
    const { stdout } = await runCli(["create"], { server: rejecting, ...options });
    expect(stdout).toContain(String.raw`line 1  id 1  rejected 40900: \u001b[31mred\u0085` + "\n");
  });

  it("shows records as JSON with --json, and with --quiet only the rejected ones", async () => {
    const options = { stdin: `${a}\n{}\n${b}\n`, terminals: { stdout: true } };
    expect(parseLines((await create(["--json"], options)).stdout)).toHaveLength(3);
    const { stdout } = await create(["--json", "--quiet"], options);
    expect(parseLines(stdout)).toMatchObject([{ record: 2, status: "rejected" }]);
  });
});

describe("a first plant", () => {
  it("is sent when it arrives, and its output waits for a second one", async () => {
    const run = startTyping(`${a}\n`, [], { terminals: { stderr: true } });
    await run.saw("1 records");
    expect(await listStored()).toHaveLength(1);
    expect(run.stdout()).toBe("");
    run.stdin.write(`${b}\n`);
    await run.saw('"record":2');
    run.stdin.end();
    expect(parseLines((await run.finished).stdout)).toHaveLength(2);
  });

  it("is one plant if it is all that has arrived at a signal", async () => {
    const run = startTyping(`${a}\n`, [], { terminals: { stderr: true } });
    await run.saw("1 records");
    run.signal("SIGINT");
    const problem = /created plant 1\n[^\n]*error[^\n]*: stopped by SIGINT\n$/;
    expect(await run.finished).toExit(130, problem, '{"name":"a"}\n');
  });

  it.each([
    ["a rejected token", a, "wrong", 4, 40102],
    ["--fail-fast", '{"id":1}', testToken, 3, 42204],
  ])("is one plant if %s ends the input", async (_what, record, token, exit, error) => {
    const stdin = new PassThrough();
    const env = { PLANTSTORE_URL: currentServer().url, PLANTSTORE_TOKEN: token };
    const run = startCli(["create", "--fail-fast"], { env, stdin });
    stdin.write(`${record}\n`);
    const { exitCode, stdout } = await run.finished;
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: exit, error });
  });
});

describe("an unavailable store", () => {
  const start = async (args: readonly string[], options: CliOptions = {}) => {
    const unavailable = await openScriptedServer(errorResponse(50_301));
    const all = { server: unavailable, stdin: `${a}\n${b}\n`, ...options };
    const { stderr } = await runCli(["create", "--retry", "1", ...args], all);
    const warning = `warning: ${unavailable.url} is unavailable (error 50301), retrying\n`;
    return { parts: stderr.split(warning), stderr };
  };

  it("is a warning before the first retry of a run, in pipes", async () => {
    const { parts } = await start([]);
    expect(parts).toEqual(["", expect.stringContaining("error 50301: message of 50301")]);
    const options = { terminals: { stderr: true }, columns: 400, isPiped: true };
    const { parts: ofTerminal } = await start(["--no-color"], options);
    expect(ofTerminal).toHaveLength(2);
  });

  it("causes no warning with --quiet, and with --verbose, which prints each request", async () => {
    for (const flag of ["--quiet", "--verbose"]) {
      expect((await start([flag])).stderr).not.toContain("retrying");
    }
  });
});
