/** Pipes of the manual and of help that pass ids keep each digit: 2^53 + 1 is not 2^53, as some parsers of JSON round it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { deleteCommand } from "../../src/cli/commands/delete.ts";
import { getCommand } from "../../src/cli/commands/read.ts";
import { openStore } from "../../src/store/open-store.ts";
import { startBinary } from "../helpers/run-binary.ts";
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

/** Starts a command line of the manual in a group of processes, which ends with the test. */
function startShell(
  commands: string,
  { home, path, store }: { home: string; path: string; store: string },
) {
  const child = spawn("bash", ["-euc", commands], {
    cwd: home,
    env: { HOME: home, PATH: path, PLANTSTORE_STORE: store, PLANTSTORE_TOKEN: token },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const stop = (): void => {
    try {
      process.kill(-Number(child.pid), "SIGKILL");
    } catch {
      // All of its processes have ended.
    }
  };
  onTestFinished(stop);
  const finished = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]).then(
    ([stdout, stderr, [code]]) => ({ code: code as unknown, stdout, stderr }),
  );
  return { finished, stop };
}

it("the recipe of the topic feed deletes only the plants that the first store does not have", async () => {
  const manual = await readFile(join(root, "src/manual/feed.md"), "utf8");
  const [follow = "", recipe = ""] = [...manual.matchAll(/^```sh\n([^]*?)^```$/gm)].map(
    ([, commands = ""]) => commands,
  );
  expect(recipe).toContain("plantstore delete");

  const { home, path } = await createHome();
  const [first, copy] = [await createSqliteStore(plants), await createSqliteStore(plants)];
  const serverOptions = { home, env: { PLANTSTORE_TOKEN: token } };
  const server = startBinary(["serve", "--port", "0", "--store", copy], serverOptions);
  const url = await server.firstLine;
  const run = (commands: string, store: string) =>
    startShell(commands, { home, path, store }).finished;
  /** Deletes plants in the first store, then copies its feed until the result of the last deletion. */
  const deleteAndCopy = async (id: bigint) => {
    expect(await run(`plantstore delete ${id} --yes`, first)).toMatchObject({ code: 0 });
    const pipe = startShell(
      // Without cursors, every entry is copied again.
      `jq() { :; }\n${follow}`
        .replace("sqlite:plants.db", first)
        .replace("https://copy.example.org", url),
      { home, path, store: copy },
    );
    const isCopied = async () => {
      const results = await readFile(join(home, "copied.ndjson"), "utf8").catch(() => "");
      return results.includes(`"id":${id},"status":"skipped"`);
    };
    await vi.waitUntil(isCopied, { timeout: 60_000, interval: 50 });
    pipe.stop();
  };

  await deleteAndCopy(odd);
  expect(await run(recipe, copy)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`the id ${odd} `),
  });
  expect((await run("plantstore export", copy)).stdout).toBe(left);

  await (await openStore(first)).create({ id: odd, name: "plant", tag: "pot" }, "reject");
  await deleteAndCopy(even);
  expect(await run(recipe, copy)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`the id ${even} `),
  });
  expect((await run("plantstore export", copy)).stdout).toBe(
    `{"id":${odd},"name":"plant","tag":"pot"}\n`,
  );
}, 120_000);

it.each(
  [...deleteCommand.examples, ...getCommand.examples].filter((example) =>
    /\| plantstore (?:delete|get)/.test(example),
  ),
)(
  "the example %s passes each id exactly",
  async (example) => {
    const { home, path } = await createHome();
    const store = await createSqliteStore(plants);
    const { code, stderr } = await startShell(example, { home, path, store }).finished;
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`the id ${odd} `),
    });
    const { stdout } = await startShell("plantstore export", { home, path, store }).finished;
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
