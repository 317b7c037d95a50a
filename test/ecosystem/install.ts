/** Installs the packages of this folder, unless they are installed for its lock file. */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const directory = import.meta.dirname;
const lockFile = join(directory, "package-lock.json");
// `npm ci` removes the copy first, so that an interrupted install is repeated.
const installed = join(directory, "node_modules/installed-lock.json");

if (!existsSync(installed) || !readFileSync(installed).equals(readFileSync(lockFile))) {
  execFileSync("npm", ["ci"], { cwd: directory, stdio: "inherit" });
  copyFileSync(lockFile, installed);
}
