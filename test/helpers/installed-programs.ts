/** Programs that some tests need, if they are installed on this machine. */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Returns the path of the first program that is installed; undefined if none of them is. */
export function findProgram(...names: readonly string[]): string | undefined {
  // Debian installs servers where the PATH of ordinary users does not lead.
  const directories = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  const paths = directories.flatMap((directory) => names.map((name) => join(directory, name)));
  return paths.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the path of a Chromium: CHROME_PATH, or where one is installed. */
export function findBrowser(): string | undefined {
  const named = process.env["CHROME_PATH"];
  if (named) return named;
  const applications = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  ];
  return (
    findProgram(
      "chromium",
      "chromium-browser",
      "google-chrome",
      "google-chrome-stable",
      "chrome",
    ) ?? applications.find(isExecutable)
  );
}

/** Checks whether curl is installed, with `--retry-all-errors` (7.71). */
export function hasCurl(): boolean {
  const { status, stdout } = spawnSync("curl", ["--help", "all"], { encoding: "utf8" });
  return status === 0 && stdout.includes("--retry-all-errors");
}

/** Returns the programs that check manual pages, and the arguments with which they print only warnings. */
export function findRoffCheckers() {
  const known = [
    ["groff", ["-man", "-ww", "-z", "-Tutf8"]],
    ["mandoc", ["-T", "lint", "-W", "warning,stop"]],
  ] as const;
  return known.filter(([name]) => findProgram(name) !== undefined);
}
