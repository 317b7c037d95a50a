import type { ChildProcess } from "node:child_process";

/** Kills a process that was started `detached`, with its children. */
export function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-Number(pid), "SIGKILL");
  } catch {
    // All of them have ended.
  }
}
