/** The check of the messages of commits. */
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { root, run } from "../helpers/run.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const script = fileURLToPath(new URL("../../.build/check-commits.ts", import.meta.url));
const tsx = import.meta.resolve("tsx");

let repository: string;

beforeEach(async () => {
  repository = await createTemporaryDirectory();
  await git("init", "--quiet");
  await git("config", "user.name", "a");
  await git("config", "user.email", "a@example.org");
  await commit("first, without a body");
});

async function git(...args: readonly string[]): Promise<string> {
  const { stdout } = await run("git", args, { cwd: repository });
  return stdout.trim();
}

function commit(...paragraphs: readonly string[]): Promise<string> {
  const messages = paragraphs.flatMap((text) => ["--message", text]);
  return git("commit", "--quiet", "--allow-empty", ...messages);
}

/** Runs the check on the commits after the first. */
async function check(cwd = repository) {
  const args = ["--import", tsx, script, await git("rev-list", "--max-parents=0", "HEAD")];
  const { code, stderr } = await run(process.execPath, args, { cwd }).then(
    (outputs) => ({ code: 0, ...outputs }),
    (error: unknown) => error as { readonly code: number; readonly stderr: string },
  );
  return { code, stderr };
}

describe("the check of commits", () => {
  it("accepts 72 characters and a body", async () => {
    await commit(`area: ${"ä".repeat(66)}`, "The reason.");
    expect(await check()).toEqual({ code: 0, stderr: "0 problems in 1 commits\n" });
  });

  it.each([
    ["a subject of 73 characters", ["a".repeat(73), "The reason."], "more than 72 characters"],
    ["a commit without a body", ["area: change it"], "the body with the reason is missing"],
  ])("rejects %s", async (_, paragraphs, problem) => {
    await commit(...paragraphs);
    await commit("area: change more", "The reason.");
    const { code, stderr } = await check();
    expect(code).toBe(1);
    expect(stderr).toContain(problem);
    expect(stderr).toContain("1 problems in 2 commits");
  });

  it("accepts the commit that CONTRIBUTING makes for a release, which has a tag", async () => {
    const contributing = await readFile(join(root, ".github/CONTRIBUTING.md"), "utf8");
    const [command = ""] = /(?<=`)npm version [^`]+/.exec(contributing) ?? [];
    for (const name of [".npmrc", "package.json", "package-lock.json"]) {
      await copyFile(join(root, name), join(repository, name));
    }
    await git("add", ".");
    await commit("area: add the package", "The reason.");
    const { stdout } = await run("bash", ["-c", command], { cwd: repository });
    expect(await check()).toEqual({ code: 0, stderr: "0 problems in 2 commits\n" });
    expect(await git("describe", "--exact-match")).toBe(stdout.trim());
    expect(await git("status", "--porcelain")).toBe("");
  });

  it("reports that a shallow clone is not checked", async () => {
    await commit("area: change it");
    const clone = await createTemporaryDirectory();
    await git("clone", "--quiet", "--depth=1", pathToFileURL(repository).href, clone);
    expect(await check(clone)).toEqual({
      code: 0,
      stderr: "NOT CHECKED: messages of commits, because the clone is shallow\n",
    });
  });
});
