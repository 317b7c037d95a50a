/** `plantstore openapi`. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createOpenApiDocument } from "../../../src/core/openapi.ts";
import { saveSettings } from "../../../src/cli/config/saved-settings.ts";
import { runCli } from "../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

/** Creates the document of a server. */
const toDocument = (url: string) =>
  createOpenApiDocument({ url, maxBodyBytes: 1_048_576, onConflict: "reject" });
const read = (text: string): unknown => parse(text, { intAsBigInt: true }) as unknown;
const withBigInts = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, each: unknown) =>
      typeof each === "bigint" || typeof each === "number" ? `int ${each}` : each,
    ),
  );

describe("openapi", () => {
  it("prints the document of a server with the defaults, as JSON", async () => {
    const { exitCode, stdout, stderr } = await runCli(["openapi"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      openapi: "3.1.0",
      servers: [{ url: "http://127.0.0.1:7526" }],
    });
    // JSON is a subset of YAML.
    expect(withBigInts(read(stdout))).toEqual(withBigInts(toDocument("http://127.0.0.1:7526")));
  });

  it("prints the same document as YAML with every digit", async () => {
    const { exitCode, stdout } = await runCli(["openapi", "--yaml"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^openapi: 3\.1\.0\n/);
    expect(withBigInts(read(stdout))).toEqual(withBigInts(toDocument("http://127.0.0.1:7526")));
  });

  it.each([
    ["the flag", ["--url", "https://plants.example.org/v1/"], {}],
    ["the environment", [], { PLANTSTORE_URL: "https://plants.example.org/v1" }],
  ])("reads the URL from %s", async (_from, args, env) => {
    const { stdout } = await runCli(["openapi", ...args], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [{ url: "https://plants.example.org/v1" }],
    });
  });

  it("prints the same bytes each time, also after a login", async () => {
    const home = await createTemporaryDirectory();
    const first = await runCli(["openapi"], { home });
    await saveSettings(join(home, ".config/plantstore"), { url: "https://plants.example.org" });
    const second = await runCli(["openapi"], { home });
    expect(second.stdout).toBe(first.stdout);
  });

  it("rejects an invalid URL", async () => {
    const { exitCode, stderr } = await runCli(["openapi", "--url", "nowhere"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: --url must be a URL/);
  });
});
