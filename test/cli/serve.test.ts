/** `plantstore serve` as a function: what it says to a terminal and to a log, and how it starts and stops. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { mintToken } from "../../src/auth/token.ts";
import { readSavedToken, saveToken } from "../../src/cli/credentials.ts";
import { allTerminals, type CliOptions, runCli, startCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const configDirectory = (home: string): string => join(home, ".config/plantstore");

/** A server that stops with its test. */
async function startServe(home: string, args: readonly string[] = [], options: CliOptions = {}) {
  const run = startCli(["serve", "--port", "0", ...args], { home, ...options });
  const stop = async () => {
    run.signal("SIGTERM");
    return run.finished;
  };
  onTestFinished(async () => void (await stop()));
  await expect.poll(run.stdout).toMatch(/^http:.*\n$/);
  const url = run.stdout().trim();
  return { run, url, stop };
}

function create(home: string, url: string, env: Readonly<Record<string, string>> = {}) {
  return runCli(["create", "--id", "1", "--name", "fern", "--url", url], { home, env });
}

describe("on a terminal", () => {
  it("shows the issued token once, and how to create the first plant", async () => {
    const home = await createTemporaryDirectory();
    const { url, stop } = await startServe(home, [], { terminals: allTerminals });
    const { exitCode, stdout, stderr } = await stop();
    const token = await readSavedToken(configDirectory(home), url);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${url}\n` });
    expect(stderr.split(token ?? "none").length).toBe(2);
    expect(stderr).toContain(`plantstore create --url ${url} --id 1 --name fern`);
  });

  it("does not show it again", async () => {
    const home = await createTemporaryDirectory();
    const first = await startServe(home);
    await first.stop();
    const second = await startServe(home, [], { terminals: allTerminals });
    const { stderr } = await second.stop();
    expect(stderr).not.toContain("pst_");
    expect(stderr).not.toContain("issued");
  });
});

describe("in a log", () => {
  it("the token does not appear", async () => {
    const home = await createTemporaryDirectory();
    const { url, stop } = await startServe(home);
    const { stdout, stderr } = await stop();
    const token = await readSavedToken(configDirectory(home), url);
    expect(token).toMatch(/^pst_/);
    expect(stdout + stderr).not.toContain("pst_");
    expect(stderr).toContain("A token was issued, and saved for this user\n");
  });
});

describe("a new store", () => {
  it("takes the token that is saved for its address, and no other one is touched", async () => {
    const home = await createTemporaryDirectory();
    const first = await startServe(home, ["--store", "memory:"]);
    await first.stop();
    const token = mintToken();
    await saveToken(configDirectory(home), first.url, token);
    await saveToken(configDirectory(home), "https://plants.example.org", mintToken());
    const other = await readSavedToken(configDirectory(home), "https://plants.example.org");

    const { port } = new URL(first.url);
    const run = startCli(["serve", "--port", port, "--store", "memory:"], { home });
    await run.saw(first.url);
    expect(await create(home, first.url)).toMatchObject({ exitCode: 0 });
    run.signal("SIGINT");
    await run.finished;
    expect(await readSavedToken(configDirectory(home), first.url)).toBe(token);
    expect(await readSavedToken(configDirectory(home), "https://plants.example.org")).toBe(other);
  });

  it("can't be started when its token can't be saved, and then has none", async () => {
    const home = await createTemporaryDirectory();
    await writeFile(join(home, "file"), "");
    const env = { PLANTSTORE_CONFIG_DIR: join(home, "file") };
    const { exitCode, stdout, stderr } = await runCli(["serve", "--port", "0"], { home, env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^error: [^\n]*PLANTSTORE_CONFIG_DIR\n$/);

    const { url } = await startServe(home);
    expect(await create(home, url)).toMatchObject({ exitCode: 0 });
  });
});

describe("a store that has tokens", () => {
  it("issues no more of them, and says to whoever has none what to do", async () => {
    const home = await createTemporaryDirectory();
    const store = `sqlite:${join(home, "plants.db")}`;
    const first = await startServe(home, ["--store", store]);
    await first.stop();
    const elsewhere = await createTemporaryDirectory();
    const second = await startServe(elsewhere, ["--store", store]);
    expect(second.run.stderr()).toMatch(
      /No token of this store is saved.*`plantstore token issue`/,
    );
    expect(await create(elsewhere, second.url)).toMatchObject({ exitCode: 4 });
  });

  it("leaves a token of another store that is saved for its address as it is", async () => {
    const home = await createTemporaryDirectory();
    const first = await startServe(home);
    await first.stop();
    const { port } = new URL(first.url);
    const foreign = mintToken();
    await saveToken(configDirectory(home), first.url, foreign);
    const run = startCli(["serve", "--port", port], { home });
    await run.saw(first.url);
    run.signal("SIGTERM");
    expect((await run.finished).stderr).toMatch(/No token of this store is saved/);
    expect(await readSavedToken(configDirectory(home), first.url)).toBe(foreign);
  });

  it("passes over a saved token of another address that can't be read", async () => {
    const home = await createTemporaryDirectory();
    const first = await startServe(home);
    await first.stop();
    await writeFile(join(configDirectory(home), "credentials", "https%3A%2F%2Fa.json"), "{");
    const { url } = await startServe(home);
    expect(await create(home, url)).toMatchObject({ exitCode: 0 });
  });
});

describe("PLANTSTORE_TOKEN", () => {
  it("is accepted beside the issued token", async () => {
    const home = await createTemporaryDirectory();
    const env = { PLANTSTORE_TOKEN: "chosen" };
    const { url } = await startServe(home, [], { env });
    expect(await create(home, url, env)).toMatchObject({ exitCode: 0 });
    expect(await create(home, url)).toMatchObject({ exitCode: 0 });
    expect(await create(home, url, { PLANTSTORE_TOKEN: "other" })).toMatchObject({ exitCode: 4 });
  });

  it("suffices where no other one can be saved", async () => {
    const home = await createTemporaryDirectory();
    await writeFile(join(home, "file"), "");
    const env = { PLANTSTORE_TOKEN: "chosen", PLANTSTORE_CONFIG_DIR: join(home, "file") };
    const { url } = await startServe(home, [], { env });
    expect(await create(home, url, env)).toMatchObject({ exitCode: 0 });
  });

  it("is not stored", async () => {
    const home = await createTemporaryDirectory();
    const { stop } = await startServe(home, [], { env: { PLANTSTORE_TOKEN: "chosen-secret" } });
    const { stdout, stderr } = await stop();
    expect(stdout + stderr).not.toContain("chosen-secret");
    const files = (await readdir(home, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) expect(await readFile(file, "latin1")).not.toContain("chosen-secret");
  });
});

it("a closed stderr does not keep it from serving", async () => {
  const home = await createTemporaryDirectory();
  const run = startCli(["serve", "--port", "0", "--store", "memory:"], { home });
  run.closeStderr();
  await run.saw("http://127.0.0.1:");
  run.signal("SIGTERM");
  expect(await run.finished).toMatchObject({ exitCode: 0 });
});

it("a signal while it starts stops it", async () => {
  const home = await createTemporaryDirectory();
  const run = startCli(["serve", "--port", "0", "--store", "memory:"], { home });
  await expect.poll(() => run.signal("SIGINT")).toBe(true);
  expect(await run.finished).toMatchObject({ exitCode: 0 });
});

it.each([
  ["--host 0.0.0.0", "0.0.0.0", "http://127.0.0.1:"],
  ["--host ::1", "::1", "http://[::1]:"],
  ["--host localhost", "localhost", "http://localhost:"],
])("%s is announced as an address that can be reached", async (_what, host, start) => {
  const home = await createTemporaryDirectory();
  const run = startCli(["serve", "--host", host, "--port", "0", "--store", "memory:"], { home });
  await run.saw(start);
  const url = run.stdout().trim();
  expect(await create(home, url)).toMatchObject({ exitCode: 0, stdout: '{"name":"fern"}\n' });
  run.signal("SIGTERM");
  await run.finished;
});
