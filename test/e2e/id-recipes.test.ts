/** Pipes of the manual and of help that pass ids keep each digit: 2^53 + 1 is not 2^53, as some parsers of JSON round it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { deleteCommand } from "../../src/cli/commands/delete.ts";
import { getCommand } from "../../src/cli/commands/read.ts";
import { killGroup } from "../helpers/kill-group.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const token = "token-of-a-copy";
const [even, odd] = [9007199254740992n, 9007199254740993n];
const neighbour = { id: even, name: "plant", tag: "tree" };
const plants = [neighbour, { id: odd, name: "plant", tag: "pot" }];
/** The export after the deletion of the other plant. */
const left = `{"id":${even},"name":"plant","tag":"tree"}\n`;

/** Creates a home directory with the command in its PATH. */
async function createHome() {
  const home = await createTemporaryDirectory();
  const programs = join(home, "bin");
  await mkdir(programs);
  const program = join(programs, "plantstore");
  const words = `exec '${process.execPath}' '${join(root, "bin/plantstore.js")}' "$@"`;
  await writeFile(program, `#!/bin/sh\n${words}\n`);
  await chmod(program, 0o755);
  return { home, path: `${programs}:${process.env["PATH"] ?? ""}` };
}

/** Runs a command line of the manual in a group of processes, which ends with the test. */
async function runShell(
  commands: string,
  { home, path, store }: { home: string; path: string; store: string },
) {
  const child = spawn("bash", ["-euc", commands], {
    cwd: home,
    env: { HOME: home, PATH: path, PLANTSTORE_STORE: store, PLANTSTORE_TOKEN: token },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  onTestFinished(() => killGroup(child));
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as unknown, stdout, stderr };
}

it.each(
  [...deleteCommand.examples, ...getCommand.examples].filter((example) =>
    /\| plantstore (?:delete|get)/.test(example),
  ),
)(
  "the example %s passes each id exactly",
  async (example) => {
    const { home, path } = await createHome();
    const store = await createSqliteStore(plants);
    const { code, stderr } = await runShell(example, { home, path, store });
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`the id ${odd} `),
    });
    const { stdout } = await runShell("plantstore export", { home, path, store });
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
