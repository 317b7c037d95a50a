/** The programs of this machine that find mistakes in a manual page. */
import { spawnSync } from "node:child_process";

/** Each with the arguments that make it print what is wrong, and nothing else; the file comes after them. */
const known = [
  ["groff", ["-man", "-ww", "-z", "-Tutf8"]],
  ["mandoc", ["-T", "lint", "-W", "warning,stop"]],
] as const;

/** Those that are installed. */
export function findRoffCheckers(): readonly (typeof known)[number][] {
  return known.filter(([name, args]) => {
    const { error } = spawnSync(name, [...args, "/dev/null"], { stdio: "ignore" });
    return error === undefined;
  });
}
