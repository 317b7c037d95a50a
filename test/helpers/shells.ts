/** The shells of this machine. */
import { spawnSync } from "node:child_process";

/** Checks whether a shell is installed. */
export function hasShell(name: "fish" | "zsh"): boolean {
  return spawnSync(name, ["--version"], { stdio: "ignore" }).error === undefined;
}
