/** The built command in a shell, with the streams of scripts, cron jobs and terminals. */
import { execFile } from "node:child_process";
import { mkdir, open, readFile, readdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { startSession } from "../helpers/pseudo-terminal.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { startBinary } from "../helpers/run-binary.ts";
import { containing, parseLines } from "../helpers/run-cli.ts";
import { run } from "../helpers/run.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const binary = fileURLToPath(new URL("../../bin/plantstore.js", import.meta.url));

let home: string;
beforeEach(async () => {
  home = await createTemporaryDirectory();
});

/** Runs commands of bash, in which `plantstore` is the built command. */
async function runShell(commands: string, env: Readonly<Record<string, string>> = {}) {
  const script = `plantstore() { "$NODE" "$BINARY" "$@"; }\n${commands}`;
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const options = {
      cwd: home,
      env: {
        HOME: home,
        PATH: process.env["PATH"] ?? "",
        NODE: process.execPath,
        BINARY: binary,
        ...env,
      },
    };
    execFile("bash", ["-c", script], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

const noSpace = "error: the output could not be written: no space left on device\n";

describe("with a full output,", () => {
  it.each([
    "--help",
    "--version",
    "create --help",
    "help token issue",
    "explain",
    "explain 40900",
    "openapi",
    "completion bash",
    "status",
    "status --json",
    "list --store $STORE",
    "get 1 --store $STORE",
    "export --store $STORE",
    "token issue --store $STORE",
  ])("%s fails with the reason", async (args) => {
    const STORE = await createSqliteStore([{ id: 1n, name: "fern" }]);
    const ended = await runShell(`plantstore ${args} >/dev/full`, { STORE });
    expect(ended).toMatchObject({ code: 1, stderr: containing(noSpace) });
  });

  it("create reports the result of the plant on stderr", async () => {
    await using server = await startServer();
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
    const create = (name: string) =>
      runShell(`plantstore create --id 1 --name ${name} >/dev/full`, env);
    expect(await create("fern")).toMatchObject({
      code: 1,
      stderr: `the plant is in the store, but cannot be printed\n${noSpace}`,
    });
    const rejected = await create("moss");
    expect(rejected.code).toBe(1);
    expect(rejected.stderr).toMatch(/^error 40900: id 1 belongs to a different plant, /);
    expect(rejected.stderr.endsWith(`\n${noSpace}`)).toBe(true);
  });

  it("a bulk create ends, and advises what to do", async () => {
    await using server = await startServer();
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
    const lines = `for id in $(seq 1000); do echo "{\\"id\\":$id,\\"name\\":\\"a\\"}"; done`;
    const ended = await runShell(`${lines} | plantstore create >/dev/full`, env);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/^created \d+, .*, unfinished \d+ in /);
    expect(ended.stderr).toContain(
      `${noSpace}Resume with the same input:\n  plantstore create --from-line 1 -\n`,
    );
  });

  it("a command whose error cannot be printed has its exit code", async () => {
    expect(await runShell("plantstore --nope 2>/dev/full")).toMatchObject({ code: 2 });
    expect(await runShell("plantstore token issue --nope 2>/dev/full")).toMatchObject({ code: 2 });
  });
});

describe("with closed streams,", () => {
  it.each(["--help", "--version", "explain", "create --help"])(
    "%s exits with 141 and no message if its reader has ended",
    async (args) => {
      // The reader ends before the command starts.
      const ended = await runShell(`exec 3> >(exec true); wait $!; plantstore ${args} >&3`);
      expect(ended).toMatchObject({ code: 141, stderr: "" });
    },
  );

  it("a command without any open stream has its exit code", async () => {
    const closed = "<&- >&- 2>&-";
    expect(await runShell(`plantstore --version ${closed}`)).toMatchObject({ code: 0 });
    expect(await runShell(`plantstore create --nope ${closed}`)).toMatchObject({ code: 2 });
    const STORE = await createSqliteStore([{ id: 1n, name: "fern" }]);
    const found = await runShell(`plantstore get 2 --store $STORE ${closed}`, { STORE });
    expect(found).toMatchObject({ code: 9 });
  });

  it("create without a plant reports an empty body", async () => {
    const ended = await runShell("plantstore create <&-", { PLANTSTORE_TOKEN: "any" });
    const stderr = /^error 40003: [^\n]* \(in standard input\)\n$/;
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(stderr) as string });
  });

  it("login reports an empty token", async () => {
    await using server = await startServer();
    const stderr = containing("error: the token from standard input is empty\n");
    const ended = await runShell(`plantstore login --url ${server.url} <&-`);
    expect(ended).toMatchObject({ code: 4, stderr });
  });
});

it.each(["create --json -", "get -", "delete --yes -"])(
  "a directory as standard input of %s cannot be read",
  async (command) => {
    const env = { PLANTSTORE_URL: "http://127.0.0.1:1", PLANTSTORE_TOKEN: "any-token" };
    const { code, stderr } = await runShell(`plantstore ${command} < /`, env);
    expect(code).toBe(2);
    expect(stderr).toContain("error: standard input cannot be read: it is a directory\n");
  },
);

it.each(["two words", 'o\'clock "quoted"', "one\nline", "-rf", "*", "%s\\n", "ünï 🌱"])(
  "the shell can pass a file and a directory called %j",
  async (name) => {
    const STORE = `sqlite:${join(home, name, `${name}.db`)}`;
    const env = {
      NAME: name,
      STORE,
      PLANTSTORE_TOKEN: "any-token",
      PLANTSTORE_CONFIG_DIR: join(home, name),
    };
    await mkdir(join(home, name));
    await writeFile(join(home, `${name}.json`), JSON.stringify({ id: 1, name }));
    const { code, stdout, stderr } = await runShell(
      `
        # The function would run in a shell, which does not pass the signal to the server.
        coproc exec "$NODE" "$BINARY" serve --port 0 --store "$STORE" 2>log
        server=$COPROC_PID
        read -r url <&"\${COPROC[0]}"
        plantstore create --url "$url" -- "./$NAME.json" && plantstore get 1 --store "$STORE"
        code=$?
        kill $server; wait $server 2>/dev/null
        exit $code
      `,
      env,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(parseLines(stdout)).toEqual([{ name }, { id: 1, name }]);
  },
);

it.each(["C", "POSIX", "de_DE.ISO-8859-1"])(
  "the locale %s does not change names",
  async (LC_ALL) => {
    const STORE = await createSqliteStore([{ id: 1n, name: "ünï 🌱" }]);
    const { code, stdout } = await runShell("plantstore get 1 --store $STORE", { STORE, LC_ALL });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"id":1,"name":"ünï 🌱"}\n' });
  },
);

describe("a named pipe", () => {
  const plant = '{"id":1,"name":"fern"}\n';

  const https = (path: string): string[] => ["--cacert", path, "--url", "https://127.0.0.1:1"];

  async function makePipe(): Promise<string> {
    const path = join(home, "pipe");
    await run("mkfifo", [path]);
    return path;
  }

  /** Resolves once a process has opened the pipe. */
  async function waitForReader(pid: number | undefined, path: string): Promise<void> {
    const folder = `/proc/${pid}/fd`;
    const isOpen = async () => {
      const names = await readdir(folder);
      const targets = names.map((name) => readlink(join(folder, name)).catch(() => ""));
      return (await Promise.all(targets)).includes(path);
    };
    await expect.poll(isOpen).toBe(true);
  }

  it.each<[what: string, toArgs: (path: string) => string[]]>([
    ["of plants", (path) => ["create", path]],
    ["of a token", (path) => ["create", "--token-file", path, "--id", "1", "--name", "fern"]],
    [
      "of certificates for create",
      (path) => ["create", "--id", "1", "--name", "a", ...https(path)],
    ],
    ["of certificates for ping", (path) => ["ping", ...https(path)]],
    ["of certificates for login", (path) => ["login", ...https(path)]],
    ["of certificates for status", (path) => ["status", ...https(path)]],
  ])("%s without a writer does not delay the end by SIGTERM", async (_what, toArgs) => {
    const path = await makePipe();
    const env = { PLANTSTORE_TOKEN: testToken };
    const { child, finished } = startBinary(toArgs(path), { home, env });
    await waitForReader(child.pid, path);
    child.kill("SIGTERM");
    expect(await finished).toMatchObject({
      code: 143,
      stdout: expect.not.stringContaining("token"),
    });
  });

  it("with an idle writer does not delay the end by SIGTERM, and results are printed", async () => {
    await using server = await startServer();
    const path = await makePipe();
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
    const { child, firstLine, finished } = startBinary(["create", "--json", path], { home, env });
    const writer = await open(path, "w");
    await writer.write(plant);
    expect(await firstLine).toContain('"status":"created"');
    child.kill("SIGTERM");
    expect(await finished).toMatchObject({ code: 143 });
    await writer.close();
  });

  it("is read to its end", async () => {
    await using server = await startServer();
    const path = await makePipe();
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
    const { finished } = startBinary(["create", path], { home, env });
    await writeFile(path, plant);
    expect(await finished).toEqual({ code: 0, stdout: '{"name":"fern"}\n', stderr: "" });
  });
});

it("a command in a deleted working directory names this error", async () => {
  const command = "mkdir gone; cd gone; rmdir ../gone; plantstore list --store sqlite:plants.db";
  const stderr = "error: the working directory was deleted: change to another one\n";
  expect(await runShell(command)).toMatchObject({ code: 2, stderr });
});

it("a server whose log is a pipe without a reader creates plants, and ends by SIGTERM", async () => {
  const { stdout } = await runShell(
    `mkfifo log; sleep 1000 <log & reader=$!
"$NODE" "$BINARY" serve --port 0 --store memory: >url 2>log & server=$!
until [ -s url ]; do sleep 0.05; done
seq 20000 | sed 's/.*/{"id":&,"name":"fern"}/' | plantstore create --url "$(cat url)" - | wc -l
kill -TERM $server; wait $server; echo "exit $?"; kill $reader`,
    { PLANTSTORE_TOKEN: "chosen" },
  );
  expect(stdout).toBe("20000\nexit 0\n");
});

it("a server keeps the debugger of Node closed on SIGUSR1", async () => {
  const { stdout } = await runShell(
    `"$NODE" "$BINARY" serve --port 0 --store memory: >url 2>log & server=$!
until [ -s url ]; do sleep 0.05; done
kill -USR1 $server; plantstore ping --wait 5s --url "$(cat url)" >/dev/null
kill -TERM $server; wait $server; echo "exit $?"; grep -ci debugger log`,
    { PLANTSTORE_TOKEN: "chosen" },
  );
  expect(stdout).toBe("exit 0\n0\n");
});

it.each([
  [
    "a question",
    (store: string) => `exec $PLANTSTORE delete 1 --store ${store}`,
    "[y/N] ",
    "error: stopped by SIGINT: no plant was deleted",
  ],
  [
    "typed plants",
    () => "exec $PLANTSTORE create --json --dry-run -",
    "end with Ctrl-D\r\n",
    "error: stopped by SIGINT before anything was sent",
  ],
  [
    "the log of a server",
    () => "exec $PLANTSTORE serve --port 0 --store memory:",
    "URL    http",
    "Stopping: waiting for requests in flight",
  ],
])("Ctrl-C ends its line after %s", async (_what, toCommand, last, message) => {
  const store = await createSqliteStore([{ id: 1n, name: "fern" }]);
  const session = startSession(toCommand(store), home, { PLANTSTORE_TOKEN: "chosen" });
  await session.saw(last);
  session.type("\u0003");
  const screen = await session.finished;
  expect(screen).toMatch(/\^C\r\n\S/);
  expect(screen).toContain(message);
});

it("a server ends by SIGHUP, without an abort, when its terminal is closed", async () => {
  // The kernel sends SIGHUP to the outer shell only, and to the others when that has ended.
  const serve = "trap : HUP; $PLANTSTORE serve --port 0; echo $? >code.new; mv code.new code";
  const session = startSession(`sh -c '${serve}'; :`, home);
  // The last thing that it prints: after the end of the terminal, nothing can be printed.
  await expect.poll(() => session.screen()).toMatch(/URL +http:/);
  session.close();
  await expect.poll(() => readFile(join(home, "code"), "utf8").catch(() => "")).toBe("129\n");
});

describe("create --rejects", () => {
  it.each([
    ["standard input", "plantstore create --dry-run --rejects plants.ndjson - < plants.ndjson"],
    [
      "another name of the input",
      "ln plants.ndjson other && plantstore create --dry-run --rejects other plants.ndjson",
    ],
  ])("does not overwrite its input: %s", async (_, command) => {
    const text = '{"id":1}\n{"id":2,"name":"fern"}\n{"id":3}\n';
    await writeFile(join(home, "plants.ndjson"), text);
    const stderr = containing("is an input: use another name");
    expect(await runShell(command)).toMatchObject({ code: 2, stderr });
    expect(await readFile(join(home, "plants.ndjson"), "utf8")).toBe(text);
  });

  it.each([
    ["the same file", "--rejects same.txt > same.txt"],
    ["appended to", "--rejects same.txt >> same.txt"],
    ["/dev/stdout", "--rejects /dev/stdout > same.txt"],
  ])("does not share a file with standard output: %s", async (_, end) => {
    const command = `mkfifo never; plantstore create --dry-run never ${end}`;
    const { code, stderr } = await runShell(command);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: --rejects \S+ is standard output: use another name/),
    });
    expect(await readFile(join(home, "same.txt"), "utf8")).toBe("");
  });

  it("may be a pipe that is also standard output", async () => {
    await writeFile(join(home, "plants.ndjson"), '{"id":1}\n{"id":2}\n');
    const { stdout } = await runShell(
      "plantstore create --dry-run --rejects /dev/stdout plants.ndjson | grep -v record",
    );
    expect(stdout).toBe('{"id":1}\n{"id":2}\n');
  });
});

it.each(["http://plantstore.invalid", "http://127.0.0.1:1"])(
  "a bulk create that cannot connect to %s ends before the timeout of its requests",
  async (url) => {
    const lines = Array.from({ length: 2000 }, (_, id) => `{"id":${id},"name":"fern"}\n`);
    await writeFile(join(home, "plants.ndjson"), lines.join(""));
    const { code, stdout } = await runShell(
      `plantstore create plants.ndjson --retry 0 --timeout 3600 --url ${url}`,
      { PLANTSTORE_TOKEN: testToken },
    );
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
  },
);

describe("on a terminal with few lines, help shows a topic", () => {
  it.each([
    [
      "in the pager of the user, which a shell runs",
      "PAGER='sed s/^/P:/'",
      /^P:Many plants|^P:.*plants/m,
    ],
    ["in a pager that is quit at once", "PAGER='head -1'", /plants\r\n=?/],
    ["without a pager if that does not exist", "PAGER=/nonexistent/pager", /Rejects\r\n-/],
    ["without a pager if PAGER is empty", "PAGER=", /Rejects\r\n-/],
  ])("%s, and succeeds", async (_, pager, expected) => {
    const commands = `stty rows 10; ${pager} $PLANTSTORE help bulk; echo "exit $?"`;
    const screen = await startSession(commands, home).finished;
    expect(screen).toMatch(expected);
    expect(screen).toContain("exit 0\r\n");
  });

  it("without a pager in a pipe, as it is", async () => {
    const { stdout } = await runShell("plantstore help bulk | cat", { PAGER: "sed s/^/P:/" });
    expect(stdout).toMatch(/^# /);
  });
});
