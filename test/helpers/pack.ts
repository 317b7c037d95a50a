/** Makes the tarball of the package, or takes the one that will be released. */
import { cp, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { root, run } from "./run.ts";

/** Files that npm and the build read. */
const sources = [
  ".build",
  ".github/CHANGELOG.md",
  ".npmrc",
  "LICENSE",
  "README.md",
  "bin",
  "package-lock.json",
  "package.json",
  "src",
  "tsconfig.json",
];

/**
 * Packs a copy of this checkout, which must be built, so that tests can pack at the same time. The tarball that the
 * environment variable `PLANTSTORE_TARBALL` names is used instead.
 *
 * @param directory an existing directory, for the copy in `checkout` and for the tarball
 * @returns the path of the tarball
 */
export async function pack(directory: string): Promise<string> {
  const released = process.env["PLANTSTORE_TARBALL"];
  if (released !== undefined) return released;
  const checkout = join(directory, "checkout");
  await copyCheckout(checkout);
  await cp(join(root, "dist"), join(checkout, "dist"), { recursive: true });
  const name = await packCheckout(checkout);
  return join(checkout, name);
}

/** Copies this checkout without its build. @param checkout a directory that does not exist */
export async function copyCheckout(checkout: string): Promise<void> {
  await mkdir(checkout);
  for (const name of sources) await cp(join(root, name), join(checkout, name), { recursive: true });
  await symlink(join(root, "node_modules"), join(checkout, "node_modules"), "junction");
}

/** Packs a checkout, as a release does. @returns the name of the tarball in the checkout */
export async function packCheckout(checkout: string): Promise<string> {
  const { stdout } = await run("npm", ["run", "pack"], { cwd: checkout });
  return stdout.trim().split("\n").at(-1) ?? "";
}
