/** Copies of the sources, on which tests follow the recipes of CONTRIBUTING. */
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { root, run } from "./run.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

/** A text of a file, and what follows it in the copy. */
export type Edit = readonly [file: string, after: string, added: string];

/** Copies folders of the repository, with what compiles and runs them. @returns the directory of the copy */
export async function createCopy(folders: readonly string[]): Promise<string> {
  const directory = await createTemporaryDirectory();
  for (const path of [...folders, "package.json", "tsconfig.json"]) {
    await cp(join(root, path), join(directory, path), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
  return directory;
}

/** Makes edits, each at a place that the file has once. */
export async function apply(directory: string, edits: readonly Edit[]): Promise<void> {
  for (const [file, after, added] of edits) {
    const path = join(directory, file);
    const text = await readFile(path, "utf8");
    expect(text.split(after), `${file}: ${after}`).toHaveLength(2);
    await writeFile(
      path,
      text.replace(after, () => after + added),
    );
  }
}

/** Compiles a copy. @returns the files with an error */
export async function compile(directory: string): Promise<string[]> {
  try {
    await run("npx", ["tsc", "--noEmit", "--pretty", "false"], { cwd: directory });
    return [];
  } catch (error) {
    const { stdout } = error as { readonly stdout: string };
    return [...new Set(Array.from(stdout.matchAll(/^(\S+)\(\d+/gm), ([, file = ""]) => file))];
  }
}
