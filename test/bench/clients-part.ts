/** Measures kinds of clients: how they write a request, what their proxies add, and how long their connections live. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { findFreePort } from "../helpers/postgres-server.ts";
import type { Load, LoadGenerator, LoadResult } from "./load.ts";
import { bare, type Peer, sqlite } from "./peers.ts";
import { isCommand, toProgramPath } from "./programs.ts";
import { type Effort, runServerPart } from "./server-part.ts";
import type { Row } from "./table.ts";

const run = promisify(execFile);

/** What differs between the clients that `raw-client.ts` imitates. */
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
 */
export async function runClientsPart(
  others: readonly Peer[],
  generator: LoadGenerator,
  effort: Effort,
): Promise<Row[]> {
  const trial = { connections: 64, ids: "sequential", kind: "create" } as const;
  const direct = [bare, sqlite, ...others] as const;
  const rows: Row[] = [];
  for (const kind of kinds) {
    const client = { name: kind, run: (load: Load) => runRawClient(load, kind) };
    rows.push(...(await runServerPart({ title: kind, trial, peers: direct }, client, effort)));
  }
  if (await isCommand("python3", ["--version"])) {
    const part = { title: "http.client of Python", trial, peers: direct };
    rows.push(...(await runServerPart(part, pythonClient, effort)));
  }
  if (await isCommand(nginx, ["-v"])) {
    const peers = [behindNginx(bare), behindNginx(sqlite), ...others.map(behindNginx)] as const;
    rows.push(...(await runServerPart({ title: "nginx", trial, peers }, generator, effort)));
  }
  return rows;
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
      await writeFile(file, toNginxConfiguration(directory, port, new URL(server.url).host));
      const proxy = spawn(nginx, ["-p", directory, "-c", file, "-e", "stderr"]);
      await once(proxy, "spawn");
      const url = `http://127.0.0.1:${port}`;
      while (
        !(await fetch(url).then(
          () => true,
          () => false,
        ))
      )
        await sleep(20);
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

function toNginxConfiguration(directory: string, port: number, host: string): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((each) => `${each}_temp_path ${directory}/${each};`)
    .join(" ");
  return `${process.geteuid?.() === 0 ? "user root; " : ""}daemon off; pid ${directory}/pid; worker_processes 1;
events {}
http {
  access_log off; ${paths}
  upstream plants { server ${host}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 1000000;
    location / {
      proxy_pass http://plants; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header X-Real-IP $remote_addr; proxy_set_header X-Forwarded-For $remote_addr;
    }
  }
}
`;
}
