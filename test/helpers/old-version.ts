/** The release before this one, built from the history of the repository. */
import { execFile, execFileSync } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTemporaryDirectory } from "./temporary-directory.ts";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../..", import.meta.url));
const commit = "2b5691d";

/** Checks whether the history contains the old version. */
export function hasOldVersion(): boolean {
  try {
    execFileSync("git", ["cat-file", "-e", `${commit}^{commit}`], {
      cwd: repository,
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

/**
 * Builds the old version in a temporary directory.
 *
 * @returns the path of its command
 */
export async function buildOldVersion(): Promise<string> {
  const directory = await createTemporaryDirectory();
  const archive = join(directory, "source.tar");
  const sources = [".build", "bin", "src", "package.json", "tsconfig.json"];
  await run("git", ["archive", "--output", archive, commit, ...sources], { cwd: repository });
  await run("tar", ["-xf", archive, "-C", directory]);
  await symlink(join(repository, "node_modules"), join(directory, "node_modules"));
  const tsup = join(repository, "node_modules/tsup/dist/cli-default.js");
  // The old version needs packages that are no longer installed, but not to serve PostgreSQL.
  const external = ["csv-parse/sync", "@photostructure/sqlite"].flatMap((name) => [
    "--external",
    name,
  ]);
  const args = ["--config", ".build/tsup.config.ts", "--silent", ...external];
  await run(process.execPath, [tsup, ...args], {
    cwd: directory,
  });
  return join(directory, "bin/plantstore.js");
}
