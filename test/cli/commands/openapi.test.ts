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

  it("describes what the flags say", async () => {
    const url = "https://plants.example.org/v1";
    const args = ["openapi", "--public-url", `${url}/`, "--operations", "all"];
    const { stdout } = await runCli(args);
    const paths = { "/plants/{id}": expect.anything() as object };
    expect(JSON.parse(stdout)).toMatchObject({ servers: [{ url }], paths });
  });

  it("depends on no variable and no login", async () => {
    const home = await createTemporaryDirectory();
    const url = "https://plants.example.org";
    const first = await runCli(["openapi"], { home });
    await saveSettings(join(home, ".config/plantstore"), { login: url });
    const env = { PLANTSTORE_URL: url, PLANTSTORE_PUBLIC_URL: url, PLANTSTORE_OPERATIONS: "all" };
    expect(await runCli(["openapi"], { home, env })).toPrint(first.stdout);
  });

  it("rejects an invalid URL", async () => {
    expect(await runCli(["openapi", "--public-url", "nowhere"])).toExit(
      2,
      /^error: --public-url must be a URL/,
    );
  });
});
