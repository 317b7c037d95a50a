/** Reports at the end of a run which tests it omitted, and which tests this machine cannot run. */
import type { TestProject, Vitest } from "vitest/node";
import { findBrowser } from "./browser.ts";
import { hasCurl } from "./curl.ts";
import { canMountDisks } from "./loop-disk.ts";
import { findPgBouncer } from "./pgbouncer.ts";
import { findProxy } from "./proxies.ts";
import { findRoffCheckers } from "./roff-checkers.ts";
import { hasServiceManager } from "./service-manager.ts";
import { hasShell } from "./shells.ts";
import { hasSystemd } from "./systemd.ts";

/** True if this user may give files to other users. */
export const isRoot = process.geteuid?.() === 0;

let run: Vitest | undefined;

/** Runs before the first test, for each project and for the root of them. */
export function setup(project: TestProject): void {
  if (project.isRootProject()) run = project.vitest;
}

/** Runs after the last test. */
export async function teardown(): Promise<void> {
  if (run === undefined) return;
  if (await isQuickLane(run)) {
    process.stderr.write(
      "\nLEFT OUT: a million plants, 20 crash rounds, the page in a browser, other tools, most tests of the built command, of the package,\n" +
        "of connections, faults, feeds, backups and PostgreSQL, and the server without its fast lane and over TLS.\n" +
        '"npm run test:all" runs everything.\n\n',
    );
  }
  if (!(await canMountDisks())) {
    process.stderr.write(
      "\nNOT TESTED: power failures, full disks and directories of other users, because this user cannot mount disks.\n" +
        "Run the tests as root on Linux with a loop device, mkfs.ext4 and mount.\n\n",
    );
  }
  if (!isRoot) {
    process.stderr.write(
      "\nNOT TESTED: a restore that replaces the store of another user, because this user is not root.\n\n",
    );
  }
  if (findBrowser() === undefined) {
    process.stderr.write(
      "\nNOT TESTED: the page, and pages of other origins, in a browser, because there is no Chromium.\n" +
        "Install it (on Debian: apt-get install chromium), or name one in CHROME_PATH.\n\n",
    );
  }
  if (process.platform !== "linux") {
    process.stderr.write(
      "\nNOT TESTED: queries of the dashboard and the alerts, /dev/full and /proc, because this is not Linux.\n\n",
    );
  }
  if (!hasCurl()) {
    process.stderr.write(
      "\nNOT TESTED: curl's retries against a server with faults, because there is no curl 7.71 or later.\n\n",
    );
  }
  for (const shell of ["fish", "zsh"] as const) {
    if (hasShell(shell)) continue;
    process.stderr.write(
      `\nNOT TESTED: completion in ${shell}, because it is not installed (on Debian: apt-get install ${shell}).\n\n`,
    );
  }
  if (!hasServiceManager()) {
    process.stderr.write(
      "\nNOT TESTED: a socket that a service manager passes to the server, because there is no Perl.\n\n",
    );
  }
  if (!hasSystemd()) {
    process.stderr.write(
      "\nNOT TESTED: the units of systemd in the manual, because there is no systemd-analyze.\n\n",
    );
  }
  if (findRoffCheckers().length === 0) {
    process.stderr.write(
      "\nNOT TESTED: the roff of the manual page, because there is neither groff nor mandoc.\n" +
        "Install one of them (on Debian: apt-get install groff).\n\n",
    );
  }
  for (const proxy of ["nginx", "haproxy", "caddy"] as const) {
    if (findProxy(proxy) !== undefined) continue;
    process.stderr.write(
      `\nNOT TESTED: the configuration of ${proxy} in the manual, because it is not installed (on Debian: apt-get install ${proxy}).\n\n`,
    );
  }
  if (findPgBouncer() === undefined) {
    process.stderr.write(
      "\nNOT TESTED: PostgreSQL through PgBouncer, because it is not installed.\n" +
        "Install it (on Debian: apt-get install pgbouncer).\n\n",
    );
  }
}

/** Checks whether a run without the slow tests has all other files, and not only those that its command names. */
async function isQuickLane({ projects, state }: Vitest): Promise<boolean> {
  if (projects.some(({ name }) => name === "slow")) return false;
  const found = await Promise.all(projects.map((project) => project.globTestFiles()));
  const files = found.flatMap(({ testFiles }) => testFiles);
  return files.length === state.getTestModules().length;
}
