import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../helpers/run.ts";
import manifest from "../../package.json" with { type: "json" };

const notices = await readFile(join(root, "dist/THIRD-PARTY-LICENSES.txt"), "utf8");

describe("the licenses of the bundled packages", () => {
  it.each(["chalk", "commander", "conf", "ora", "pg", "undici", "zod"])(
    "include the text of %s",
    async (name) => {
      const directory = join(root, "node_modules", name);
      const packageJson = await readFile(join(directory, "package.json"), "utf8");
      const { version } = JSON.parse(packageJson) as { version: string };
      const license = await readFile(join(directory, "LICENSE"), "utf8").catch(() =>
        readFile(join(directory, "license"), "utf8"),
      );
      expect(notices).toContain(`\n${name} ${version}\n--\n${license.trim()}\n`);
    },
  );

  it("name a license and a holder for every package", () => {
    expect(notices).not.toMatch(/undefined|UNLICENSED/);
  });

  it("include no package that is not bundled", () => {
    expect(notices).not.toMatch(/\n(?:vitest|tsup|typescript|@photostructure\/sqlite) \d/);
  });

  it("are of the same packages as the SBOM", async () => {
    const text = await readFile(join(root, "dist/sbom.cdx.json"), "utf8");
    const sbom = JSON.parse(text) as { bomFormat: string; components: { "bom-ref": string }[] };
    expect(sbom.bomFormat).toBe("CycloneDX");
    const noted = Array.from(notices.matchAll(/^(\S+) (\d\S*)\n--$/gm), ([, name, version]) =>
      [name, version].join("@"),
    );
    const listed = sbom.components.map((each) => each["bom-ref"]);
    expect(noted.length).toBeGreaterThan(0);
    expect(listed).toEqual(expect.arrayContaining(noted));
    // The notices name only one version of a package.
    const toNames = (refs: readonly string[]) =>
      new Set(refs.map((ref) => ref.replace(/@[^@]*$/, "")));
    expect(toNames(listed)).toEqual(toNames(noted));
  });

  it("are in the package", () => {
    expect(manifest.files).toContain("dist");
  });
});
