import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { createProcessIo } from "../../src/cli/io.ts";
import { createProgram } from "../../src/cli/program/program.ts";
import { allTerminals, runCli } from "../helpers/run-cli.ts";

const program = createProgram(createProcessIo(), { exitCode: 0 });

/** The words that lead to each command that help names. */
function listCommands(command: Command): string[][] {
  const visible = command.createHelp().visibleCommands(command);
  const named = visible.filter((each) => each.name() !== "help");
  return named.flatMap((each) => [
    [each.name()],
    ...listCommands(each).map((words) => [each.name(), ...words]),
  ]);
}

describe("help", () => {
  it("is what `plantstore` alone prints, on stdout", async () => {
    const { exitCode, stdout, stderr } = await runCli([]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: plantstore \[options\] \[command\]\n/);
  });

  it.each([
    [["--help"], "Usage: plantstore [options] [command]"],
    [["-h"], "Usage: plantstore [options] [command]"],
    [["help"], "Usage: plantstore [options] [command]"],
    [["create", "--help"], "Usage: plantstore create [options] [file...]"],
    [["help", "create"], "Usage: plantstore create [options] [file...]"],
    [["serve", "-h"], "Usage: plantstore serve [options]"],
    [["help", "help"], "Usage: plantstore [options] [command]"],
    [["help", "token", "issue"], "Usage: plantstore token issue [options]"],
    [["token", "help", "issue"], "Usage: plantstore token issue [options]"],
    [["--color", "help", "create"], "Usage: plantstore create [options] [file...]"],
    [["create", "--name", "help", "-h"], "Usage: plantstore create [options] [file...]"],
  ])("%j is on stdout and succeeds", async (argv, firstLine) => {
    const { exitCode, stdout, stderr } = await runCli(argv);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.split("\n")[0]).toBe(firstLine);
  });

  describe.each([[], ...listCommands(program)].map((words) => [words.join(" "), words] as const))(
    "plantstore %s",
    (_, words) => {
      it.each([
        ["a pipe", {}],
        ["a wide terminal", { terminals: allTerminals, columns: 200 }],
        ["a terminal that does not tell its width", { terminals: allTerminals, columns: 0 }],
      ])("has at most 80 columns on %s", async (_what, options) => {
        const { stdout } = await runCli([...words, "--help"], options);
        const longest = Math.max(...stdout.split("\n").map((line) => line.length));
        expect(longest, stdout).toBeLessThanOrEqual(80);
        expect(longest, stdout).toBeGreaterThan(60);
      });

      it("says how it is called and what it does, then has examples first and exit codes last", async () => {
        const { stdout } = await runCli([...words, "--help"]);
        const command = ["plantstore", ...words].join(" ");
        const [usage = "", sentence = "", examples = ""] = stdout.split("\n\n");
        expect(usage.slice(0, `Usage: ${command} `.length)).toBe(`Usage: ${command} `);
        expect(sentence).toMatch(/^[A-Z][^]*\.$/);
        expect(examples).toMatch(/^Examples:\n/);
        const headings = [...stdout.matchAll(/^[A-Z][^\n:]*(?=:$)/gm)].map(([heading]) => heading);
        expect(headings[0]).toBe("Examples");
        expect(headings.at(-1)).toBe("Exit codes");
        expect(stdout).toMatch(/\nExit codes:\n {2}0 +done\n/);
      });

      it.each([80, 40])(
        "has lines as long as %i columns let them be, and examples as they are typed",
        async (columns) => {
          const options = { terminals: allTerminals, columns };
          const { stdout } = await runCli([...words, "--help"], options);
          const [, sentences = "", examples = ""] = stdout.split("\n\n");
          const lines = sentences.split("\n");
          for (const [index, line] of lines.slice(1).entries()) {
            const [word = ""] = line.split(" ");
            expect(`${lines[index]} ${word}`.length, stdout).toBeGreaterThan(columns);
          }
          if (columns === 80) expect(examples).toMatch(/^Examples:(\n {2}.+)+$/);
        },
      );

      it("keeps a variable beside its word", async () => {
        const { stdout } = await runCli([...words, "--help"]);
        expect(stdout).not.toMatch(/env:\n/);
      });
    },
  );

  it("has the commands in groups, in the order in which people come to need them", async () => {
    const { stdout } = await runCli(["--help"]);
    const groups = [...stdout.matchAll(/^([A-Z][a-z]+):\n((?: {2}[a-z].*\n)+)/gm)].map(
      ([, heading, lines = ""]) => [heading, lines.match(/(?<=^ {2})[a-z]+/gm)],
    );
    expect(groups).toContainEqual(["Plants", ["serve", "create", "list", "get", "export"]]);
    expect(groups).toContainEqual(["Tokens", ["token", "login", "status", "logout"]]);
    expect(groups).toContainEqual(["Help", ["doctor", "explain", "openapi", "completion", "help"]]);
  });

  it.each([
    ["serve", ["Address", "Plants", "Limits", "In a browser", "Metrics and log", "Options"]],
    ["create", ["Plant", "Input", "Output", "Sending", "Options"]],
  ])("of %s has its options in groups", async (command, groups) => {
    const { stdout } = await runCli([command, "--help"]);
    const headings = [...stdout.matchAll(/^([A-Z][a-z ]+):\n {2}-/gm)].map(
      ([, heading]) => heading,
    );
    expect(headings).toEqual(groups);
  });

  it("has its columns also on a terminal of 40", async () => {
    const { stdout } = await runCli(["list", "--help"], { terminals: allTerminals, columns: 40 });
    expect(stdout).toContain("  --after <id>   only plants with a\n                 larger id\n");
  });

  it("names the default and the variable of each setting", async () => {
    const { stdout } = await runCli(["serve", "--help"]);
    expect(stdout).toMatch(/--port <port> .*\n +\(default: 7526, env: PLANTSTORE_PORT\)/);
    const { stdout: create } = await runCli(["create", "--help"]);
    expect(create).toMatch(
      /--url <url> .*\n +\(default: that of the last login, or\s+http:\/\/127\.0\.0\.1:7526,\s+env: PLANTSTORE_URL\)/,
    );
  });
});

it("--version names the package's version, the interface, Node and the platform in one line", async () => {
  const { exitCode, stdout, stderr } = await runCli(["--version"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toBe(
    `plantstore ${manifest.version} (plant store 1.0.0, Node.js 20.20.2, linux x64)\n`,
  );
});

describe("wrong usage", () => {
  it.each([
    [["creat"], /^error: unknown command 'creat': did you mean create\?\nsee "plantstore --help"$/],
    [
      ["create", "--nmae", "fern"],
      /^error: unknown option '--nmae': did you mean --name\?\nsee "plantstore create --help"$/,
    ],
    [["create", "--id"], /^error: --id has no value: write --id <integer>\nsee "/],
    [["create", "--rejects"], /^error: --rejects has no value: write --rejects <file>\nsee "/],
    [
      ["get", "1", "2"],
      /^error: too many arguments for 'get' \(2 instead of 1\): text with spaces needs quotation marks\nsee "/,
    ],
    [
      ["create", "--id", "1", "--name", "my", "fern"],
      /^error: two plants: give either a file .* \("fern" is taken for a file: text with spaces needs quotation marks\)$/,
    ],
    [
      ["create", "--id", "--name", "fern"],
      /^error: two plants: give either a file .* \("fern" is taken for a file: --id has no value, and took --name for it\)$/,
    ],
    [["create", "--id", "1", "-"], /^error: two plants: give either a file or the flags .* --tag$/],
    [
      ["--json", "status"],
      /^error: unknown option '--json': the options of a command follow its name\nsee "plantstore --help"$/,
    ],
    [
      ["--versoin"],
      /^error: unknown option '--versoin': did you mean --version\?\nsee "plantstore --help"$/,
    ],
    [["create", ""], /^error: "" can't be read: ENOENT: no such file or directory$/],
    [["create", "/"], /^error: \/ can't be read: it is a directory$/],
    [
      ["create", "--id", "1", "--name", "fern", "--token-file", "/nowhere"],
      /^error: the file \/nowhere can't be read: ENOENT: no such file or directory$/,
    ],
    [
      ["create", "--id", "1", "--name", "fern", "--token-file", ""],
      /^error: the file "" can't be read: ENOENT: no such file or directory$/,
    ],
    [["create", "-", "-"], /^error: standard input \(-\) is given twice/],
    [["help", "creat"], /^error: unknown command 'creat': did you mean create\?\nsee/],
    [["creat", "--help"], /^error: unknown command 'creat': did you mean create\?\nsee/],
    [
      ["help", "token", "isue"],
      /^error: unknown command 'isue': did you mean issue\?\nsee "plantstore token --help"$/,
    ],
    [["token", "isue", "--help"], /^error: unknown command 'isue': did you mean issue\?\nsee/],
    [["serve", "now"], /^error: too many arguments for 'serve'/],
    [["serve", "--port", "x"], /^error: --port is "x": it must be a whole number from 0 to 65535$/],
    [["create", "--id", "1", "--id", "2"], /^error: --id is given twice: leave one of them out$/],
    [["create", "--name", "a", "--name", "a"], /^error: --name is given twice/],
    [["create", "--id", "1", "plant.json"], /^error: two plants: give either a file or the flags/],
    [["create", "--tag", "", "-"], /^error: two plants: give either a file or the flags/],
    [["create", "--url", "nowhere", "--id", "1"], /^error: --url is "nowhere": it must be a URL/],
    [["create", "--token-file", "-"], /^error: standard input is the token \(--token-file -\)/],
    [
      ["create", "--token-file", "-", "-"],
      /^error: standard input is the token \(--token-file -\)/,
    ],
    [["create", "--nöpe\u001b[31m"], /^error: unknown option '--nöpe\\u001b\[31m'/],
  ])("%j exits 2 with a line on stderr, and another on where to read on", async (argv, message) => {
    const { exitCode, stdout, stderr } = await runCli(argv);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+\n(?:see "[^\n]+"\n)?$/);
    expect(stderr.trimEnd()).toMatch(message);
  });

  it.each([
    [["create", "--token", "pst_secret", "--id", "1"]],
    [["create", "--token=pst_secret", "--id", "1"]],
    [["create", "--token"]],
    [["serve", "--token", "pst_secret"]],
    [["--token", "pst_secret", "create"]],
  ])("%j says why there is no --token, and what to use", async (argv) => {
    const { exitCode, stderr } = await runCli(argv);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/no --token, because other users .* PLANTSTORE_TOKEN.* --token-file/);
    expect(stderr).not.toContain("secret");
  });

  it("does not repeat a token that stands in the wrong place", async () => {
    const { exitCode, stderr } = await runCli(["create", "--tokn=pst_secret"]);
    expect(exitCode).toBe(2);
    expect(stderr).not.toContain("secret");
  });

  it("shows help on stderr when only the command is missing", async () => {
    const { exitCode, stdout, stderr } = await runCli(["--no-color"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^Usage: plantstore/);
  });

  it("finds an argument that is not UTF-8", async () => {
    const argv = ["create", "--id", "1", "--name", "f\uFFFDrn"];
    const commandLine = Buffer.from("node\0x\0create\0--id\x001\0--name\0f\xFFrn\0", "latin1");
    const { exitCode, stderr } = await runCli(argv, { commandLine });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: argument 5 is not UTF-8 .*\n$/);
  });
});

describe("colour", () => {
  const wrong = ["create", "--id"];
  it.each([
    ["a terminal gets it", wrong, { terminals: allTerminals }, true],
    ["a pipe does not", wrong, {}, false],
    ["NO_COLOR", wrong, { terminals: allTerminals, env: { NO_COLOR: "1" } }, false],
    ["--color before the command", ["--color", ...wrong], {}, true],
    ["--no-color after it", ["create", "--no-color", "--id"], { terminals: allTerminals }, false],
    ["the last one counts", ["--no-color", "create", "--color", "--id"], {}, true],
  ])("%s", async (_rule, argv, options, isColored) => {
    const { stderr } = await runCli(argv, options);
    expect(stderr.includes("\u001b[31m")).toBe(isColored);
    expect(stderr).toMatch(/error/);
  });
});

it("what nobody foresaw is called a bug, and shown with its stack", async () => {
  const broken = new Proxy<Record<string, string>>(
    {},
    {
      get(_, name) {
        if (name === "PLANTSTORE_URL") throw new TypeError("nobody foresaw this");
      },
    },
  );
  const argv = ["create", "--id", "1", "--name", "fern"];
  const { exitCode, stdout, stderr } = await runCli(argv, { env: broken });
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toMatch(
    /^error: this is a bug in plantstore, please report it with these lines\n/,
  );
  expect(stderr).toMatch(/^TypeError: nobody foresaw this\n +at /m);
});
