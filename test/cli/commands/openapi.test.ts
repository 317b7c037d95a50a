/** `plantstore openapi`. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createOpenApiDocument, toOpenApiJson } from "../../../src/core/openapi.ts";
import { saveSettings } from "../../../src/cli/config/saved-settings.ts";
import { runCli } from "../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("openapi", () => {
  it("prints the document of a server with the defaults, as JSON", async () => {
    const { exitCode, stdout, stderr } = await runCli(["openapi"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const url = "http://127.0.0.1:7526";
    const server = { url, maxBodyBytes: 1_048_576, onConflict: "reject" } as const;
    expect(stdout).toBe(toOpenApiJson(createOpenApiDocument(server)));
    expect(JSON.parse(stdout)).toMatchObject({ openapi: "3.1.0", servers: [{ url }] });
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
    await saveSettings(join(home, ".config/plantstore"), { login: "https://plants.example.org" });
    const second = await runCli(["openapi"], { home });
    expect(second.stdout).toBe(first.stdout);
  });

  it("rejects an invalid URL", async () => {
    expect(await runCli(["openapi", "--url", "nowhere"])).toExit(2, /^error: --url must be a URL/);
  });
});
