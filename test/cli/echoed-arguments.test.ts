/** No message repeats a token that a user puts in the wrong place of a command line. */
import { describe, expect, it } from "vitest";
import { listCommands } from "../../.build/man-page.ts";
import { mintToken } from "../../src/auth/authenticator.ts";
import { toLongFlag } from "../../src/cli/options/remote.ts";
import { allTerminals, type CliOptions, runCli, startCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const token = mintToken();
const closedUrl = "http://127.0.0.1:9";

const commands = (await listCommands()).filter(({ words }) => words[0] !== "__complete");

/** Options whose value may look like a token: a host, a part of the URL, or a file that is created. */
const mayBeAnything = new Set(["--host", "--socket", "--base-path", "--public-url", "--rejects"]);

/** Each command with a token instead of each of its arguments. */
const mistakes: readonly (readonly string[])[] = [
  [token],
  [`--${token}`],
  ["help", token],
  ...commands.flatMap(({ words, command }) => {
    const rows = Object.values(command.options ?? {});
    const flags = rows.map((row) => ({
      long: toLongFlag(row.flags),
      hasValue: row.flags.endsWith(">"),
    }));
    // The number of its operands, and one more.
    const operands = (command.arguments ?? []).map(() => token);
    const values = flags
      .filter(({ hasValue, long }) => hasValue && !mayBeAnything.has(long))
      .flatMap(({ long }) => [
        [...words, long, token],
        [...words, `${long}=${token}`],
      ]);
    return [
      [...words, ...operands, token],
      ...(operands.length > 0 ? [[...words, ...operands]] : []),
      [...words, `--${token}`],
      [...words, `--tokne=${token}`],
      [...words, "--token", token],
      ...(flags.some(({ long }) => long === "--json") ? [[...words, `--json=${token}`]] : []),
      ...values,
    ];
  }),
];

async function expectSilence(argv: readonly string[], options: CliOptions = {}): Promise<void> {
  const run = startCli(argv, { home: await createTemporaryDirectory(), ...options });
  // A server that starts prints its URL.
  await run.saw("\n");
  const { stdout, stderr } = await run.stop();
  // The prefix may be shown, because it identifies the token.
  expect(stdout + stderr).not.toContain(token.slice(0, 12));
}

/** The name of a row, the same in every run. */
const toTitle = (argv: readonly string[]): string => argv.join(" ").replaceAll(token, "TOKEN");

describe("no output contains a token that is used as", () => {
  it.each(mistakes.map((argv) => [toTitle(argv), argv] as const))("%s", (_, argv) =>
    expectSilence(argv),
  );

  const fern = ["create", "--id", "1", "--name", "fern"];
  const address = `${closedUrl}/${token}`;
  it.each<[what: string, argv: readonly string[], options?: CliOptions]>([
    ["a file", ["create", `${token}.json`]],
    ["one of several files", ["create", token, token]],
    ["a file for rejects", ["create", "--rejects", `/nonexistent/${token}`], { stdin: "[1]" }],
    ["a URL without a server", [...fern, "--url", address]],
    ["a URL to log in to", ["login", "--url", address], { stdin: "of-their-own" }],
    ["a URL in a prompt", ["login", "--url", address], { terminals: allTerminals, stdin: "x\n" }],
    ["a URL to log out of", ["logout", "--url", address]],
    ["a store to read", ["list", "--store", `sqlite:/nonexistent/${token}`]],
    ["a store to serve", ["serve", "--store", `sqlite:/dev/null/${token}`]],
    ["a certificate", ["serve", "--store", "memory:", "--tls-cert", token, "--tls-key", token]],
    ["PLANTSTORE_URL", fern, { env: { PLANTSTORE_URL: token } }],
    ["PLANTSTORE_TOKEN_FILE", fern, { env: { PLANTSTORE_TOKEN_FILE: token } }],
    ["a path in PLANTSTORE_TOKEN_FILE", fern, { env: { PLANTSTORE_TOKEN_FILE: `./${token}` } }],
    ["PLANTSTORE_CONFIG_DIR", ["login"], { env: { PLANTSTORE_CONFIG_DIR: `/dev/null/${token}` } }],
  ])("%s", (_, argv, options = {}) =>
    expectSilence(argv, { env: { PLANTSTORE_TOKEN: "of-their-own" }, ...options }),
  );

  it.each(["status", "status --json"])("an argument of %s, on stdout", async (command) => {
    const store = `sqlite:/nonexistent/${token}`;
    const { stdout } = await runCli([...command.split(" "), "--store", store, "--url", address]);
    expect(stdout).toContain(closedUrl);
    expect(stdout).not.toContain(token.slice(0, 12));
  });
});

it.each([
  [
    ["create", "--id", "1", "--name", "fern", "--token-file", token],
    {},
    /^error: --token-file must be the file that contains the token, /,
  ],
  [
    ["status"],
    { PLANTSTORE_TOKEN_FILE: token, PLANTSTORE_URL: closedUrl },
    /PLANTSTORE_TOKEN_FILE must be the file that contains the token; /,
  ],
])("%j reports a token instead of the file that contains it", async (argv, env, message) => {
  const { exitCode, stdout, stderr } = await runCli(argv, { env });
  // For status, the missing server is the first error.
  expect(exitCode).toBe(argv[0] === "status" ? 6 : 2);
  expect(stdout + stderr).toMatch(message);
});
