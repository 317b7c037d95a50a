/** The workflows on GitHub. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { openScriptedServer } from "../client/scripted-server.ts";
import { run } from "../helpers/run.ts";

const root = new URL("../../", import.meta.url);

/** The part of a workflow that the tests read. */
interface Workflow {
  readonly jobs: Readonly<
    Record<string, { "timeout-minutes"?: number; steps?: readonly { run?: string }[] }>
  >;
}

async function readWorkflow(name: string): Promise<Workflow> {
  return parse(await readFile(new URL(`.github/workflows/${name}`, root), "utf8")) as Workflow;
}

/** Lists the commands of one job of a workflow. */
async function listCommands(name: string, job: string): Promise<readonly string[]> {
  const { jobs } = await readWorkflow(name);
  return jobs[job]?.steps?.flatMap((step) => step.run ?? []) ?? [];
}

it("have as much time for the tests as .ci/run", async () => {
  const { jobs } = await readWorkflow("test.yml");
  const script = await readFile(new URL(".ci/run", root), "utf8");
  const [, minutes] = /^budget_minutes=(\d+)$/m.exec(script) ?? [];
  const limits = Object.values(jobs).map((job) => job["timeout-minutes"]);
  expect(new Set(limits)).toEqual(new Set([Number(minutes)]));
});

it("publish the tarball that was packed and tested, and then release it", async () => {
  const commands = await listCommands("publish.yml", "publish");
  const find = (text: string): number => commands.findIndex((command) => command.includes(text));
  const places = ["npm run pack", "PLANTSTORE_TARBALL=", "npm publish", "gh release"].map(find);
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

describe("the check for vulnerabilities", () => {
  /** Runs the check with a database that has a vulnerability of each package that the function accepts. */
  async function check(isVulnerable: (purl: string) => boolean) {
    const { url: OSV_URL } = await openScriptedServer((response, { method, path, body }) => {
      const { queries } = JSON.parse(body) as { queries: { package: { purl: string } }[] };
      const results = queries.map(({ package: { purl } }) =>
        isVulnerable(purl) ? { vulns: [{ id: "GHSA-1" }, { id: "GHSA-2" }] } : {},
      );
      const isKnown = method === "POST" && path === "/v1/querybatch";
      response.writeHead(isKnown ? 200 : 404).end(JSON.stringify({ results }));
    });
    const env = { ...process.env, OSV_URL };
    const args = ["--import", "tsx", ".build/check-vulnerabilities.ts"];
    return run(process.execPath, args, { cwd: fileURLToPath(root), env });
  }

  it("succeeds if no bundled package has one", async () => {
    const { stdout, stderr } = await check(() => false);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^0 known vulnerabilities in [1-9]\d* packages\n$/);
  });

  it("names each one and fails", async () => {
    const failed = check((purl) => purl.startsWith("pkg:npm/undici@"));
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^pkg:npm\/undici@\S+: https:\/\/osv\.dev\/GHSA-1\npkg:npm\/undici@\S+: https:\/\/osv\.dev\/GHSA-2\n$/,
      ) as string,
      stderr: expect.stringMatching(/^2 known vulnerabilities in/) as string,
    });
  });

  it("runs on a schedule", async () => {
    expect(await listCommands("vulnerabilities.yml", "vulnerabilities")).toContain(
      "npm run check:vulnerabilities",
    );
  });
});
