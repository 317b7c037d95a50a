/** Measures kinds of clients: how they write a request, what their proxies add, and how long their connections live. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../helpers/postgres-server.ts";
import { run } from "../helpers/run.ts";
import type { Load, LoadGenerator, LoadResult } from "./load.ts";
import { bare, type Peer, sqlite } from "./peers.ts";
import { isCommand, toProgramPath } from "./programs.ts";
import { type Effort, runServerPart } from "./server-part.ts";
import type { Row } from "./table.ts";

/** Kinds of clients that `raw-client.ts` imitates. */
export type ClientKind = "one write" | "two writes" | "Connection: close" | "proxy headers";

const kinds: readonly ClientKind[] = [
  "one write",
  "two writes",
  "Connection: close",
  "proxy headers",
];

/** Debian installs it where the PATH of ordinary users does not lead. */
const nginx = "/usr/sbin/nginx";

/**
 * Runs the part: each kind of client, then Python's http.client and nginx where they are installed.
 *
 * @param others peers in addition to `bare` and this plantstore
 * @param generator sends the load through nginx
 * @returns the rows of one kind after the other, because all take minutes
 */
export async function* runClientsPart(
  others: readonly Peer[],
  generator: LoadGenerator,
  effort: Effort,
): AsyncGenerator<Row[], void, undefined> {
  const trial = { connections: 64, ids: "sequential", kind: "create" } as const;
  const direct = [bare, sqlite, ...others] as const;
  for (const kind of kinds) {
    const client = { name: kind, run: (load: Load) => runRawClient(load, kind) };
    yield runServerPart({ title: kind, trial, peers: direct }, client, effort);
  }
  if (await isCommand("python3", ["--version"])) {
    const part = { title: "http.client of Python", trial, peers: direct };
    yield runServerPart(part, pythonClient, effort);
  }
  if (await isCommand(nginx, ["-v"])) {
    const peers = [behindNginx(bare), behindNginx(sqlite), ...others.map(behindNginx)] as const;
    yield runServerPart({ title: "nginx", trial, peers }, generator, effort);
  }
}

async function runRawClient(load: Load, client: ClientKind): Promise<LoadResult> {
  const args = ["--import=tsx", toProgramPath("raw-client.ts")];
  const { stdout } = await run(process.execPath, [...args, JSON.stringify({ ...load, client })]);
  return JSON.parse(stdout) as LoadResult;
}

const pythonClient: LoadGenerator = {
  name: "Python",
  async run(load) {
    const { stdout } = await run("python3", [
      toProgramPath("python-client.py"),
      JSON.stringify(load),
    ]);
    return JSON.parse(stdout) as LoadResult;
  },
};

/** Puts nginx in front of each start of a peer. The CPU time is that of the peer alone. */
function behindNginx(peer: Peer): Peer {
  return {
    ...peer,
    async start(directory, template) {
      const server = await peer.start(directory, template);
      const port = await findFreePort();
      const file = join(directory, "nginx.conf");
      const configuration = (await readFile(toProgramPath("nginx.conf"), "utf8"))
        .replaceAll("DIRECTORY", directory)
        .replaceAll("PORT", `${port}`)
        .replaceAll("SERVER", new URL(server.url).host);
      await writeFile(file, configuration);
      // Its workers cannot use the directory as another user.
      const user = process.geteuid?.() === 0 ? ["-g", "user root;"] : [];
      const proxy = spawn(nginx, ["-p", directory, "-c", file, "-e", "stderr", ...user], {
        stdio: ["ignore", "ignore", "inherit"],
      });
      await once(proxy, "spawn");
      const url = `http://127.0.0.1:${port}`;
      const isReady = (): Promise<boolean> =>
        fetch(url).then(
          () => true,
          () => false,
        );
      while (!(await isReady())) {
        const end = proxy.exitCode ?? proxy.signalCode;
        if (end !== null) {
          await server.stop();
          throw new Error(`nginx ended with ${end}`);
        }
        await sleep(20);
      }
      return {
        ...server,
        url,
        async stop() {
          proxy.kill("SIGTERM");
          await once(proxy, "close");
          await server.stop();
        },
      };
    },
  };
}
