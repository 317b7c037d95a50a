/** `plantstore login` on a real terminal: no typed character is shown, and the terminal keeps its settings. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mintToken } from "../../src/auth/authenticator.ts";
import { readSavedToken, toTokenFile } from "../helpers/credentials.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { startSession } from "../helpers/pseudo-terminal.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const question = "(it is not shown): ";

/** Starts a session that asks for a token, between two lines with the settings of the terminal. */
async function startLogin(url: string) {
  const home = await createTemporaryDirectory();
  const commands = [
    'echo "before $(stty -g)"',
    'stty -a | grep -qE "(^| )echo( |;)" && echo "echo is on"',
    `sh -c 'echo "pid $$"; exec $PLANTSTORE login --url ${url}'`,
    'echo "exit $?"',
    'echo "after $(stty -g)"',
  ];
  const session = startSession(commands.join("\n"), home);
  await session.saw(question);
  const find = (pattern: RegExp) => pattern.exec(session.screen())?.[1];
  return {
    ...session,
    configDirectory: join(home, ".config/plantstore"),
    pid: () => Number(find(/pid (\d+)/)),
    /** Resolves with the exit code after the terminal has its settings again. */
    async exitCode() {
      await session.finished;
      expect(session.screen()).toContain("echo is on");
      expect(find(/after (\S+)/)).toBe(find(/before (\S+)/));
      return Number(find(/exit (\d+)/));
    },
  };
}

describe("a token that is typed", () => {
  it("is not shown, and is saved if the server accepts it", async () => {
    await using server = await startServer();
    const login = await startLogin(server.url);
    login.type(`${testToken}\r`);
    expect(await login.exitCode()).toBe(0);
    expect(login.screen()).toContain(`logged in to ${server.url}, which is now`);
    for (let end = 4; end <= testToken.length; end++) {
      expect(login.screen()).not.toContain(testToken.slice(end - 4, end));
    }
    expect(readSavedToken(login.configDirectory, server.url)).toBe(testToken);
  });

  it("can be corrected", async () => {
    await using server = await startServer();
    const login = await startLogin(server.url);
    login.type(`nonsense\u0015${testToken}x\u007F\r`);
    expect(await login.exitCode()).toBe(0);
    expect(readSavedToken(login.configDirectory, server.url)).toBe(testToken);
  });

  it("is neither shown nor saved if the server rejects it", async () => {
    await using server = await startServer();
    const login = await startLogin(server.url);
    const token = mintToken();
    login.type(`${token}\r`);
    expect(await login.exitCode()).toBe(4);
    expect(login.screen()).toContain("error 40102: ");
    expect(login.screen()).not.toContain(token.slice(4, 12));
    expect(readSavedToken(login.configDirectory, server.url)).toBeUndefined();
  });
});

it("the question is repeated after Ctrl-Z, and ignores the earlier keys", async () => {
  await using server = await startServer();
  const home = await createTemporaryDirectory();
  const login = `$PLANTSTORE login --url ${server.url}`;
  const session = startSession(["set -m", login, "fg", 'echo "exit $?"'].join("\n"), home);
  await session.saw(question);
  session.type("pst_half\u001A");
  await expect.poll(() => session.screen().split(question).length - 1).toBe(2);
  session.type(`${testToken}\r`);
  await session.saw("exit 0");
  expect(readSavedToken(join(home, ".config/plantstore"), server.url)).toBe(testToken);
});

describe("ending the question", () => {
  it.each([
    ["Ctrl-C", "\u0003", 130, "error: stopped by SIGINT: nothing was saved"],
    ["Ctrl-C in the middle of a token", "pst_4fGh\u0003", 130, "error: stopped by SIGINT"],
    ["Ctrl-D", "\u0004", 4, "error: no token was typed"],
    ["Enter", "\r", 4, "error: the token from the terminal is empty"],
  ])("with %s restores the terminal", async (_key, keys, exitCode, message) => {
    await using server = await startServer();
    const login = await startLogin(server.url);
    login.type(keys);
    expect(await login.exitCode()).toBe(exitCode);
    expect(login.screen()).toContain(message);
    expect(login.screen()).not.toContain("pst_4fGh");
    const file = toTokenFile(login.configDirectory, server.url);
    await expect(readFile(file)).rejects.toThrow("ENOENT");
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("with %s restores the terminal", async (signal, exitCode) => {
    await using server = await startServer();
    const login = await startLogin(server.url);
    process.kill(login.pid(), signal);
    expect(await login.exitCode()).toBe(exitCode);
    expect(login.screen()).toContain(`error: stopped by ${signal}: nothing was saved`);
  });
});

it("a token in a pipe is read without a message, and without a question on the terminal", async () => {
  await using server = await startServer();
  const home = await createTemporaryDirectory();
  const session = startSession(`printf %s "$TOKEN" | $PLANTSTORE login --url ${server.url}`, home, {
    TOKEN: testToken,
  });
  const screen = await session.finished;
  expect(screen).not.toContain("reading the token");
  expect(screen).toContain("logged in to");
  expect(screen).not.toContain(question);
});
