/** With which words a user can run the same program again. */
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toInvocation } from "../../../../src/cli/commands/serve/start-messages.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

/** A program, and a directory with a link to it, as `npm install --global` leaves them. */
async function install(directory = "bin"): Promise<{ script: string; directory: string }> {
  const home = await createTemporaryDirectory();
  const script = join(home, "plantstore.js");
  await writeFile(script, "");
  await chmod(script, 0o755);
  const path = join(home, directory);
  await mkdir(path, { recursive: true });
  await symlink(script, join(path, "plantstore"));
  return { script, directory: path };
}

describe("the command to type next is", () => {
  it("plantstore if that is this program on the PATH", async () => {
    const { script, directory } = await install();
    expect(toInvocation({ script, env: { PATH: `/nonexistent:${directory}` } })).toBe("plantstore");
  });

  it("node and the script if plantstore on the PATH is another program", async () => {
    const { directory } = await install();
    const { script } = await install();
    expect(toInvocation({ script, env: { PATH: directory } })).toBe(`node ${script}`);
  });

  it("the absolute path, quoted for a shell", () => {
    expect(toInvocation({ script: "/a b/plantstore.js", env: {} })).toBe(
      "node '/a b/plantstore.js'",
    );
  });

  it("node and the script if only npm has it on its own PATH", async () => {
    const { script, directory } = await install("node_modules/.bin");
    expect(toInvocation({ script, env: { PATH: directory } })).toBe(`node ${script}`);
  });
});
