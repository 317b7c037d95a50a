/** `login --token-command`: a helper program prints the token for each run. */
import { chmod, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { runTokenCommand } from "../../../src/cli/config/token-command.ts";
import { toCredentialFile } from "../../../src/cli/config/credentials.ts";
import { startServer, testToken } from "../../helpers/plant-server.ts";
import { type CliOptions, runCli, startCli } from "../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

let directory: string;
let command: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  await writeFile(join(directory, "token"), `${testToken}\n`);
  command = `cat ${join(directory, "token")}`;
});

const configDirectory = () => join(directory, "config");

function toOptions({ env, ...options }: CliOptions = {}): CliOptions {
  const { PATH = "" } = process.env;
  return { ...options, env: { PATH, PLANTSTORE_CONFIG_DIR: configDirectory(), ...env } };
}

function run(args: readonly string[], options?: CliOptions) {
  return runCli(args, toOptions(options));
}

const login = (url: string, text: string) => run(["login", "--url", url, "--token-command", text]);
const create = (...args: readonly string[]) =>
  run(["create", "--id", "1", "--name", "fern", ...args]);

describe("login --token-command", () => {
  it("saves the command, readable only by its owner, and not the token", async () => {
    await using server = await startServer();
    const { exitCode, stdout, stderr } = await login(server.url, command);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).toBe(`Logged in to ${server.url} (now the default)\n`);
    const file = toCredentialFile(configDirectory(), server.url);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ origin: server.url, command });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("saves nothing if the token is rejected, or the command fails", async () => {
    await using server = await startServer();
    const rejected = await login(server.url, "echo wrong");
    expect(rejected.exitCode).toBe(4);
    expect(rejected.stderr).toContain("(nothing was saved)");
    const failed = await login(server.url, "false");
    expect(failed.exitCode).toBe(4);
    const { exitCode, stderr } = await create("--url", server.url);
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`no token for ${server.url}`);
  });

  it("rejects a command line that needs a shell", async () => {
    const { exitCode, stderr } = await login("http://127.0.0.1:9", "pass show plants | head -1");
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      "error: --token-command contains |, which only a shell understands: quote it, or use sh -c '...'",
    );
  });
});

describe("a saved command", () => {
  it("runs for each command, so that a new token is used at once", async () => {
    await using server = await startServer();
    await login(server.url, command);
    expect(await create()).toMatchObject({ exitCode: 0, stderr: "" });
    const many = await run(["create", "--many", "-"], { stdin: '{"id":2,"name":"moss"}' });
    expect(many).toMatchObject({ exitCode: 0, stderr: "" });
    await writeFile(join(directory, "token"), "another-token\n");
    const { exitCode, stderr } = await create();
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`the token came from the command "${command.slice(0, 200)}"`);
  });

  it("is used only for its origin", async () => {
    await using server = await startServer();
    await using other = await startServer();
    await login(server.url, `sh -c 'touch ${directory}/ran && ${command}'`);
    await writeFile(join(directory, "token"), "another-token\n");
    const { exitCode, stderr } = await create("--url", other.url);
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`no token for ${other.url}`);
  });

  it("does not run if another source has the token", async () => {
    await using server = await startServer();
    await login(server.url, command);
    await writeFile(join(directory, "token"), "");
    const result = await run(["create", "--id", "1", "--name", "fern"], {
      env: { PLANTSTORE_TOKEN: testToken },
    });
    expect(result).toMatchObject({ exitCode: 0 });
  });

  it("does not run if other users can read its file", async () => {
    await using server = await startServer();
    await login(server.url, command);
    const file = toCredentialFile(configDirectory(), server.url);
    await chmod(file, 0o644);
    const { exitCode, stderr } = await create();
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`run "chmod 600 ${file}"`);
  });

  it("is shown by status, config list and doctor", async () => {
    await using server = await startServer();
    await login(server.url, "cat token-file");
    await login(server.url, command);
    const status = await run(["status"]);
    expect(status.stdout).toContain(
      `Token   ${testToken.slice(0, 8)}… from the command "${command}"`,
    );
    expect(status.stdout).toContain("Works   yes");
    const config = await run(["config", "list"]);
    const rows = config.stdout.trimEnd().split("\n");
    expect(JSON.parse(rows.at(-1) ?? "")).toEqual({
      flag: "--token-file",
      variable: "PLANTSTORE_TOKEN",
      value: `the command "${command}"`,
      source: toCredentialFile(configDirectory(), server.url),
    });
    const doctor = await run(["doctor", "--store", "memory:"]);
    expect(doctor.stdout).toContain(`from the command "${command}": accepted`);
  });

  it("that fails is the reason that status reports for the token", async () => {
    await using server = await startServer();
    await login(server.url, command);
    await rm(join(directory, "token"));
    const { exitCode, stdout } = await run(["status"]);
    expect(exitCode).toBe(4);
    expect(stdout).toContain(`\nToken   the command "${command}" failed with exit code 1: run it`);
    expect(stdout).toContain("\nWorks   no: no usable token\n");
  });

  it("is removed by logout, without being run", async () => {
    await using server = await startServer();
    await login(server.url, command);
    await writeFile(join(directory, "token"), "");
    const { exitCode, stderr } = await run(["logout"]);
    expect(exitCode).toBe(0);
    expect(stderr).toBe(`removed the token command for ${server.url} from this machine\n`);
    expect((await create("--url", server.url)).stderr).toContain("no token for");
  });

  it("is replaced by a later login with a token, and replaces it", async () => {
    await using server = await startServer();
    const file = toCredentialFile(configDirectory(), server.url);
    const readFileJson = async () => JSON.parse(await readFile(file, "utf8")) as object;
    await login(server.url, command);
    await run(["login"], { stdin: testToken });
    expect(await readFileJson()).toEqual({ origin: server.url, token: testToken });
    await login(server.url, command);
    expect(await readFileJson()).toEqual({ origin: server.url, command });
  });

  it.each([
    [
      `sh -c 'echo secret-output; exit 3'`,
      "failed with exit code 3: run it yourself to see the reason",
    ],
    ["sh -c 'kill -9 $$'", "failed with SIGKILL: run it yourself to see the reason"],
    ["true", "printed nothing: it must print only the token, in one line"],
    ["echo ''", "printed nothing: it must print only the token, in one line"],
    [
      `printf 'secret-output\\nmore\\n'`,
      "printed more than one line: it must print only the token",
    ],
    [`printf 'secret-output\\n\\n'`, "printed more than one line"],
    [`printf 'secret-output\\033[1m'`, "printed control characters: it must print only the token"],
    [`printf 'secret-output\\r'`, "printed control characters"],
    [`printf '%070000d' 0`, "printed more than 65536 bytes"],
    [`sh -c 'printf "%070000d" 0 >&2'`, "printed more than 65536 bytes"],
    [
      "plantstore-helper-that-is-missing",
      "was not found: install the program, or save another command",
    ],
    ["/", "cannot be run (spawn / EACCES): check its path"],
    ["/etc/passwd/helper", "cannot be run (spawn ENOTDIR): check its path"],
  ])("that is %s is an error that names it and hides its output", async (text, problem) => {
    await using server = await startServer();
    const { exitCode, stdout, stderr } = await login(server.url, text);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "" });
    expect(stderr).toContain('error: the command "');
    expect(stderr).toContain(`" ${problem}`);
    expect(stderr.replace(/^.*the command ".*" /, "")).not.toContain("secret-output");
  });

  it("that prints text that is not a token is an error that hides it", async () => {
    await using server = await startServer();
    const { exitCode, stderr } = await login(server.url, "echo 'not a token'");
    expect(exitCode).toBe(4);
    expect(stderr).toBe(
      `error: the token from the command "echo 'not a token'" contains an invalid character, such as a space or a line break: copy it again; nothing was saved\n`,
    );
  });

  it.each([
    ["", "must be a program with its arguments"],
    ["pass show plants | head -1", "contains |, which only a shell understands"],
  ])("that was edited to the invalid %j is an error that names it", async (edited, problem) => {
    await using server = await startServer();
    await login(server.url, command);
    const file = toCredentialFile(configDirectory(), server.url);
    await writeFile(file, JSON.stringify({ origin: server.url, command: edited }));
    const { exitCode, stderr } = await create("--url", server.url);
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`error: the command "${edited}" ${problem}`);
  });

  it("reports its errors to the user", async () => {
    await using server = await startServer();
    const { exitCode, stderr } = await login(
      server.url,
      "sh -c 'echo the store is locked >&2; exit 1'",
    );
    expect(exitCode).toBe(4);
    expect(stderr).toContain("the store is locked\nerror: the command ");
  });

  it("cannot read the plants on standard input", async () => {
    await using server = await startServer();
    await login(server.url, `sh -c 'cat; ${command}'`);
    const many = await run(["create", "-"], { stdin: '{"id":2,"name":"moss"}' });
    expect(many).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("that takes too long is stopped", async () => {
    const { stderr } = process;
    const running = runTokenCommand(
      "sh -c 'sleep 600'",
      { env: toOptions().env ?? {}, stderr },
      new AbortController().signal,
      50,
    );
    await expect(running).rejects.toThrow(
      `the command "sh -c 'sleep 600'" did not end within 0.05 s`,
    );
  });

  it("is stopped by Ctrl-C", async () => {
    await using server = await startServer();
    const ready = `echo ready >&2`;
    const args = ["login", "--url", server.url, "--token-command", `sh -c '${ready}; sleep 600'`];
    const started = startCli(args, toOptions());
    await started.saw("ready");
    started.signal("SIGINT");
    const { exitCode, stderr } = await started.finished;
    expect(exitCode).toBe(130);
    expect(stderr).toContain("stopped by SIGINT: nothing was saved");
  });
});

it("a start of serve at the address keeps the saved command", async () => {
  await using server = await startServer();
  await login(server.url, command);
  await server.close();
  const file = toCredentialFile(configDirectory(), server.url);
  const { port } = new URL(server.url);
  const store = `sqlite:${join(directory, "plants.db")}`;
  const serve = startCli(["serve", "--port", port, "--store", store], toOptions());
  await serve.saw(`${server.url}\n`);
  serve.signal("SIGTERM");
  expect(await serve.finished).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ origin: server.url, command });
});
