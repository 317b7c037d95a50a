/** Pipes of the manual and of help that pass ids keep each digit: 2^53 + 1 is not 2^53, as some parsers of JSON round it. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { deleteCommand } from "../../src/cli/commands/delete.ts";
import { getCommand } from "../../src/cli/commands/read.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { root } from "../helpers/run.ts";
import { createHome, runShell } from "../helpers/shell.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";

const token = "token-of-a-copy";
const [even, odd] = [9007199254740992n, 9007199254740993n];
const neighbour = { id: even, name: "plant", tag: "tree" };
const plants = [neighbour, { id: odd, name: "plant", tag: "pot" }];
/** The export after the deletion of the other plant. */
const left = `{"id":${even},"name":"plant","tag":"tree"}\n`;

it.each(
  [...deleteCommand.examples, ...getCommand.examples].filter((example) =>
    /\| plantstore (?:delete|get)/.test(example),
  ),
)(
  "the example %s passes each id exactly",
  async (example) => {
    const store = await createSqliteStore(plants);
    const env = { ...(await createHome()), PLANTSTORE_STORE: store, PLANTSTORE_TOKEN: token };
    const { code, stderr } = await runShell("bash", ["-euc", example], env);
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`the id ${odd} `),
    });
    const { stdout } = await runShell("sh", ["-c", "plantstore export"], env);
    expect(stdout).toBe(left);
  },
  60_000,
);

it("no page and no example reads an id with jq", async () => {
  const directory = join(root, "src/manual");
  const pages = await Promise.all(
    (await readdir(directory)).map((name) => readFile(join(directory, name), "utf8")),
  );
  const readme = await readFile(join(root, "README.md"), "utf8");
  const texts = [...pages, readme, ...deleteCommand.examples, ...getCommand.examples];
  expect(texts.flatMap((page) => page.match(/jq .*\.id\b.*/g) ?? [])).toEqual([]);
});

it("two stores become equal", async () => {
  await using first = await startServer({ operations: "all" });
  await using second = await startServer({ operations: "all" });
  for (const plant of [...plants, { id: 7n, name: "fern" }]) {
    await first.store.create(plant, "reject");
  }
  for (const plant of [
    { ...neighbour, name: "moss" },
    { id: 8n, name: "moss" },
  ]) {
    await second.store.create(plant, "reject");
  }
  const manual = await readFile(join(root, "src/manual/bulk.md"), "utf8");
  const [, commands = ""] = /## Make two stores equal[^]*?```sh\n([^]*?)```/.exec(manual) ?? [];
  const env = { ...(await createHome()), PLANTSTORE_TOKEN: testToken };
  const urls = { A: first.url, B: second.url };
  const { code } = await runShell("bash", ["-euc", commands], { ...env, ...urls });
  expect(code).toBe(0);
  expect(await second.store.list({ limit: 9 })).toEqual(await first.store.list({ limit: 9 }));
});
