/** The tools of systemd, which check its units. */
import { spawnSync } from "node:child_process";

/** Checks whether `systemd-analyze` is installed. */
export function hasSystemd(): boolean {
  return spawnSync("systemd-analyze", ["--version"]).status === 0;
}
