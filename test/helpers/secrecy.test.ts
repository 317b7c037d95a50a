/** The checks of every test find leaked tokens. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { mintToken } from "../../src/auth/authenticator.ts";
import { checkArguments, checkFiles, checkOutput } from "./secrecy.ts";

const token = mintToken();
const nothing = { argv: ["create"], stdout: "", stderr: "" };

describe("a token on an output", () => {
  it.each([
    ["of create", { ...nothing, stdout: `{"name":"${token}"}` }],
    ["as a message", { ...nothing, stderr: `error: ${token} was rejected` }],
    ["of serve, in a log", { ...nothing, argv: ["serve"], stderr: `issued ${token}` }],
    ["twice", { ...nothing, argv: ["token", "issue"], stdout: `${token}\n${token}\n` }],
    ["on the wrong stream", { ...nothing, argv: ["token", "issue"], stderr: `${token}\n` }],
    [
      "that the test chose",
      { ...nothing, env: { PLANTSTORE_TOKEN: "my-own-token" }, stderr: "my-own-token" },
    ],
  ])("is found: %s", (_what, run) => {
    expect(() => checkOutput(run)).toThrow("a token is on std");
  });

  it.each([
    ["none", { ...nothing, stdout: '{"name":"pst_4fGh"}' }],
    ["an issued token", { ...nothing, argv: ["token", "issue"], stdout: `${token}\n` }],
    [
      "the first token of a server",
      { ...nothing, argv: ["serve"], stderr: `a\n         ${token}\nb` },
    ],
  ])("is allowed: %s", (_what, run) => {
    expect(() => checkOutput(run)).not.toThrow();
  });
});

it("a token in the arguments is found", () => {
  expect(() => checkArguments(["create", `--token=${token}`])).toThrow("a token is in argv");
  expect(() => checkArguments(["create", "--name", "fern"])).not.toThrow();
});

it("a token in a file is found at any position, except in a file for tokens", async () => {
  const directory = await mkdtemp(join(tmpdir(), "plantstore-test-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, "token"), token);
  await expect(checkFiles(directory)).resolves.toBeUndefined();
  const filling = "\0".repeat(2 ** 20 - 20);
  await writeFile(join(directory, "plants.db"), filling + token + filling);
  await expect(checkFiles(directory)).rejects.toThrow("plants.db");
});
