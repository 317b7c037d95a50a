/** Projects of other programs, in which the built package is installed. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { root, run } from "./run.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

/**
 * Creates a project of ES modules.
 *
 * @param files texts by name
 * @param packages directories of the packages that it needs besides plantstore, by name
 */
export async function createProject(
  files: Readonly<Record<string, string>>,
  packages: Readonly<Record<string, string>> = {},
): Promise<string> {
  const directory = await createTemporaryDirectory();
  for (const [name, target] of Object.entries({ plantstore: root, ...packages })) {
    const link = join(directory, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(target, link, "junction");
  }
  for (const [name, text] of Object.entries({ "package.json": '{"type":"module"}', ...files })) {
    await writeFile(join(directory, name), text);
  }
  return directory;
}

/**
 * Compiles the TypeScript of a project in strict mode.
 *
 * @param compiler directory of a package of TypeScript
 * @throws the problems that the compiler finds, in `stdout`
 */
export async function compileProject(
  directory: string,
  options: object,
  compiler = join(root, "node_modules/typescript"),
): Promise<void> {
  const usual = { target: "ES2022", module: "NodeNext", types: ["node"], strict: true };
  const config = { compilerOptions: { ...usual, ...options }, include: ["*.ts"] };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(config));
  await run(process.execPath, [join(compiler, "bin/tsc"), "-p", directory]);
}
