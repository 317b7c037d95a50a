/** The commands of the topic run, in their order, on a machine with nothing but the command and two databases. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openScriptedServer } from "../client/scripted-server.ts";
import { hasCurl } from "../helpers/installed-programs.ts";
import { runSql, usePostgres, useSynchronousStandby } from "../helpers/postgres.ts";
import { findFreePort } from "../helpers/postgres-server.ts";
import { root } from "../helpers/run.ts";
import { createHome, runShell } from "../helpers/shell.ts";

const primary = usePostgres();
const standby = useSynchronousStandby(primary);

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
  const { url } = await openScriptedServer((response, { body }) => {
    const run = remoteCommands.get(body);
    if (run === undefined) response.writeHead(404).end();
    else void run().then(() => response.end());
  });
  return url;
}

const node = `exec '${process.execPath}'`;

it("succeed one after the other, and lose no plant", async () => {
  const manual = await readFile(join(root, "src/manual/run.md"), "utf8");
  const [, rest = ""] = manual.split("\n## Start it\n");
  const [shell = ""] = rest.split("\n## systemd\n");
  const blocks = [...shell.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = ""]) => block);
  expect(blocks.length).toBeGreaterThanOrEqual(10);

  const remoteShell = await startRemoteShell();
  const fetchBody = `fetch(process.argv.at(-1)).then(async (r) => { console.log(await r.text()); process.exit(r.ok ? 0 : 22); })`;
  const postCommand = `fetch("${remoteShell}", { method: "POST", body: process.argv.slice(1).join(" ") }).then((r) => process.exit(r.ok ? 0 : 1))`;
  const home = await createHome({
    // The test of the package packs and installs it.
    npm: "exit 0",
    ssh: `${node} -e '${postCommand}' -- "$@"`,
    ...(!hasCurl() && { curl: `${node} -e '${fetchBody}' -- "$@"` }),
  });
  const [port, secondPort, metricsPort, secondMetricsPort] = await Promise.all(
    [1, 2, 3, 4].map(findFreePort),
  );
  const [first, second] = [primary.url, standby.url].map((url) => new URL(url));
  const script = blocks
    .join("\n")
    .replaceAll("127.0.0.1:7526", `127.0.0.1:${port}`)
    .replaceAll("7527", `${secondPort}`)
    .replaceAll("9526", `${metricsPort}`)
    .replaceAll("9527", `${secondMetricsPort}`)
    .replace(
      "plantstore@db1.example.org,db2.example.org/plants",
      `postgres@${first?.host},${second?.host}/postgres`,
    )
    // Where the tests allow a token to be.
    .replaceAll("ci.token", "token");

  const { code, stdout, stderr } = await runShell("sh", ["-eux", "-c", script], {
    ...home,
    PGPASSWORD: decodeURIComponent(first?.password ?? ""),
    PLANTSTORE_PORT: `${port}`,
  });

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
