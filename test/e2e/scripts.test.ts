/** The scripts of the topics bulk and test do what their sentences say. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listAll } from "../helpers/all-plants.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { root } from "../helpers/run.ts";
import { createHome, runShell } from "../helpers/shell.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

async function readScripts(topic: string): Promise<string[]> {
  const page = await readFile(join(root, `src/manual/${topic}.md`), "utf8");
  return Array.from(page.matchAll(/```sh\n([^]*?)```/g), ([, script = ""]) => script);
}

const [reasons = "", synchronisation = ""] = await readScripts("bulk");
const [job = ""] = await readScripts("test");

async function runScript(script: string, added: Readonly<Record<string, string>>, table = "") {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, "plants.csv"), table);
  const env = { ...(await createHome()), PLANTSTORE_TOKEN: testToken, ...added };
  const text = `set -euo pipefail; cd ${directory}\n${script}`;
  return runShell("bash", ["-c", text], env);
}

it("the one for --rejects prints the reasons of rejected records", async () => {
  await using server = await startServer();
  const env = { PLANTSTORE_URL: server.url };
  const { code, stdout } = await runScript(reasons, env, "id,name\n1,a\n2\n");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: "line 3: column name is missing: add a string\n",
  });
  expect((await runScript(reasons, env, "id,name\n1,a\n")).stdout).toBe("");
}, 60_000);

it("the one of a CI job has a store of its own", async () => {
  const { code, stdout } = await runScript(job, {}, "id,name\n1,a\n2,b\n");
  expect({ code, last: stdout.trimEnd().split("\n").at(-1) }).toEqual({ code: 0, last: "1" });
}, 60_000);

it("the synchronisation makes one store equal to another, for every id", async () => {
  await using first = await startServer({ operations: "all" });
  await using second = await startServer({ operations: "all" });
  const odd = { id: 9007199254740993n, name: "odd" };
  for (const plant of [odd, { id: 1n, name: "same" }, { id: 2n, name: "new", tag: "pot" }]) {
    await first.store.create(plant, "reject");
  }
  const even = { id: 9007199254740992n, name: "odd" };
  for (const plant of [even, { id: 1n, name: "same" }, { id: 2n, name: "old" }]) {
    await second.store.create(plant, "reject");
  }
  for (let round = 1; round <= 2; round++) {
    const { code, stderr } = await runScript(synchronisation, { A: first.url, B: second.url });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(await listAll(second.store)).toEqual(await listAll(first.store));
  }
}, 60_000);
