/** The workflows on GitHub. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";

const run = promisify(execFile);
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
    const respond = async (request: IncomingMessage, response: ServerResponse) => {
      const { queries } = (await json(request)) as { queries: { package: { purl: string } }[] };
      const results = queries.map(({ package: { purl } }) =>
        isVulnerable(purl) ? { vulns: [{ id: "GHSA-1" }, { id: "GHSA-2" }] } : {},
      );
      const isKnown = request.method === "POST" && request.url === "/v1/querybatch";
      response.writeHead(isKnown ? 200 : 404).end(JSON.stringify({ results }));
    };
    const server = createServer((request, response) => void respond(request, response));
    server.listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const env = { ...process.env, OSV_URL: `http://127.0.0.1:${port}` };
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
