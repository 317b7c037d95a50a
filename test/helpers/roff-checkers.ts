/** Programs on this machine that check manual pages. */
import { spawnSync } from "node:child_process";

/** Programs, and the arguments before the file with which they print only warnings. */
const known = [
  ["groff", ["-man", "-ww", "-z", "-Tutf8"]],
  ["mandoc", ["-T", "lint", "-W", "warning,stop"]],
] as const;

/** Returns the installed programs. */
export function findRoffCheckers(): readonly (typeof known)[number][] {
  return known.filter(([name, args]) => {
    const { error } = spawnSync(name, [...args, "/dev/null"], { stdio: "ignore" });
    return error === undefined;
  });
}
