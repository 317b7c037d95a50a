import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { listCommands } from "../../.build/man-page.ts";
import { listManualFiles, listReference, listTopics } from "../../src/cli/topics.ts";
import { toTerminalText } from "../../src/cli/commands/help.ts";
import { uncolored } from "../../src/cli/terminal/terminal.ts";
import { allTerminals, containing, runCli } from "../helpers/run-cli.ts";

const commands = await listCommands();
/** The words that lead to each command in help. */
const visibleCommands = commands.flatMap(({ words, command }) =>
  command.isHidden === true ? [] : [words],
);

describe("help", () => {
  it("is printed on stdout by `plantstore` without a command", async () => {
    expect(await runCli([])).toPrint(/^Usage: plantstore \[options\] \[command\]\n/);
  });

  it.each([
    [["--help"], "Usage: plantstore [options] [command]"],
    [["-h"], "Usage: plantstore [options] [command]"],
    [["help"], "Usage: plantstore [options] [command]"],
    [["create", "--help"], "Usage: plantstore create [options] [file...]"],
    [["help", "create"], "Usage: plantstore create [options] [file...]"],
    [["serve", "-h"], "Usage: plantstore serve [options]"],
    [["help", "help"], "Usage: plantstore help [options] [word...]"],
    [["help", "token", "issue"], "Usage: plantstore token issue [options]"],
    [["token", "help", "issue"], "Usage: plantstore token issue [options]"],
    [["--color", "help", "create"], "Usage: plantstore create [options] [file...]"],
    [["token", "--help"], "Usage: plantstore token [options] [command]"],
    [["create", "--name", "help", "-h"], "Usage: plantstore create [options] [file...]"],
  ])("of %j is printed on stdout, and the exit code is 0", async (argv, firstLine) => {
    const { exitCode, stdout, stderr } = await runCli(argv);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.split("\n")[0]).toBe(firstLine);
  });

  describe.each([[], ...visibleCommands].map((words) => [words.join(" "), words] as const))(
    "plantstore %s",
    (_, words) => {
      it.each([
        ["a pipe", {}],
        ["a wide terminal", { terminals: allTerminals, columns: 200 }],
        ["a terminal that does not report its width", { terminals: allTerminals, columns: 0 }],
      ])("has at most 80 columns on %s", async (_what, options) => {
        const { stdout } = await runCli([...words, "--help"], options);
        const longest = Math.max(...stdout.split("\n").map((line) => line.length));
        expect(longest, stdout).toBeLessThanOrEqual(80);
        expect(longest, stdout).toBeGreaterThan(60);
      });

      it("begins with the usage and the purpose, and ends with exit codes and examples", async () => {
        const { stdout } = await runCli([...words, "--help"]);
        const command = ["plantstore", ...words].join(" ");
        const [usage = "", sentence = ""] = stdout.split("\n\n");
        expect(usage.slice(0, `Usage: ${command} `.length)).toBe(`Usage: ${command} `);
        expect(sentence).toMatch(/^[A-Z][^]*\.$/);
        const headings = [...stdout.matchAll(/^[A-Z][^\n:]*(?=:$)/gm)].map(([heading]) => heading);
        expect(headings.slice(-2)).toEqual(["Exit codes", "Examples"]);
        expect(stdout).toMatch(/\nExit codes:\n {2}0 +Done\n/);
        expect(stdout).toMatch(/\nExamples:\n(?: {2,}\S.*\n)+$/);
      });
    },
  );

  it("is wrapped at the width of a narrow terminal, except for usage and examples", async () => {
    const { stdout } = await runCli(["create", "--help"], { terminals: allTerminals, columns: 50 });
    const [texts = ""] = stdout.split("\nExamples:\n");
    expect(Math.max(...texts.split("\n").map((line) => line.length)), texts).toBeLessThanOrEqual(
      50,
    );
  });

  it("groups the commands that need a server and those that need a store", async () => {
    const { stdout } = await runCli(["--help"]);
    const groups = [...stdout.matchAll(/^([A-Z][-a-z, ]+):\n((?: {2}[a-z].*\n)+)/gm)].map(
      ([, heading, lines = ""]) => [heading, lines.match(/(?<=^ {2})[a-z]+/gm)],
    );
    expect(groups.map(([heading]) => heading)).toEqual([
      "Server",
      "Commands that talk to a server",
      "Commands that open a store, or with --url talk to a server",
      "Commands that open a store",
      "Other commands",
      "Guides",
      "Reference",
      "Examples",
    ]);
    const members = Object.fromEntries(groups) as Record<string, readonly string[]>;
    expect(members["Server"]).toEqual(["serve"]);
    expect(members["Commands that talk to a server"]).toEqual(
      expect.arrayContaining(["create", "ping", "login", "logout", "status"]),
    );
    expect(members["Commands that open a store, or with --url talk to a server"]).toEqual(
      expect.arrayContaining(["list", "get", "export", "delete"]),
    );
    expect(members["Commands that open a store"]).toEqual(expect.arrayContaining(["token"]));
    expect(members["Other commands"]).toEqual(
      expect.arrayContaining(["explain", "openapi", "completion", "help"]),
    );
  });

  it.each([
    ["serve", ["Address", "Plants", "In a browser", "Metrics and log", "For tests of clients"]],
    ["create", ["Plant", "Input", "Output", "Sending"]],
  ])("of %s has its options in groups", async (command, groups) => {
    const { stdout } = await runCli([command, "--help"]);
    expect(stdout.match(/^[A-Z][a-z ]+(?=:\n {2}-)/gm)).toEqual(groups);
  });

  it.each([
    ["create", 60],
    ["list", 40],
    ["serve", 80],
  ])("of %s has at most %d lines on a terminal of 80 columns", async (command, lines) => {
    const { stdout } = await runCli([command, "--help"], { terminals: allTerminals, columns: 80 });
    expect(stdout.trimEnd().split("\n").length, stdout).toBeLessThanOrEqual(lines);
  });

  it("names the default of each option, and where all variables are", async () => {
    const { stdout } = await runCli(["serve", "--help"]);
    expect(stdout).toMatch(/--port <port> .* \(default: 7526\)\n/);
    expect((await runCli(["--help"])).stdout).toContain(
      "  Options also have variables, such as PLANTSTORE_URL for --url",
    );
    const { stdout: create } = await runCli(["create", "--help"]);
    expect(create).toMatch(
      /--url <url> .*\s+\(default:\s+saved\s+URL, or\s+http:\/\/127\.0\.0\.1:7526\)/,
    );
  });

  it("leaves out the flags that every command has, and limits, which are accepted", async () => {
    const { stdout } = await runCli(["serve", "--help"]);
    expect(stdout).not.toMatch(/--color|-h, --help|--max-connections|--drain <time>/);
    const result = await runCli(["serve", "--max-connections", "x"]);
    expect(result).toExit(2, /^error: --max-connections must be a whole number/);
    expect((await runCli(["--help"])).stdout).toMatch(/^ {2}--no-color +.*\n.*\n {2}-h, --help/m);
  });
});

it("--version names the package's version, the interface, Node and the platform in one line", async () => {
  const output = `plantstore ${manifest.version} (plant store 1.0.0, Node.js 20.20.2, linux x64)\n`;
  expect(await runCli(["--version"])).toPrint(output);
});

it.each(listManualFiles())("%s of the manual is printed by help, byte by byte", async (name) => {
  const expected = readFileSync(new URL(`../../src/manual/${name}`, import.meta.url), "utf8");
  for (const terminals of [{}, allTerminals]) {
    expect(await runCli(["help", name], { terminals, columns: 40 })).toPrint(expected);
  }
});

describe("a topic of the manual", () => {
  const topics = listTopics().map(([name]) => name);

  it.each(topics)("%s is printed by help as it is, in at most 80 columns", async (topic) => {
    const path = topic === "changelog" ? ".github/CHANGELOG.md" : `src/manual/${topic}.md`;
    const result = await runCli(["help", topic]);
    expect(result).toPrint(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));
    // A terminal breaks the lines of JSON that commands print.
    const isText = (line: string) => !line.trimStart().startsWith("{");
    const lines = result.stdout.split("\n").filter(isText);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it.each(topics)(
    "%s is text on a terminal, without Markdown's links, fences and headings",
    async (topic) => {
      const { stdout } = await runCli(["help", topic], { terminals: allTerminals });
      expect(stdout).not.toMatch(/^```|\]\(|\.md#/m);
      const code = /^(?: {4}.*\n)+/gm;
      expect(stdout.replaceAll(code, "")).not.toMatch(/^#/m);
    },
  );

  it("names the topics behind links on a terminal, sets headings off, and indents code", async () => {
    const palette = { ...uncolored, bold: (text: string) => `<${text}>` };
    const text = [
      "# Title\n",
      "See [TLS and\nproxies](tls-and-proxies.md#cors), [bulk](bulk.md), [above](#title) and",
      "[here](https://example.org/a).\n",
      "```sh\nls [a](b.md)\n```\n",
      "    # [x](bulk.md)\n",
    ].join("\n");
    const shown = [
      "<Title>\n=====\n",
      'See TLS and\nproxies (help tls-and-proxies), "help bulk", above and',
      "here (https://example.org/a).\n",
      "    ls [a](b.md)\n",
      "    # [x](bulk.md)\n",
    ].join("\n");
    expect(toTerminalText(text, palette, ["bulk", "tls-and-proxies"])).toBe(shown);
  });

  it("prints a topic whatever its case", async () => {
    expect(await runCli(["help", "Bulk"])).toEqual(await runCli(["help", "bulk"]));
  });

  it("is in the list of help", async () => {
    const { stdout } = await runCli(["--help"]);
    const readRows = (pattern: RegExp): string[][] => {
      const [, list = ""] = pattern.exec(stdout) ?? [];
      return list
        .trim()
        .split("\n")
        .map((row) => row.trim().split(/ {2,}/));
    };
    const rows = "((?: {2}.*\\n)+?)";
    expect(readRows(new RegExp(`^Guides:\n${rows}\n`, "m"))).toEqual([
      ["try", "Try it on a documentation site"],
      ["test", "Test an API client"],
      ["nightly", "Send a file every night"],
      ["run", "Run a server"],
    ]);
    const reference = readRows(new RegExp(`^Reference:\n${rows} {2}"plantstore help TOPIC"`, "m"));
    expect(reference).toEqual(listReference());
    expect(reference).toContainEqual(["tls-and-proxies", "TLS and proxies"]);
  });
});

describe("the help of a command", () => {
  it("lists only exit codes of this command", async () => {
    const { stdout } = await runCli(["ping", "--help"]);
    expect(stdout).not.toMatch(/^ {2}[345] /m);
  });

  it.each([
    ["serve", "3  Invalid plant in a seed, or the store is damaged"],
    ["create", "3  Invalid plant, found here or by the server"],
    ["ping", "6  The server is unavailable; a retry may succeed"],
    ["verify", "3  The file is damaged, or has triggers"],
    ["list", "6  The server or the store is unavailable; a retry may succeed"],
    ["delete", "8  Some of several deletions failed"],
    ["token revoke", "9  No such token"],
  ])("of %s has exit codes in its own words: %s", async (words, line) => {
    expect(await runCli([...words.split(" "), "--help"])).toPrint(containing(`\n  ${line}\n`));
  });

  it.each(["list", "get", "export"])("of `%s` names the store and its default", async (name) => {
    const help = await runCli([name, "--help"]);
    expect(help).toPrint(/--store <url> .*\s+\(default:\s+<data\s+dir>\/plants\.db\)/);
    expect(help).toPrint(/^Options:$[^]*^Environment \(empty means unset\):$/m);
  });

  it("shows no default of a switch", async () => {
    expect(await runCli(["serve", "--help"])).toPrint(/--no-docs +.* \/docs\n/);
  });
});

describe("wrong usage", () => {
  const create = "plantstore create";
  const root = "plantstore";
  const noStore = /^no '--store': this command talks to a server, .* with --url$/;

  it.each<[words: string, command: string, problem: string | RegExp]>([
    ["--json status", root, "unknown option '--json'"],
    ["post", root, "unknown command 'post'"],
    ["create --nmae fern", create, "unknown option '--nmae' (Did you mean --name?)"],
    ["serve --cert x", "plantstore serve", "unknown option '--cert'"],
    ["create --store x.db --id 1", create, noStore],
    ["ping --store x.db", "plantstore ping", noStore],
    ["create --id", create, "option '--id <integer>' argument missing"],
    ["create --rejects", create, "option '--rejects <file>' argument missing"],
    ["get", "plantstore get", "missing required argument 'id'"],
    ["serve 8080", "plantstore serve", "unexpected argument '8080': remove it"],
    [
      "export plants.ndjson",
      "plantstore export",
      "the data goes to standard output: use > FILE to write a file",
    ],
    [
      "create --id 1 --name my fern",
      create,
      /^use a FILE or --id\/--name\/--tag, not both \("fern" is read as a file: text with spaces needs quotation marks\)$/,
    ],
    [
      "create --id --name fern",
      create,
      /^--id has no value: add one before --name, or write --id=--name$/,
    ],
    ["create --id 1 -", create, /^use a FILE or --id\/--name\/--tag, not both$/],
    ["create - -", create, /^standard input \(-\) is given twice/],
    ["create --id 1 --id 2", create, "--id is given twice: remove one of them"],
    ["create --name a --name a", create, /^--name is given twice/],
    ["create --id 1 plant.json", create, /^use a FILE or /],
    ["create --tag= -", create, /^use a FILE or /],
    ["create --token-file -", create, /^standard input is the token \(--token-file -\)/],
    ["create --token-file - -", create, /^standard input is the token/],
    ["create --nöpe\u001b[31m", create, "unknown option '--nöpe\\u001b[31m'"],
    ["frob ls", root, "unknown command 'frob'"],
  ])("%j exits 2 with the problem, and where to read more", async (words, command, problem) => {
    const { stderr, ...end } = await runCli(words.split(" "));
    expect(end).toEqual({ exitCode: 2, stdout: "" });
    const [first = "", ...others] = stderr.split("\n");
    const message = first.replace(/^error: /, "");
    if (typeof problem === "string") expect(message).toBe(problem);
    else expect(message).toMatch(problem);
    expect(others).toEqual([`See "${command} --help"`, ""]);
  });

  it.each([
    ["creat", "creat", "create"],
    ["creat --help", "creat", "create"],
    ["doctor", "doctor", "status"],
    ["config list", "config", "status"],
    ["import plants.csv", "import", "create"],
    ["remove 7", "remove", "delete"],
    ["put --id 1", "put", "create"],
    ["update", "update", "create"],
    ["count", "count", "list --count"],
    ["version", "version", "--version"],
    ["token isue --help", "isue", "token issue", "plantstore token"],
    ["token create", "create", "token issue", "plantstore token"],
  ])(
    "%j names the command to use instead of %s: %s",
    async (words, word, command, group = root) => {
      const advice = `Did you mean:\n  plantstore ${command}\nSee "${group} --help"\n`;
      const result = await runCli(words.split(" "));
      expect(result).toExit(2, `error: unknown command '${word}'\n${advice}`);
    },
  );

  const guess = "Did you mean:\n  plantstore";
  const list = "List commands and topics:\n  plantstore help";

  it.each([
    ["help creat", "creat", `${guess} help create`],
    ["help configuratoin", "configuratoin", `${guess} help configuration`],
    ["help TLS", "TLS", `${guess} help tls-and-proxies`],
    ["help back", "back", `${guess} help backup`],
    ["help token isue", "isue", `${guess} token help issue`],
    ["help con", "con", list],
    ["help __", "__", list],
    ["help frob", "frob", list],
    ["help storage now", "storage", list],
  ])("%j exits 2, and names the command that helps", async (words, word, advice) => {
    const message = `error: unknown command or topic '${word}'\n${advice}\n`;
    const result = await runCli(words.split(" "));
    expect(result).toExit(2, `${message}See "plantstore help --help"\n`);
  });

  it.each([
    ["create ", /^error: "" does not exist\n$/],
    ["create /", /^error: \/ cannot be read: it is a directory\n$/],
    [
      "create --id 1 --name a --token-file /nowhere",
      /^error: the file \/nowhere does not exist\n$/,
    ],
    ["create --id 1 --name a --token-file ", /^error: the file "" does not exist\n$/],
    ["create --url nowhere --id 1", /^error: --url must be a URL .*"nowhere"\)\n$/],
    ["get x", /^error: the id must be an integer from .* \(got "x"\)\n$/],
    ["serve --port x", /^error: --port must be a whole number from 0 to 65535 \(got "x"\)\n$/],
  ])("%j exits 2 with one line about the file or the invalid value", async (words, message) => {
    expect(await runCli(words.split(" "))).toExit(2, message);
  });

  it.each([
    [["create", "--token", "pst_secret", "--id", "1"]],
    [["create", "--token=pst_secret", "--id", "1"]],
    [["create", "--token"]],
    [["serve", "--token", "pst_secret"]],
    [["--token", "pst_secret", "create"]],
  ])("%j names what to use instead of --token", async (argv) => {
    const result = await runCli(argv);
    expect(result).toExit(2, /no '--token': set PLANTSTORE_TOKEN, .* --token-file/);
    expect(result.stderr).not.toContain("secret");
  });

  it("does not repeat a token in the wrong place", async () => {
    const { exitCode, stderr } = await runCli(["create", "--tokn=pst_secret"]);
    expect(exitCode).toBe(2);
    expect(stderr).not.toContain("secret");
  });

  it.each([[[]], [["--no-color"]], [["token"]]])("is no command, but help: %j", async (argv) => {
    const { stdout } = await runCli([...argv, "--help"]);
    expect(await runCli(argv)).toPrint(stdout);
  });

  it("rejects an argument that is not UTF-8, which Node passes on with U+FFFD", async () => {
    expect(await runCli(["create", "--id", "1", "--name", "f\uFFFDrn"])).toExit(
      2,
      "error: argument 5 is not UTF-8, or contains U+FFFD: encode it as UTF-8, or use a file\n",
    );
  });
});

const wrong = ["create", "--id"];
it.each([
  ["is on for a terminal", wrong, { terminals: allTerminals }, true],
  ["is off in a pipe", wrong, {}, false],
  ["is off with NO_COLOR", wrong, { terminals: allTerminals, env: { NO_COLOR: "1" } }, false],
  ["is on with --color before the command", ["--color", ...wrong], {}, true],
  [
    "is off with --no-color after the command",
    ["create", "--no-color", "--id"],
    { terminals: allTerminals },
    false,
  ],
  ["follows the last of several flags", ["--no-color", "create", "--color", "--id"], {}, true],
])("colour %s", async (_rule, argv, options, isColored) => {
  const { stderr } = await runCli(argv, options);
  expect(stderr.includes("\u001b[31m")).toBe(isColored);
  expect(stderr).toMatch(/error/);
});

it("an unexpected error is reported as a bug with its stack", async () => {
  const broken = new Proxy<Record<string, string>>(
    {},
    {
      get(_, name) {
        if (name === "PLANTSTORE_URL") throw new TypeError("an unexpected error");
      },
    },
  );
  const argv = ["create", "--id", "1", "--name", "fern"];
  const result = await runCli(argv, { env: broken });
  const problem = /^error: this is a bug in plantstore: please report it with these lines\n/;
  expect(result).toExit(1, problem);
  expect(result.stderr).toMatch(/^TypeError: an unexpected error\n +at /m);
});
