/** A `create` of many plants that ends early says how to resume it. */
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import {
  errorResponse,
  findClosedUrl,
  json,
  openRawServer,
  openScriptedServer,
} from "../../../client/scripted-server.ts";
import { type CliOptions, containing, runCli, startCli } from "../../../helpers/run-cli.ts";
import {
  a,
  createInput,
  lineOfA,
  readRejects,
  startTyping,
  summary,
  rejectsPath,
  currentServer,
  useServer,
} from "./bulk.ts";

useServer();

/** The end of the messages of a run that can be resumed. @param command after `plantstore create` */
function resumeWith(command: string, how = "Resume"): string {
  const input = command.endsWith(" -") ? " with the same input" : "";
  return `${how}${input}:\n  plantstore create ${command}\n`;
}

/** Matches the messages of a run that ended early after some plants were created. */
function endEarly(created: number, problem: string): RegExp {
  const text = problem.replaceAll(/[^\w\s]/g, String.raw`\$&`);
  const counts = summary(created, 0, 0, 0, 0, 0).source;
  return new RegExp(`${counts}error: ${text}$`);
}

describe("a run that ends early", () => {
  const line = (id: number): string => `{"id":${id},"name":"a"}\n`;

  it("with --fail-fast sends nothing after the rejected record, which the hint names", async () => {
    const run = startTyping(`${line(1)}{}\n${line(3)}`, ["--fail-fast", "--concurrency", "1"]);
    const result = await run.finished;
    expect(result).toExit(8, summary(1, 0, 0, 1, 0, 0), [
      { line: 1 },
      { line: 2, status: "rejected" },
    ]);
    expect(result.stderr).toContain(
      `stopped at the first rejected or failed record (--fail-fast)\n${resumeWith("--from-line 2 --fail-fast --concurrency 1 -", "Correct line 2, then resume")}`,
    );
    expect(await currentServer().store.get(3n)).toBeUndefined();
    expect(run.stdin.destroyed).toBe(true);
  });

  it("with --fail-fast and --rejects resumes after the record, which the file has", async () => {
    const input = `${line(1)}{}\n${line(3)}`;
    const flags = ["--fail-fast", "--concurrency", "1", "--rejects", rejectsPath()];
    const { stderr } = await createInput(input, ...flags);
    expect(stderr).toContain(
      `Resume with the same input, and add to ${rejectsPath()}:\n  plantstore create --from-line 3 --fail-fast --rejects ${rejectsPath()} --concurrency 1 -\n`,
    );
    expect(await readRejects()).toBe("{}\n");
  });

  it.each([
    ["lines", [], `${line(1)}{}`],
    ["a table", ["--csv"], "id,name\n,a"],
  ])("in %s without a last line break names the last record's line", async (_what, args, input) => {
    const { stderr } = await createInput(input, "--fail-fast", ...args);
    expect(stderr).toContain(" --from-line 2 ");
  });

  it("by an invalid array exits with 2 and advises to correct it", async () => {
    const problem = `invalid JSON: expected "," or "]" but found "{" (standard input:4:1)\n${resumeWith("--from-line 4 -", "Correct the input, then resume")}`;
    const result = await createInput(`[${line(1)},${line(2)}\n${line(3)}]`);
    expect(result).toExit(2, endEarly(2, problem), [{ line: 1 }, { line: 2 }]);
  });

  it("by a truncated record exits with 2 and names the place", async () => {
    const problem =
      "error: invalid JSON: expected a closing quotation mark but found the end (standard input:3:12)\nCorrect the input";
    expect(await createInput(`\n[${a},\n{"id":2,"na`)).toExit(2, containing(problem), [
      { line: 2 },
    ]);
  });

  it("by an input that fails after a single record sends the record", async () => {
    const run = startTyping(`${a}\n`, [], { terminals: { stderr: true } });
    await run.saw("1 records");
    run.stdin.destroy(new Error("the pipe broke"));
    const problem = containing("the pipe broke\nResume with the same input:\n");
    expect(await run.finished).toExit(2, problem, lineOfA);
  });

  it("can be resumed with --from-line, which skips records before that line", async () => {
    expect(await createInput(`${line(1)}${line(2)}${line(3)}`, "--from-line", "2")).toPrint([
      { record: 1, line: 2 },
      { record: 2, line: 3 },
    ]);
    expect(await currentServer().store.get(1n)).toBeUndefined();
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "by %s waits for the plants in flight, prints them, and exits with %i",
    async (signal, code) => {
      const run = startTyping(line(1), ["--json"]);
      await run.saw('"line":1');
      run.stdin.write(`${line(2)}${line(3)}`);
      await run.saw('"line":3');
      run.signal(signal);
      const problem = `stopped by ${signal}\n${resumeWith("--from-line 4 --json -")}`;
      const messages = endEarly(3, problem);
      expect(await run.finished).toExit(code, messages, [{ line: 1 }, { line: 2 }, { line: 3 }]);
      expect(run.stdin.destroyed).toBe(true);
    },
  );

  describe("after a failed record", () => {
    /** Ends a run with Ctrl-C after the store was unavailable for the second of three records only. */
    async function endAfterFailure(args: readonly string[], options: CliOptions = {}) {
      const scripted = await openScriptedServer((response) => {
        const isUnavailable = scripted.requests.at(-1)?.body.includes('"id":2,') === true;
        (isUnavailable ? errorResponse(50_301) : json(200, '{"name":"a"}'))(response);
      });
      const flags = ["--json", "--retry", "1", ...args];
      const run = startTyping(line(1) + line(2) + line(3), flags, { ...options, server: scripted });
      await run.saw('"line":3');
      run.signal("SIGINT");
      return run.finished;
    }
    const results = [{ line: 1 }, { line: 2, status: "failed" }, { line: 3 }];

    it("resumes with this record", async () => {
      const problem =
        /failed 1,\s+unfinished 0\s+in [^]*SIGINT\nResume with the same input:\n {2}plantstore create --from-line 2 --json --retry 1 -\n$/;
      // The command to copy is one line, whatever the width.
      const narrow = { terminals: { stderr: true }, columns: 40 };
      expect(await endAfterFailure([], narrow)).toExit(130, problem, results);
    });

    it("resumes after all records if --rejects has this record, and names the file", async () => {
      const problem = `, and add to ${rejectsPath()}:\n  plantstore create --from-line 4 --json --rejects ${rejectsPath()} --retry 1 -\n`;
      const result = await endAfterFailure(["--rejects", rejectsPath()]);
      expect(result).toExit(130, containing(problem), results);
      expect(await readRejects()).toBe(line(2));
    });
  });

  it("by Ctrl-C on a terminal shows that it waits for plants in flight", async () => {
    const sockets: Socket[] = [];
    const url = await openRawServer((socket) => void sockets.push(socket));
    const options = { stdin: line(1) + line(2), terminals: { stderr: true } };
    const run = startCli(["create", "-"], { server: { url }, ...options });
    await run.saw("records");
    run.signal("SIGINT");
    await run.saw("waiting for plants in flight; Ctrl-C again stops at once");
    for (const socket of sockets) socket.destroy();
    expect((await run.finished).exitCode).toBe(130);
  });

  it("by Ctrl-C while the store is unavailable reports no record, and advises to start again", async () => {
    const unavailable = await openScriptedServer(errorResponse(50_301));
    const stdin = Array.from({ length: 100 }, (_, id) => line(id)).join("");
    const options = { server: unavailable, stdin, terminals: { stderr: true }, columns: 1000 };
    const run = startCli(["create", "-", "--retry", "100"], options);
    await run.saw("retrying");
    run.signal("SIGINT");
    const problem =
      /failed 0, unfinished 100[^]*: stopped by SIGINT\nRepeat the run with the same input:\n {2}plantstore create --retry 100 -\n$/;
    expect(await run.finished).toExit(130, problem);
  });

  it.each<[end: string, count: number, open: () => Promise<string>, code: number, problem: RegExp]>(
    [
      [
        "a rejected token, whose source it names,",
        1000,
        () => Promise.resolve(currentServer().url),
        4,
        /^created 0, .*unfinished \d+ in .*\nerror 40102: .*the token came from PLANTSTORE_TOKEN; request [\w-]+\)\nReplace the token, then repeat the run with the same input:\n {2}plantstore create --retry 1 -\n$/,
      ],
      [
        "a missing server",
        2,
        findClosedUrl,
        6,
        /unfinished 2 in .*\nerror: .*after 2 attempts.*\nStart a server, .*\n {2}plantstore serve .*\nRepeat the run with the same input:\n {2}plantstore create --retry 1 -\n$/,
      ],
      [
        "a lost connection",
        2,
        () => openRawServer((socket) => void socket.end()),
        6,
        /^warning: [^\n]+, retrying\ncreated 0, .*\nerror: lost the connection to [^;]+: the plant may or may not exist\nRepeat the run with the same input:\n {2}plantstore create --retry 1 -\n$/,
      ],
    ],
  )("by %s advises once to repeat the command", async (_end, count, open, code, problem) => {
    const stdin = Array.from({ length: count }, (_, id) => line(id)).join("");
    const options = { server: { url: await open() }, env: { PLANTSTORE_TOKEN: "wrong" }, stdin };
    expect(await runCli(["create", "-", "--retry", "1"], options)).toExit(code, problem);
  });

  it("by a closed output exits with 141, and names the line to resume", async () => {
    const run = startTyping(line(1), ["--json"]);
    await run.saw('"line":1');
    run.closeStdout();
    run.stdin.write(line(2));
    const problem = `the output was closed\n${resumeWith("--from-line 2 --json -")}`;
    expect(await run.finished).toExit(141, endEarly(2, problem), containing('"line":1'));
    expect(run.stdin.destroyed).toBe(true);
  });

  it("by an input that fails exits with 2 after the results of earlier records", async () => {
    const run = startTyping(line(1), ["--json"]);
    await run.saw('"line":1');
    run.stdin.destroy(new Error("the pipe broke"));
    const problem = `standard input cannot be read: the pipe broke\n${resumeWith("--from-line 2 --json -")}`;
    expect(await run.finished).toExit(2, endEarly(1, problem), [{ line: 1 }]);
  });
});
