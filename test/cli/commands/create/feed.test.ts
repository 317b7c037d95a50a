/** `plantstore create` with entries of a feed: deletions are skipped, and result lines say where to resume. */
import { describe, expect, it } from "vitest";
import { errorResponse, json, openScriptedServer } from "../../../client/scripted-server.ts";
import { parseLines, runCli } from "../../../helpers/run-cli.ts";
import { startServer } from "../../../helpers/plant-server.ts";

const entry = (id: number, cursor: string, name = "fern"): string =>
  JSON.stringify({ cursor, id, name });
const deletion = (id: number, cursor: string): string =>
  JSON.stringify({ cursor, id, deleted: true });

async function create(lines: readonly string[], ...args: readonly string[]) {
  await using server = await startServer();
  return await createAt(server, lines, ...args);
}

async function createAt(
  server: { readonly url: string },
  lines: readonly string[],
  ...args: readonly string[]
) {
  const stdin = lines.map((line) => `${line}\n`).join("");
  const { exitCode, stdout, stderr } = await runCli(["create", "-", ...args], { server, stdin });
  const results = parseLines(stdout) as readonly Record<string, unknown>[];
  const outcomes = results.map(({ id, status, cursor }) => [id, status, cursor]);
  return { exitCode, stdout, stderr, results, outcomes };
}

describe("the entry of a deleted plant", () => {
  it("is skipped, and changes neither the exit code nor stderr", async () => {
    const result = await create([entry(1, "a-1"), deletion(9_007_199_254_740_991, "a-2")]);
    expect(result).toPrint(
      [
        '{"record":1,"line":1,"id":1,"status":"created","cursor":"a-1","plant":{"name":"fern"}}\n',
        '{"record":2,"line":2,"id":9007199254740991,"status":"skipped","cursor":"a-2"}\n',
      ].join(""),
    );
  });

  it.each([["--many"], ["--strict"], ["--fail-fast"], ["--dry-run"], ["--json"]])(
    "is skipped with %s, also alone",
    async (flag) => {
      const { exitCode, outcomes, stderr } = await create([deletion(1, "a-1")], flag);
      expect(outcomes).toEqual([[1, "skipped", "a-1"]]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    },
  );

  it("does not stop a run with --fail-fast", async () => {
    const lines = [deletion(1, "a-1"), entry(2, "a-2"), deletion(3, "a-3"), entry(4, "a-4")];
    for (const flags of [["--fail-fast"], ["--fail-fast", "--dry-run"]]) {
      const { outcomes } = await create(lines, ...flags);
      expect(outcomes.map(([id]) => id)).toEqual([1, 2, 3, 4]);
    }
  });

  it("is counted in the summary", async () => {
    const result = await create([deletion(1, "a-1"), entry(2, "a-2"), '{"id":3}']);
    expect(result.stderr).toMatch(
      /^created 1, unchanged 0, replaced 0, rejected 1, failed 0, skipped 1 in /,
    );
    expect(result.exitCode).toBe(8);
  });

  it("is not printed with --quiet", async () => {
    expect(await create([deletion(1, "a-1")], "--quiet")).toPrint("");
  });

  it.each([
    '{"id":1,"deleted":false}',
    '{"id":1,"deleted":"true"}',
    '{"deleted":true}',
    '{"id":"1","deleted":true}',
    '{"id":1,"id":1,"deleted":true}',
    '{"id":1,"deleted":true,"name":7}',
    '{"id":1,"deleted":true,"tag":"pot"}',
  ])("is not %s", async (line) => {
    const { exitCode, results } = await create([line], "--many");
    expect(results).toMatchObject([{ status: "rejected" }]);
    expect(exitCode).toBe(8);
  });

  it("is a plant if it has a name, and the member is reported as unknown", async () => {
    const { outcomes, stderr } = await create(['{"id":1,"name":"fern","deleted":true}'], "--many");
    expect(outcomes).toEqual([[1, "created", undefined]]);
    expect(stderr).toContain('unknown member "deleted"');
  });
});

describe("the cursor of a result line", () => {
  it("is missing from the first record on that stopped a run with --fail-fast", async () => {
    const lines = [entry(1, "a-1"), entry(1, "a-2", "moss"), entry(3, "a-3")];
    const { outcomes } = await create(lines, "--fail-fast", "--concurrency", "1");
    expect(outcomes).toEqual([
      [1, "created", "a-1"],
      [1, "rejected", undefined],
    ]);
  });

  it("is missing from a failed record on", async () => {
    const scripted = await openScriptedServer((response) => {
      const isUnavailable = scripted.requests.at(-1)?.body.includes('"id":2,') === true;
      (isUnavailable ? errorResponse(50_301) : json(200, '{"name":"fern"}'))(response);
    });
    const lines = [entry(1, "a-1"), entry(2, "a-2"), entry(3, "a-3")];
    const { outcomes } = await createAt(scripted, lines, "--retry", "0", "--concurrency", "1");
    expect(outcomes).toEqual([
      [1, "created", "a-1"],
      [2, "failed", undefined],
      [3, "created", undefined],
    ]);
  });

  it("is there after a rejected record that does not stop the run", async () => {
    const lines = [entry(1, "a-1"), entry(1, "a-2", "moss"), entry(3, "a-3")];
    const { outcomes } = await create(lines);
    expect(outcomes).toEqual([
      [1, "created", "a-1"],
      [1, "rejected", "a-2"],
      [3, "created", "a-3"],
    ]);
  });

  it("is escaped as JSON, and only a string counts", async () => {
    const lines = ['{"id":1,"name":"a","cursor":"\\u0000\\""}', '{"id":2,"name":"b","cursor":7}'];
    const { outcomes, stderr } = await create(lines);
    expect(outcomes).toEqual([
      [1, "created", '\0"'],
      [2, "created", undefined],
    ]);
    expect(stderr).toBe("");
  });
});
