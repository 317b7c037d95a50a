/** What `plantstore serve` prints on a terminal. */
import { describe, expect, it } from "vitest";
import { readSavedToken } from "../../../helpers/credentials.ts";
import { allTerminals, runCli } from "../../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";
import { configPath, createFern, inHome, serve, serveOnce, useHome } from "./serve-home.ts";

useHome();

describe("on a terminal", () => {
  it("shows the issued token, the link with it, and how to create the first plant", async () => {
    const { url, exitCode, stdout, stderr } = await serveOnce([], { terminals: allTerminals });
    const token = readSavedToken(configPath(), url);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${url}\n` });
    // Alone, and in the link that opens the page.
    expect(stderr.split(token ?? "none").length).toBe(3);
    expect(stderr).toContain(`${url}/#${token}\n`);
    // The first start has made it the default URL.
    expect(stderr).toContain(" plantstore create --id 1 --name fern\n");
  });

  it("quotes a URL with brackets for the shell", async () => {
    const flags = ["--host", "::1", "--store", "memory:"];
    const { url, stderr } = await serveOnce(flags, { terminals: allTerminals });
    expect(stderr).toContain(`create --url '${url}' --id 1 --name fern`);
  });

  it("has a banner, whose link to the page fits a line", async () => {
    const { url, stderr } = await serveOnce(["--no-color"], { terminals: allTerminals });
    const lines = stderr.split("\n");
    expect(lines[0]).toMatch(/^plantstore \S+ is ready$/);
    const labels = lines.flatMap((line) => /^ {2}([A-Z]\w+)(?: |$)/.exec(line)?.[1] ?? []);
    expect(labels).toEqual(["Store", "Token", "Try", "Page", "Stop", "URL"]);
    // A link that the terminal breaks is hard to open.
    expect(lines.find((line) => line.includes("/#"))?.length).toBeLessThanOrEqual(80);
    expect(stderr).not.toContain(`URL    ${url}`); // It is on stdout, which continues this row.
  });

  it("has the URL in the banner too if stdout is not a terminal", async () => {
    const { url, stdout, stderr } = await serveOnce(["--no-color"], {
      terminals: { stderr: true },
    });
    expect(stdout).toBe(`${url}\n`);
    expect(stderr).toContain(`\n  URL    ${url}\n`);
  });

  it("says how to issue a token if none of the store is saved", async () => {
    const store = `sqlite:${inHome("plants.db")}`;
    await serveOnce(["--store", store]);
    const elsewhere = { home: await createTemporaryDirectory(), terminals: allTerminals };
    const { url, stderr } = await serveOnce(["--store", store], elsewhere);
    const command = `plantstore token issue --store ${store} | plantstore login --url ${url}`;
    expect(stderr).toContain(`\n  ${command}\n`);
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ["80 columns", { NO_COLOR: "1" }, /\d\d:\d\d:\d\d 200 POST \/plants created \d+\.\d ms\n/],
    [
      "colours",
      { FORCE_COLOR: "1" },
      /<\[2m\d\d:\d\d:\d\d<\[22m <\[32m200<\[39m POST \/plants created /,
    ],
  ])("has a log as text: %s", async (_what, env, line) => {
    const { url, stop } = await serve([], { terminals: allTerminals, env });
    await createFern(url);
    const other = ["create", "--id", "1", "--name", "moss", "--url", url];
    expect(await runCli(other, { home: inHome() })).toMatchObject({ exitCode: 5 });
    const { stderr } = await stop();
    expect(stderr.replaceAll("\u001b", "<")).toMatch(line);
    expect(stderr).toMatch(/400\S* POST \/plants rejected 40900 /);
  });

  it.each(["--ephemeral", "--demo"])("has lines of at most 80 columns with %s", async (flag) => {
    const { stderr } = await serveOnce([flag, "--no-color"], { terminals: allTerminals });
    expect(stderr).toContain("\n  export PLANTSTORE_TOKEN=pst_");
    expect(stderr.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("shows the token only when it is issued", async () => {
    await serveOnce();
    const { stderr } = await serveOnce([], { terminals: allTerminals });
    expect(stderr).not.toContain("pst_");
    expect(stderr).not.toContain("issued");
  });
});
