/** The commands of the topic operations, in their order, on a machine with nothing but the command and two databases. */
import { spawn } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { hasCurl } from "../helpers/installed-programs.ts";
import { killGroup } from "../helpers/kill-group.ts";
import { runSql, startSynchronousStandby, usePostgres } from "../helpers/postgres.ts";
import { findFreePort, type PostgresServer } from "../helpers/postgres-server.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const primary = usePostgres();
let standby: PostgresServer;

beforeAll(async () => {
  standby = await startSynchronousStandby(primary);
}, 60_000);
afterAll(() => standby.remove());

/** Commands that another machine runs, and what they mean here. */
const remoteCommands = new Map<string, () => Promise<unknown>>([
  ["db1.example.org sudo systemctl stop postgresql", () => primary.stop()],
  [
    "db2.example.org sudo -u postgres psql -c 'SELECT pg_promote()'",
    () => runSql(standby.url, "SELECT pg_promote()"),
  ],
]);

/** Runs the commands that `ssh` receives. @returns the URL to post them to */
async function startRemoteShell(): Promise<string> {
  const server = createServer((request, response) => {
    void text(request)
      .then(
        (command) =>
          remoteCommands
            .get(command)?.()
            .then(() => 200) ?? 404,
      )
      .then((status) => response.writeHead(status).end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Creates a directory of programs; the arguments of each are those of a Node script. */
async function createPrograms(home: string, programs: Record<string, string>): Promise<string> {
  const directory = join(home, "bin");
  await mkdir(directory);
  for (const [name, words] of Object.entries(programs)) {
    const path = join(directory, name);
    await writeFile(path, `#!/bin/sh\n${words}\n`);
    await chmod(path, 0o755);
  }
  return directory;
}

const node = `exec '${process.execPath}'`;

it("succeed one after the other, and lose no plant", async () => {
  const manual = await readFile(join(root, "src/manual/operations.md"), "utf8");
  const blocks = [...manual.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = ""]) => block);
  expect(blocks.length).toBeGreaterThanOrEqual(10);

  const home = await createTemporaryDirectory();
  const remoteShell = await startRemoteShell();
  const fetchBody = `fetch(process.argv.at(-1)).then(async (r) => { console.log(await r.text()); process.exit(r.ok ? 0 : 22); })`;
  const postCommand = `fetch("${remoteShell}", { method: "POST", body: process.argv.slice(1).join(" ") }).then((r) => process.exit(r.ok ? 0 : 1))`;
  const programs = await createPrograms(home, {
    plantstore: `${node} '${join(root, "bin/plantstore.js")}' "$@"`,
    // The test of the package packs and installs it.
    npm: "exit 0",
    ssh: `${node} -e '${postCommand}' -- "$@"`,
    ...(!hasCurl() && { curl: `${node} -e '${fetchBody}' -- "$@"` }),
  });
  const [port, secondPort, metricsPort] = await Promise.all([1, 2, 3].map(findFreePort));
  const [first, second] = [primary.url, standby.url].map((url) => new URL(url));
  const script = blocks
    .join("\n")
    .replaceAll("127.0.0.1:7526", `127.0.0.1:${port}`)
    .replaceAll("7527", `${secondPort}`)
    .replaceAll("9526", `${metricsPort}`)
    .replace(
      "plantstore@db1.example.org,db2.example.org/plants",
      `postgres@${first?.host},${second?.host}/postgres`,
    )
    // Where the tests allow a token to be.
    .replaceAll("ci.token", "token");

  const child = spawn("sh", ["-eux", "-c", script], {
    cwd: home,
    env: {
      HOME: home,
      PATH: `${programs}:${process.env["PATH"] ?? ""}`,
      PGPASSWORD: decodeURIComponent(first?.password ?? ""),
      PLANTSTORE_PORT: `${port}`,
      PLANTSTORE_URL: `http://127.0.0.1:${port}`,
    },
    stdio: ["ignore", "pipe", "pipe"],
    // With the servers, a group of its own.
    detached: true,
  });
  onTestFinished(() => killGroup(child));
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);

  expect({ code, output: code === 0 ? "" : stdout + stderr }).toEqual({ code: 0, output: "" });
  // After the restore, after the move and after the failover.
  expect(stdout.match(/^\d+$/gm)).toEqual(["1", "3", "4"]);
  expect(await runSql(standby.url, "SELECT id::int, name FROM plants ORDER BY id")).toEqual([
    { id: 1, name: "fern" },
    { id: 2, name: "monstera" },
    { id: 4, name: "ivy" },
    { id: 5, name: "lily" },
  ]);
}, 300_000);
