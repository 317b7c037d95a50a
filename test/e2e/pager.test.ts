/** `plantstore help TOPIC` on a terminal: a pager shows the topic, as in git. */
import { describe, expect, it } from "vitest";
import { startSession } from "../helpers/pseudo-terminal.ts";
import { allTerminals, runCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const { stdout } = await runCli(["help", "storage"], { terminals: allTerminals });
/** The topic as a terminal shows it. */
const topic = stdout.replaceAll("\n", "\r\n");
const [title] = topic.split("\r\n");

/** Shows a topic, and then the exit code. */
async function startHelp(env: Readonly<Record<string, string>>, commands: readonly string[] = []) {
  const home = await createTemporaryDirectory();
  const lines = [...commands, "$PLANTSTORE help storage", 'echo "exit $?"'];
  return startSession(lines.join("\n"), home, env);
}

async function showHelp(...args: Parameters<typeof startHelp>): Promise<string> {
  const { finished } = await startHelp(...args);
  return finished;
}

describe("the pager", () => {
  it("is a command line of the shell in PAGER, which reads the topic", async () => {
    const screen = await showHelp({ PAGER: "grep -c '' | sed 's/^/lines: /'" });
    expect(screen).toMatch(/^lines: \d\d+\r\nexit 0\r\n$/);
  });

  it("is less by default, with the options that git sets", async () => {
    const screen = await showHelp({}, [
      "printf '#!/bin/sh\\nread title; echo \"$LESS shows $title\"' > less",
      "chmod +x less",
      "PATH=$PWD:$PATH",
    ]);
    expect(screen).toBe(`FRX shows ${title}\r\nexit 0\r\n`);
  });

  it("gets the options in LESS", async () => {
    expect(await showHelp({ PAGER: 'echo "options: $LESS"', LESS: "-i" })).toBe(
      "options: -i\r\nexit 0\r\n",
    );
  });

  it("may end before it has read the topic", async () => {
    expect(await showHelp({ PAGER: "exec <&-; echo closed; sleep 0.1" })).toBe(
      "closed\r\nexit 0\r\n",
    );
  });

  it("may fail", async () => {
    expect(await showHelp({ PAGER: "false" })).toBe("exit 0\r\n");
  });

  it("has the terminal to itself, with every Ctrl-C", async () => {
    const pager = [
      'trap "echo interrupted" INT',
      "cat > shown",
      "echo started",
      "until read -r key < /dev/tty; do :; done",
      'echo "key $key"',
    ];
    const session = await startHelp({ PAGER: pager.join("\n") }, ["trap : INT"]);
    await session.saw("started");
    for (let count = 1; count <= 3; count++) {
      session.type("\u0003");
      await expect.poll(() => session.screen().split("interrupted").length - 1).toBe(count);
    }
    session.type("q\r");
    expect(await session.finished).toMatch(/key q\r\nexit 0\r\n$/);
  });
});

describe("a topic is printed", () => {
  it.each([
    ["for PAGER=cat", "cat"],
    ["for an empty PAGER", ""],
    ["if the command in PAGER does not exist", "plantstore-pager -x"],
    ["if the command in PAGER cannot be run", "/dev/null"],
  ])("%s", async (_, pager) => {
    const screen = await showHelp({ PAGER: pager });
    expect(screen.endsWith(`${topic}exit 0\r\n`)).toBe(true);
  });

  it("if less is not installed", async () => {
    const screen = await showHelp({}, ["PATH=/nonexistent"]);
    expect(screen).toBe(`${topic}exit 0\r\n`);
  });

  it("to a pipe and to a file", async () => {
    const screen = await showHelp({ PAGER: "echo paged; cat" }, [
      "$PLANTSTORE help storage | head -n 1",
      "$PLANTSTORE help storage > file",
      "head -n 1 file",
    ]);
    expect(screen.startsWith(`${title}\r\n${title}\r\npaged\r\n${title}\r\n`)).toBe(true);
  });
});
