import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { listCommands } from "../../.build/man-page.ts";
import { findCommand } from "../../src/cli/command.ts";
import { listManualFiles, listTopics, readTopic } from "../../src/cli/commands/help/topics.ts";
import { plantstoreCommand } from "../../src/cli/commands/plantstore.ts";
import { allTerminals, containing, runCli } from "../helpers/run-cli.ts";

const commands = await listCommands();
/** The words that lead to each command in help. */
const visibleCommands = commands.flatMap(({ words, command }) =>
  command.isHidden === true ? [] : [words],
);

/** The flag of commands whose help is short without it. */
const allOf = (words: readonly string[]): readonly string[] =>
  words.length === 0 || words[0] === "serve" || words[0] === "create" ? ["--all"] : [];

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
    [["--help", "serve"], "Usage: plantstore serve [options]"],
    [["-h", "token"], "Usage: plantstore token [options] [command]"],
    [["--help", "token", "issue"], "Usage: plantstore token issue [options]"],
    [["token", "--help", "issue"], "Usage: plantstore token issue [options]"],
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

      it("begins with the usage and the purpose, then has examples first and exit codes last", async () => {
        const { stdout } = await runCli([...words, "--help", ...allOf(words)]);
        const command = ["plantstore", ...words].join(" ");
        const [usage = "", sentence = "", examples = ""] = stdout.split("\n\n");
        expect(usage.slice(0, `Usage: ${command} `.length)).toBe(`Usage: ${command} `);
        expect(sentence).toMatch(/^[A-Z][^]*\.$/);
        expect(examples).toMatch(/^Examples:\n/);
        const headings = [...stdout.matchAll(/^[A-Z][^\n:]*(?=:$)/gm)].map(([heading]) => heading);
        expect(headings[0]).toBe("Examples");
        expect(headings.at(-1)).toBe("Exit codes");
        expect(stdout).toMatch(/\nExit codes:\n {2}0 +Done\n/);
      });

      it.each([80, 40])("fills lines of %i columns, but wraps no example", async (columns) => {
        const options = { terminals: allTerminals, columns };
        const { stdout } = await runCli([...words, "--help"], options);
        const [, sentences = "", examples = ""] = stdout.split("\n\n");
        const lines = sentences.split("\n");
        for (const [index, line] of lines.slice(1).entries()) {
          const [word = ""] = line.split(" ");
          expect(`${lines[index]} ${word}`.length, stdout).toBeGreaterThan(columns);
        }
        if (columns === 80) expect(examples).toMatch(/^Examples:(\n {2}.+)+$/);
      });

      it("wraps the lists at the end at 60 columns", async () => {
        const options = { terminals: allTerminals, columns: 60 };
        const { stdout } = await runCli([...words, "--help", ...allOf(words)], options);
        const [, end = ""] = stdout.split(/\n(?=Environment|Topics|Exit codes)(.*)/s);
        expect(end).toMatch(/^Exit codes:\n {2}0/m);
        expect(Math.max(...end.split("\n").map((line) => line.length)), end).toBeLessThanOrEqual(
          60,
        );
      });

      it("keeps a variable on the line of its label", async () => {
        const { stdout } = await runCli([...words, "--help"]);
        expect(stdout).not.toMatch(/env:\n/);
      });
    },
  );

  it("groups the commands that need a server and those that need a store", async () => {
    const { stdout } = await runCli(["--help"]);
    const groups = [...stdout.matchAll(/^([A-Z][a-z ]+):\n((?: {2}[a-z].*\n)+)/gm)].map(
      ([, heading, lines = ""]) => [heading, lines.match(/(?<=^ {2})[a-z]+/gm)],
    );
    expect(groups.map(([heading]) => heading)).toEqual([
      "Examples",
      "Server",
      "Commands that talk to a server",
      "Commands that open a store directly",
      "Other commands",
      "Topics",
    ]);
    const members = Object.fromEntries(groups) as Record<string, readonly string[]>;
    expect(members["Server"]).toEqual(["serve"]);
    expect(members["Commands that talk to a server"]).toEqual(
      expect.arrayContaining(["create", "ping", "login", "logout", "status"]),
    );
    expect(members["Commands that open a store directly"]).toEqual(
      expect.arrayContaining(["list", "get", "export", "token"]),
    );
    expect(members["Other commands"]).toEqual(
      expect.arrayContaining(["explain", "openapi", "completion", "help"]),
    );
  });

  it.each([
    [
      "serve",
      [
        "Address",
        "Plants",
        "Limits",
        "In a browser",
        "Metrics and log",
        "For tests of clients",
        "Options",
      ],
    ],
    ["create", ["Plant", "Input", "Output", "Sending", "Options"]],
  ])("of %s has its options in groups", async (command, groups) => {
    const { stdout } = await runCli([command, "--help", "--all"]);
    const headings = [...stdout.matchAll(/^([A-Z][a-z ]+):\n {2}-/gm)].map(
      ([, heading]) => heading,
    );
    expect(headings).toEqual(groups);
  });

  it("has its columns on a terminal of 40 columns too", async () => {
    const { stdout } = await runCli(["list", "--help"], { terminals: allTerminals, columns: 40 });
    expect(stdout).toContain("  --after <id>   Only plants with a\n                 larger id\n");
  });

  it("of plantstore begins with what most people need, and fits a window", async () => {
    const { stdout } = await runCli(["--help"]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(45);
    const first = lines.slice(0, 24).join("\n");
    expect(first).toMatch(
      /^Usage: [^]*^Examples:[^]*^ {2}serve [^]*^ {2}create [^]*^ {2}login [^]*^ {2}list /m,
    );
    const { stdout: all } = await runCli(["--help", "--all"]);
    expect(all).toMatch(/--no-color [^]*NO_COLOR[^]*Exit codes:/);
  });

  it.each([
    ["serve", 10],
    ["create", 12],
  ])("of %s shows %i options, and all of them with --all", async (name, count) => {
    const command = await findCommand(plantstoreCommand, [name]);
    const { options = {} } = command ?? {};
    expect(Object.values(options).filter(({ isFirst }) => isFirst)).toHaveLength(count);
    const { stdout: short } = await runCli([name, "--help"]);
    expect(short.trimEnd().split("\n").length).toBeLessThanOrEqual(50);
    expect(short).toContain(`\n  plantstore ${name} --help --all\n`);
    const { stdout: all } = await runCli([name, "--help", "--all"]);
    expect((await runCli(["help", name, "--all"])).stdout).toBe(all);
    for (const { flags, isFirst = false } of Object.values(options)) {
      expect(short.includes(`  ${flags} `), flags).toBe(isFirst);
      expect(all).toContain(`  ${flags} `);
    }
  });

  it.each([40, 50])("breaks no word at %i columns", async (columns) => {
    const options = { terminals: allTerminals, columns };
    for (const args of [["--help"], ["serve", "--help", "--all"], ["create", "--help", "--all"]]) {
      const { stdout } = await runCli(args, options);
      const tooLong = stdout.split("\n").filter((line) => line.length > columns);
      expect(tooLong.filter((line) => /\S\s+\S/.test(line))).toEqual([]);
    }
  });

  it("names the default and the variable of each setting", async () => {
    const { stdout } = await runCli(["serve", "--help"]);
    expect(stdout).toMatch(/--port <port> .*\n +\(default: 7526, env: PLANTSTORE_PORT\)/);
    const { stdout: create } = await runCli(["create", "--help"]);
    expect(create).toMatch(
      /--url <url> .*\n +\(default: the saved URL, or\s+http:\/\/127\.0\.0\.1:7526,\s+env: PLANTSTORE_URL\)/,
    );
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
  const topics = listTopics();

  it.each(topics)("%s is printed by help", async (topic) => {
    const result = await runCli(["help", topic]);
    expect(result).toPrint(readTopic(topic) ?? "");
    expect(result.stdout).not.toContain("![");
  });

  it.each(topics)("%s fits a terminal of 40 columns", async (topic) => {
    const { stdout } = await runCli(["help", topic], { terminals: allTerminals, columns: 40 });
    const words = (text: string): string => text.replaceAll(/[\s|]|-{3,}/g, "").toLowerCase();
    // A table may become one line for each cell, which repeats the headings.
    const text = (readTopic(topic) ?? "")
      .replaceAll(/^```.*$/gm, "")
      .replaceAll(/\[([^\]]+)\]\(([a-z-]+)\.md[^)]*\)/g, "$1 (help $2)")
      .replaceAll(/\[([^\]]+)\]\(#[^)]*\)/g, "$1");
    if (!text.includes("\n|")) expect(words(stdout)).toBe(words(text));
    const prose = stdout.replaceAll(/^(?: {4}|#).*\n/gm, "");
    const tooLong = prose.split("\n").filter((line) => line.length > 40);
    // A single word can be longer.
    expect(tooLong.filter((line) => !/^(?:[A-Z ]+ {2}| *)\S+$/.test(line))).toEqual([]);
  });

  it.each([
    ["kubernetes", "plantstore help deploy  Container"],
    ["exit codes", "plantstore help configuration  Exit codes"],
    ["exit-codes", "plantstore help bulk           Exit codes"],
    ["exit code", "plantstore help bulk           Exit codes"],
    ["status mode", "plantstore help testing        Status mode"],
    ["dry run", "plantstore help bulk  Checking without sending"],
    ["tokens revoke", "plantstore help tokens      Revoke a token"],
    ["memory limit", "plantstore help configuration  Options of `serve`"],
  ])("is found by %s, with the section", async (words, line) => {
    const [heading = "", ...lines] = (await runCli(["help", ...words.split(" ")])).stderr.split(
      "\n",
    );
    expect(heading).toBe(`error: no command or topic '${words}'; it is in these topics:`);
    expect(lines).toContain(`  ${line}`);
  });

  it("shows code without fences on a terminal, and names the topics of links", async () => {
    const { stdout } = await runCli(["help", "testing"], { terminals: allTerminals });
    expect(stdout).toContain("\n    // retries.test.mjs\n");
    expect(stdout).toContain("A store of the library (help library)");
    expect(stdout).not.toMatch(/```|\]\(/);
  });

  it("is in the list of topics, with its sections", async () => {
    const { stdout } = await runCli(["help", "topics"]);
    expect([...stdout.matchAll(/^- ([a-z-]+): /gm)].map(([, topic]) => topic)).toEqual(topics);
    expect(stdout).toContain("\n- tokens: Tokens. The first token; More tokens;");
  });

  it("is in the list of help", async () => {
    const { stdout } = await runCli(["--help"]);
    const [, list = ""] =
      /^Topics:\n((?: {2}.*\n)+?) {2}See "plantstore help TOPIC"/m.exec(stdout) ?? [];
    expect(list.trim().split(/,\s+/)).toEqual(topics);
    expect(topics).toContain("configuration");
  });
});

describe("a word of other programs", () => {
  it.each([
    [["post", "add", "insert", "new"], "create"],
    [["rm", "remove"], "delete"],
    [["show", "ls"], "get"],
    [["show", "ls"], "list"],
    [["init", "start", "run"], "serve"],
    [["health"], "ping"],
  ])("%j leads to %s", async (words, command) => {
    for (const word of words) {
      expect(await runCli([word])).toExit(
        2,
        new RegExp(`^error: unknown command '${word}': .*"plantstore ${command}`),
      );
    }
  });
});

describe("the help of a command", () => {
  it("explains only exit codes of this command", async () => {
    const { stdout: ping } = await runCli(["ping", "--help"]);
    expect(ping).not.toMatch(/serve could not start|store is unavailable/);
    expect(ping).toMatch(/^ {2}6 +The server is unavailable; a retry may succeed$/m);
    const { stdout: list } = await runCli(["list", "--help"]);
    expect(list).toMatch(/^ {2}6 +The store is unavailable; a retry may succeed$/m);
    const { stdout: serve } = await runCli(["serve", "--help", "--all"]);
    expect(serve).toContain("serve could not start");
  });

  it.each([
    ["login", ["--url <url>", "PLANTSTORE_CONFIG_DIR"]],
    ["logout", ["--url <url>", "PLANTSTORE_CONFIG_DIR"]],
    ["status", ["--url <url>", "--all", "PLANTSTORE_*"]],
    ["token issue", ["--store <url>"]],
    ["token list", ["--store <url>"]],
    ["token revoke", ["--store <url>"]],
  ])("of `%s` names %j", async (words, parts) => {
    const help = await runCli([...words.split(" "), "--help"]);
    for (const part of parts) expect(help).toPrint(containing(part));
  });

  it.each(["list", "get", "export"])("of `%s` names the store and its default", async (name) => {
    const help = await runCli([name, "--help"]);
    expect(help).toPrint(
      /--store <url> .*\n +\(default: <data dir>\/plants\.db, env: PLANTSTORE_STORE\)/,
    );
    expect(help).toPrint(/^Options:$[^]*^Environment \(empty means unset\):$/m);
  });

  it("shows no default of a switch", async () => {
    const { stdout } = await runCli(["serve", "--help", "--all"]);
    expect(stdout).toMatch(/--no-docs +.*\n +\(env: PLANTSTORE_NO_DOCS\)/);
  });
});

describe("help for a word", () => {
  it("shows a topic by a part of its name that no other topic has", async () => {
    const { stdout } = await runCli(["help", "proxies"]);
    expect(stdout).toMatch(/^# TLS and proxies\n/);
  });

  it("explains an error number", async () => {
    const { stdout } = await runCli(["help", "40900"]);
    expect(stdout).toBe((await runCli(["explain", "40900"])).stdout);
  });

  it.each(["create", "serve"])("is shown for %s help", async (command) => {
    expect(await runCli([command, "help"])).toPrint((await runCli([command, "--help"])).stdout);
  });
});

describe("wrong usage", () => {
  const toUsage = (command: string, operands = "") =>
    `plantstore ${command} [options] ${operands}`.trimEnd();
  const create = toUsage("create", "[file...]");
  const explain = toUsage("explain", "[error...]");
  const help = toUsage("help", "[word...]");
  const root = "plantstore [options] [command]";
  const noCurl = /^unknown option '--print-curl': "plantstore help contract" shows/;
  const noStore = /^unknown option '--store': this command talks to a server, .* with --url$/;

  it.each<[words: string, usage: string, problem: string | RegExp]>([
    ["creat", root, "unknown command 'creat' (Did you mean create?)"],
    ["help creat", root, "unknown command 'creat' (Did you mean create?)"],
    ["help storge", root, "unknown command 'storge' (Did you mean storage?)"],
    ["help foo", root, /^no command or topic 'foo'; topics: bulk, configuration, /],
    ["help creat", root, /\(Did you mean create\?\)$/],
    ["create --page 1", create, "unknown option '--page'"],
    ["create -k", create, "unknown option '-k' (Did you mean --cacert?)"],
    ["create --conc=3", create, /\(Did you mean --concurrency\?\)$/],
    [
      "create --upsert",
      create,
      `unknown option '--upsert': "plantstore serve --on-conflict replace" replaces plants`,
    ],
    ["serve --key x", toUsage("serve"), "unknown option '--key' (Did you mean --tls-key?)"],
    ["list --sort", toUsage("list"), "unknown option '--sort'"],
    ["help create now", help, "unexpected word 'now': remove it"],
    ["help storage now", help, "unexpected word 'now': remove it"],
    ["help token issue now", help, "unexpected word 'now': remove it"],
    ["creat --help", root, "unknown command 'creat' (Did you mean create?)"],
    ["--versoin", root, /^unknown option '--versoin' \(Did you mean --version\?\)/],
    ["--json status", root, /^unknown option '--json'; options of a command follow its name/],
    [
      "help token isue",
      toUsage("token", "[command]"),
      "unknown command 'isue' (Did you mean issue?)",
    ],
    [
      "token isue --help",
      toUsage("token", "[command]"),
      "unknown command 'isue' (Did you mean issue?)",
    ],
    ["create --nmae fern", create, "unknown option '--nmae' (Did you mean --name?)"],
    [
      "create --print-curl",
      create,
      /^unknown option '--print-curl': --verbose prints .* "plantstore help contract"/,
    ],
    ["login --print-curl", toUsage("login"), noCurl],
    ["create --store x.db --id 1", create, noStore],
    ["ping --store x.db", toUsage("ping"), noStore],
    ["create --id", create, "option '--id <integer>' argument missing"],
    ["create --rejects", create, "option '--rejects <file>' argument missing"],
    ["get", toUsage("get", "<id...>"), "missing required argument 'id'"],
    ["logout 1", toUsage("logout"), /^unexpected argument '1': remove it$/],
    [
      "serve --max-waiting 1GiB",
      toUsage("serve"),
      /^unknown option '--max-waiting': .*64 MiB; --max-body limits each body/,
    ],
    ["serve now", toUsage("serve"), /^unexpected argument 'now': remove it$/],
    ["serve 8080", toUsage("serve"), "unexpected argument '8080' (Did you mean --port 8080?)"],
    [
      "serve a.csv",
      toUsage("serve"),
      /^unexpected argument 'a\.csv' \(Did you mean --seed a\.csv\?\)$/,
    ],
    [
      "list a.db",
      toUsage("list"),
      /^unexpected argument 'a\.db' \(Did you mean --store a\.db\?\)$/,
    ],
    ["login http://a", toUsage("login"), /\(Did you mean --url http:\/\/a\?\)$/],
    ["token issue ci", toUsage("token issue"), /\(Did you mean --name ci\?\)$/],
    ["status 1", toUsage("status"), "unexpected argument '1': remove it"],
    ["serve 99999999", toUsage("serve"), "unexpected argument '99999999': remove it"],
    ["serve --port 1 8080", toUsage("serve"), "unexpected argument '8080': remove it"],
    [
      "create --id 1 --name my fern",
      create,
      /^two plants: give either a file .* \("fern" is read as a file: text with spaces needs quotation marks\)$/,
    ],
    [
      "create --id --name fern",
      create,
      /^--id has no value: add one before --name, or write --id=--name$/,
    ],
    ["create --id 1 -", create, /^two plants: give either a file or the flags .* --tag$/],
    ["create - -", create, /^standard input \(-\) is given twice/],
    ["create --id 1 --id 2", create, "--id is given twice: remove one of them"],
    ["create --name a --name a", create, /^--name is given twice/],
    ["create --id 1 plant.json", create, /^two plants: give either a file or the flags/],
    ["create --tag= -", create, /^two plants: give either a file or the flags/],
    ["create --token-file -", create, /^standard input is the token \(--token-file -\)/],
    ["create --token-file - -", create, /^standard input is the token/],
    ["create --nöpe\u001b[31m", create, "unknown option '--nöpe\\u001b[31m'"],
    ["explain 1", explain, 'unknown error "1": "plantstore explain" lists all'],
  ])("%j exits 2 with problem, usage, and where to read more", async (words, usage, problem) => {
    const { exitCode, stdout, stderr } = await runCli(words.split(" "));
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    const [first = "", second = "", third = "", ...others] = stderr.split("\n");
    const message = first.replace(/^error: /, "");
    if (typeof problem === "string") expect(message).toBe(problem);
    else expect(message).toMatch(problem);
    expect(second).toBe(`Usage: ${usage}`);
    const path = usage.replace(/ [[<].*$/, "");
    expect(third).toBe(`See "${path} --help"`);
    expect(others).toEqual([""]);
  });

  it.each([
    ["auth login", `unknown command 'auth': "plantstore login" saves a token`],
    ["version", `unknown command 'version': "plantstore --version" prints the version`],
    [
      "import plants.csv",
      `unknown command 'import': "plantstore create FILE" creates the plants of a file`,
    ],
    ["remove 1", `unknown command 'remove': "plantstore delete" deletes plants from a store`],
    ["token create", `unknown command 'create': "plantstore token issue" issues a token`],
    [
      "token rotate ci",
      `unknown command 'rotate': "plantstore token issue", then "plantstore token revoke PREFIX --after 24h"`,
    ],
  ])("%j names what to use instead", async (words, message) => {
    const { exitCode, stderr } = await runCli(words.split(" "));
    expect(exitCode).toBe(2);
    expect(stderr.split("\n")[0]).toBe(`error: ${message}`);
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
  ])("%j reports why --token does not exist, and what to use instead", async (argv) => {
    const result = await runCli(argv);
    expect(result).toExit(2, /no --token, because other users .* PLANTSTORE_TOKEN.* --token-file/);
    expect(result.stderr).not.toContain("secret");
  });

  it("does not repeat a token in the wrong place", async () => {
    const { exitCode, stderr } = await runCli(["create", "--tokn=pst_secret"]);
    expect(exitCode).toBe(2);
    expect(stderr).not.toContain("secret");
  });

  it("shows help on stderr if only the command is missing", async () => {
    expect(await runCli(["--no-color"])).toExit(2, /^Usage: plantstore/);
  });

  it("finds an argument that is not UTF-8", async () => {
    const argv = ["create", "--id", "1", "--name", "f\uFFFDrn"];
    const commandLine = Buffer.from("node\0x\0create\0--id\x001\0--name\0f\xFFrn\0", "latin1");
    expect(await runCli(argv, { commandLine })).toExit(2, /^error: argument 5 is not UTF-8: .*\n$/);
  });
});

describe("colour", () => {
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
  ])("%s", async (_rule, argv, options, isColored) => {
    const { stderr } = await runCli(argv, options);
    expect(stderr.includes("\u001b[31m")).toBe(isColored);
    expect(stderr).toMatch(/error/);
  });
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
