/** The build of a checkout. */
import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

it("says that it needs the development packages if they are missing", async () => {
  const directory = await createTemporaryDirectory();
  const sources = [".build", "bin", "src", "package.json", "package-lock.json", "tsconfig.json"];
  for (const path of sources) {
    await cp(join(root, path), join(directory, path), { recursive: true });
  }
  const build = promisify(execFile)(process.execPath, [".build/build.js"], { cwd: directory });
  await expect(build).rejects.toMatchObject({
    code: 1,
    stderr:
      "A build needs the development packages: run npm ci without --omit=dev and without NODE_ENV=production\n",
  });
});
