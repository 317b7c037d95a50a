/** Starts proxies with the configurations of the manual. */
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { findProgram } from "./installed-programs.ts";
import { findFreePort } from "./postgres-server.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

/** A proxy with a configuration in the manual. */
export type ProxyName = "nginx" | "haproxy" | "caddy";

/**
 * Starts a proxy in front of two servers until the test ends.
 *
 * @param ports those of the servers
 * @param choose returns the configuration out of the blocks of code below the heading of the proxy
 * @returns its URL
 */
export async function startProxy(
  name: ProxyName,
  ports: readonly [number, number],
  choose = ([configuration = ""]: readonly string[]): string => configuration,
): Promise<string> {
  const directory = await createTemporaryDirectory();
  const port = await findFreePort();
  const blocks = await readManual(name);
  const [, down = ""] = blocks;
  const changed = choose(blocks)
    .replaceAll("127.0.0.1:7526", `127.0.0.1:${ports[0]}`)
    .replaceAll("127.0.0.1:7527", `127.0.0.1:${ports[1]}`)
    .replace(/^( *(?:listen |bind :|:))80\b/m, `$1${port}`)
    .replaceAll("/etc/haproxy/", `${directory}/`);
  const file = join(directory, "configuration");
  await writeFile(join(directory, "down.http"), `${down}\n`);
  await writeFile(join(directory, "lost.http"), `${down.replace("50301", "50302")}\n`);
  await writeFile(file, surround(name, changed, directory));
  const args = {
    nginx: ["-p", directory, "-c", file, "-e", "stderr"],
    haproxy: ["-db", "-f", file],
    caddy: ["run", "--adapter", "caddyfile", "--config", file],
  }[name];
  const proxy = spawn(findProgram(name) ?? name, args, {
    env: { HOME: directory },
    stdio: ["ignore", "ignore", "pipe"],
  });
  // SIGTERM, since a worker of nginx outlives a master that SIGKILL ends.
  onTestFinished(() => void proxy.kill("SIGTERM"));
  let log = "";
  proxy.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  await expect.poll(() => isListening(port), { message: log }).toBe(true);
  return `http://127.0.0.1:${port}`;
}

/** Reads the blocks of code below the heading of a proxy. */
async function readManual(name: ProxyName): Promise<string[]> {
  const path = new URL("../../src/manual/tls-and-proxies.md", import.meta.url);
  const text = await readFile(path, "utf8");
  const sections = text.split("\n### ");
  const section = sections.find((each) => each.toLowerCase().startsWith(`${name}\n`)) ?? "";
  return Array.from(section.matchAll(/\n\n(( {4}.*\n|\n(?= {4}))+)/g), ([, block = ""]) =>
    block.replaceAll(/^ {4}/gm, "").trimEnd(),
  );
}

/** Adds what a configuration needs to run as this user, in a directory of its own. */
function surround(name: ProxyName, configuration: string, directory: string): string {
  if (name === "haproxy") return `${configuration}\n`;
  if (name === "caddy") return `{\n  admin off\n}\n${configuration}\n`;
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((each) => `${each}_temp_path ${directory}/${each};`)
    .join(" ");
  // Its workers cannot use the directory as another user.
  const user = process.geteuid?.() === 0 ? "user root; " : "";
  return `${user}daemon off; pid ${directory}/pid; worker_processes 1; events {}
http {
access_log off; ${paths}
${configuration}
}
`;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}
