/** Stages what users install in `.package`, which `npm run pack` makes the tarball of. */
import { chmodSync, cpSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };

const stage = ".package";
/** Members of package.json that only a checkout needs. */
const membersOfCheckout = [
  "private",
  "scripts",
  "devDependencies",
  "allowScripts",
  "budget",
  "knip",
];

rmSync(stage, { recursive: true, force: true });
// npm leaves out what `files` excludes.
const included = manifest.files.filter((path) => !path.startsWith("!"));
for (const path of ["README.md", "LICENSE", ...included]) {
  cpSync(path, join(stage, path), { recursive: true });
}
writeFileSync(join(stage, "package.json"), `${JSON.stringify(toPublished(), undefined, 2)}\n`);
// The tarball keeps the modes of the files, which depend on the umask of the checkout.
for (const name of readdirSync(stage, { recursive: true, encoding: "utf8" })) {
  const path = join(stage, name);
  if (statSync(path).isFile()) chmodSync(path, 0o644);
}
chmodSync(join(stage, manifest.bin), 0o755);

function toPublished(): object {
  const members = Object.entries(manifest).filter(([key]) => !membersOfCheckout.includes(key));
  return { ...Object.fromEntries(members), ...toRepository() };
}

/** In a workflow on GitHub, names its repository, as the provenance of the package does. */
function toRepository(): object {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  if (server === undefined || repository === undefined) return {};
  return { repository: { type: "git", url: `git+${server}/${repository}.git` } };
}
