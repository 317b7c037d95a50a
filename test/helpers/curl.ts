/** The command curl, as another client of plant stores. */
import { spawnSync } from "node:child_process";

/** Checks whether curl is installed, with `--retry-all-errors` (7.71). */
export function hasCurl(): boolean {
  const { status, stdout } = spawnSync("curl", ["--help", "all"], { encoding: "utf8" });
  return status === 0 && stdout.includes("--retry-all-errors");
}
