/** Reports at the end of a run which tests it omitted, and which tests this machine cannot run. */
import type { TestProject, Vitest } from "vitest/node";
import { findBrowser, findProgram, findRoffCheckers, hasCurl } from "./installed-programs.ts";
import { canMountDisks } from "./loop-disk.ts";
import { hasServiceManager } from "./service-manager.ts";

/** True if this user may give files to other users. */
export const isRoot = process.geteuid?.() === 0;

let run: Vitest | undefined;

/** Runs before the first test, for each project and for the root of them. */
export function setup(project: TestProject): void {
  if (project.isRootProject()) run = project.vitest;
}

/** Tests that need more than Node: whether they run, what they test, and what they need. */
async function listConditions(): Promise<
  (readonly [runs: boolean, tests: string, needs: string])[]
> {
  const toCondition = (program: string, tests: string) =>
    [findProgram(program) !== undefined, tests, program] as const;
  return [
    [
      await canMountDisks(),
      "power failures, full disks and directories of other users",
      "root on Linux with a loop device, mkfs.ext4 and mount",
    ],
    [isRoot, "a restore that replaces the store of another user", "root"],
    [
      findBrowser() !== undefined,
      "the page, and pages of other origins, in a browser",
      "Chromium, in the PATH or named in CHROME_PATH",
    ],
    [
      process.platform === "linux",
      "queries of the dashboard and the alerts, /dev/full and /proc",
      "Linux",
    ],
    [hasCurl(), "curl's retries against a server with faults", "curl 7.71 or later"],
    [hasServiceManager(), "a socket that a service manager passes to the server", "perl"],
    [findRoffCheckers().length > 0, "the roff of the manual page", "groff or mandoc"],
    toCondition("systemd-analyze", "the units of systemd in the manual"),
    toCondition("pgbouncer", "PostgreSQL through PgBouncer"),
    ...["fish", "zsh"].map((shell) => toCondition(shell, `completion in ${shell}`)),
    ...["nginx", "haproxy", "caddy"].map((proxy) =>
      toCondition(proxy, `the configuration of ${proxy} in the manual`),
    ),
  ];
}

/** Runs after the last test. */
export async function teardown(): Promise<void> {
  if (run === undefined) return;
  if (await isQuickLane(run)) {
    process.stderr.write(
      "\nLEFT OUT: a million plants, 20 crash rounds, the page in a browser, other tools, most tests of the built command, of the package,\n" +
        "of connections, faults, backups and PostgreSQL, and the server without its fast lane and over TLS.\n" +
        '"npm run test:all" runs everything.\n',
    );
  }
  for (const [runs, tests, needs] of await listConditions()) {
    if (!runs) process.stderr.write(`\nNOT TESTED: ${tests}, which needs ${needs}.\n`);
  }
}

/** Checks whether a run without the slow tests has all other files, and not only those that its command names. */
async function isQuickLane({ projects, state }: Vitest): Promise<boolean> {
  if (projects.some(({ name }) => name === "slow")) return false;
  const found = await Promise.all(projects.map((project) => project.globTestFiles()));
  const files = found.flatMap(({ testFiles }) => testFiles);
  return files.length === state.getTestModules().length;
}
