/** The workflow that publishes a version, with files as the registry and the releases. */
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { run } from "../helpers/run.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const workflow = new URL("../../.github/workflows/publish.yml", import.meta.url);
/** Acts as npm and gh. */
const services = new URL("../helpers/programs/release-services.sh", import.meta.url);

const changelog = `# Changelog

## Unreleased

- later

## 1.0.0 (2026-01-02)

- now

## 1.0.0-rc.1

- before
`;

/** A repository with the tag v1.0.0, a registry and a list of releases. */
async function createRelease() {
  const directory = await createTemporaryDirectory();
  const checkout = join(directory, "checkout");
  const release = join(directory, "services/releases/v1.0.0");
  await mkdir(join(checkout, ".github"), { recursive: true });
  await mkdir(join(directory, "services/releases"), { recursive: true });
  await mkdir(join(directory, "bin"));
  await writeFile(join(checkout, "package.json"), '{"version":"1.0.0"}');
  await writeFile(join(checkout, ".github/CHANGELOG.md"), changelog);
  for (const name of ["npm", "gh"]) await symlink(services, join(directory, "bin", name));
  const { jobs } = parse(await readFile(workflow, "utf8")) as {
    jobs: { publish: { steps: { run?: string }[] } };
  };
  const commands = jobs.publish.steps.flatMap((step) => step.run ?? []);
  const steps = commands.filter((command) => /CHANGELOG|npm publish|gh release/.test(command));
  let runs = 0;
  return {
    release,
    registry: join(directory, "services/registry.tgz"),
    /** Runs the steps in a new checkout, whose tarball differs from those before. @returns whether all of them succeeded */
    async run(failure: string): Promise<boolean> {
      runs++;
      const copy = join(directory, `checkout-${runs}`);
      await cp(checkout, copy, { recursive: true });
      await mkdir(join(copy, "package/dist"), { recursive: true });
      await writeFile(join(copy, "package/dist/sbom.cdx.json"), `{"run":${runs}}`);
      await run("tar", ["-czf", "plantstore-1.0.0.tgz", "package"], { cwd: copy });
      await writeFile(join(directory, "services/calls"), "");
      const env = {
        PATH: `${join(directory, "bin")}:${process.env["PATH"]}`,
        GITHUB_REF_NAME: "v1.0.0",
        SERVICES: join(directory, "services"),
        FAILURE: failure,
      };
      // GitHub runs each step in such a shell.
      for (const step of steps) {
        const succeeded = run("bash", ["-e", "-c", step], { cwd: copy, env }).then(
          () => true,
          () => false,
        );
        if (!(await succeeded)) return false;
      }
      return true;
    },
  };
}

describe.runIf(process.platform === "linux")("the workflow that publishes", () => {
  const calls = ["npm pack", "npm publish", "list", "create", "upload", "edit"];
  const failures = calls.flatMap((name, index) => [
    [name, `before ${index + 1}`],
    [name, `after ${index + 1}`],
  ]);

  it.each([["none", "never"], ...failures])(
    "completes a release when it runs again after a failure of: %s (%s)",
    async (_, failure = "") => {
      const { release, registry, run: runSteps } = await createRelease();
      await runSteps(failure);
      expect(await runSteps("never")).toBe(true);
      const files = await readdir(release);
      const expected = ["SHA256SUMS", "is-public", "notes", "plantstore-1.0.0.cdx.json"];
      expect(files.toSorted()).toEqual([...expected, "plantstore-1.0.0.tgz"]);
      expect(await readFile(join(release, "notes"), "utf8")).toBe("\n- now\n\n");
      const released = await readFile(join(release, "plantstore-1.0.0.tgz"));
      expect(released.equals(await readFile(registry))).toBe(true);
      await run("sha256sum", ["--check", "SHA256SUMS"], { cwd: release });
    },
  );

  it("stops without a release if the version cannot be published", async () => {
    const { release, run: runSteps } = await createRelease();
    expect(await runSteps("before 2")).toBe(false);
    await expect(readdir(release)).rejects.toThrow("ENOENT");
  });
});
