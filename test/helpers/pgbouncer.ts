/** Starts PgBouncer in front of a PostgreSQL server. */
import { spawn } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { findProgram } from "./installed-programs.ts";
import { findFreePort, findOwner } from "./postgres-server.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

/**
 * Starts PgBouncer in transaction mode until the test ends.
 *
 * @returns the URL of the database through PgBouncer
 */
export async function startPgBouncer(databaseUrl: string): Promise<string> {
  const url = new URL(databaseUrl);
  const [user, password] = [url.username, url.password].map(decodeURIComponent);
  const directory = await createTemporaryDirectory();
  await chmod(directory, 0o755);
  const port = await findFreePort();
  const users = join(directory, "users.txt");
  await writeFile(users, `"${user}" "${password}"\n`);
  const configuration = join(directory, "pgbouncer.ini");
  await writeFile(
    configuration,
    `[databases]
* = host=${url.hostname} port=${url.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = transaction
default_pool_size = 2
`,
  );
  const bouncer = spawn(findProgram("pgbouncer") ?? "pgbouncer", [configuration], {
    ...(await findOwner()),
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void bouncer.kill("SIGKILL"));
  await new Promise<void>((resolve, reject) => {
    let log = "";
    bouncer.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("process up")) resolve();
    });
    bouncer.on("error", reject);
    bouncer.on("exit", () => reject(new Error(`pgbouncer ended: ${log}`)));
  });
  url.port = `${port}`;
  return url.href;
}
