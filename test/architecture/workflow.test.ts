/** The workflows on GitHub. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { parse } from "yaml";

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

it("have as much time for the tests as .ci/run", async () => {
  const { jobs } = await readWorkflow("test.yml");
  const script = await readFile(new URL(".ci/run", root), "utf8");
  const [, minutes] = /^budget_minutes=(\d+)$/m.exec(script) ?? [];
  const limits = Object.values(jobs).map((job) => job["timeout-minutes"]);
  expect(new Set(limits)).toEqual(new Set([Number(minutes)]));
});

it("publish the tarball that was packed, tested and attached to the release", async () => {
  const { jobs } = await readWorkflow("publish.yml");
  const commands = jobs["publish"]?.steps?.flatMap(({ run }) => run ?? []) ?? [];
  const find = (text: string): number => commands.findIndex((command) => command.includes(text));
  const places = ["npm run pack", "PLANTSTORE_TARBALL=", "gh release create", "npm publish"].map(
    find,
  );
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(commands[find("npm publish")]).toMatch(/plantstore-\*\.tgz/);
});
