/** The watch over tokens sees those that are where they should not be. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { mintToken } from "../../src/auth/token.ts";
import { checkArguments, checkFiles, checkOutput } from "./secrecy.ts";

const token = mintToken();
const nothing = { argv: ["create"], stdout: "", stderr: "" };

describe("a token on an output", () => {
  it.each([
    ["of create", { ...nothing, stdout: `{"name":"${token}"}` }],
    ["as a message", { ...nothing, stderr: `error: ${token} was refused` }],
    ["of serve, in a log", { ...nothing, argv: ["serve"], stderr: `issued ${token}` }],
    ["twice", { ...nothing, argv: ["token", "issue"], stdout: `${token}\n${token}\n` }],
    ["on the wrong one", { ...nothing, argv: ["token", "issue"], stderr: `${token}\n` }],
    [
      "of one's own",
      { ...nothing, env: { PLANTSTORE_TOKEN: "my-own-token" }, stderr: "my-own-token" },
    ],
  ])("%s is seen", (_what, run) => {
    expect(() => checkOutput(run)).toThrow("a token is on std");
  });

  it.each([
    ["none", { ...nothing, stdout: '{"name":"pst_4fGh"}' }],
    ["what was issued", { ...nothing, argv: ["token", "issue"], stdout: `${token}\n` }],
    ["the first one", { ...nothing, argv: ["serve"], stderr: `a\n         ${token}\nb` }],
  ])("is right: %s", (_what, run) => {
    expect(() => checkOutput(run)).not.toThrow();
  });
});

it("a token in the arguments is seen", () => {
  expect(() => checkArguments(["create", `--token=${token}`])).toThrow("a token is in argv");
  expect(() => checkArguments(["create", "--name", "fern"])).not.toThrow();
});

it("a token in a file is seen, wherever it lies, except where it is kept", async () => {
  const directory = await mkdtemp(join(tmpdir(), "plantstore-test-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, "token"), token);
  await expect(checkFiles(directory)).resolves.toBeUndefined();
  const filling = "\0".repeat(2 ** 20 - 20);
  await writeFile(join(directory, "plants.db"), filling + token + filling);
  await expect(checkFiles(directory)).rejects.toThrow("plants.db");
});
