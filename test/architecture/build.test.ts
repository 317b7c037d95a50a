/** The build of a checkout. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import pnpmFile from "../../.pnpmfile.cjs";
import { root, run } from "../helpers/run.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

it("says that it needs the development packages if they are missing", async () => {
  const directory = await createTemporaryDirectory();
  const sources = [".build", "bin", "src", "package.json", "package-lock.json", "tsconfig.json"];
  for (const path of sources) {
    await cp(join(root, path), join(directory, path), { recursive: true });
  }
  const build = run(process.execPath, [".build/build.js"], { cwd: directory });
  await expect(build).rejects.toMatchObject({
    code: 1,
    stderr:
      "A build needs the development packages: run npm ci without --omit=dev and without NODE_ENV=production\n",
  });
});

it("ignores the files that other package managers leave in a checkout", async () => {
  const names = [
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    ".pnp.cjs",
    ".pnp.loader.mjs",
  ];
  const args = ["check-ignore", "--no-index", ...names, ".yarn/install-state.gz"];
  const { stdout } = await run("git", args, { cwd: root });
  expect(stdout.trim().split("\n")).toEqual([...names, ".yarn/install-state.gz"]);
});

it("lets pnpm leave out the scripts of packages, and keeps its other settings", () => {
  const config = pnpmFile.hooks.updateConfig({
    strictDepBuilds: true,
    registry: "https://example.org",
  });
  expect(config).toEqual({ strictDepBuilds: false, registry: "https://example.org" });
});
