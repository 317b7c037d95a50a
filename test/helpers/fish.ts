/** The fish shell of this machine. */
import { spawnSync } from "node:child_process";

/** Checks whether fish is installed. */
export function hasFish(): boolean {
  return spawnSync("fish", ["--version"], { stdio: "ignore" }).error === undefined;
}
