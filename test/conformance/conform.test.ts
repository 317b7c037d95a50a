/** `npm run conform`: its output, questions and exit codes, with plantstore and with servers that break rules. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openRawServer } from "../client/scripted-server.ts";
import { createCertificate } from "../helpers/certificate.ts";
import { startNaiveServer } from "../helpers/naive-server.ts";
import { startServer, type TestServer, testToken } from "../helpers/plant-server.ts";
import {
  allTerminals,
  type CliOptions,
  containing,
  parseLines,
  startCli,
} from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";
import { runConform } from "./conform.ts";
import { rules } from "./rules.ts";

/** The line of one rule in the output of `--json`. */
interface ConformLine {
  readonly rule: string;
  readonly group: string;
  readonly result: string;
  readonly problem?: string;
  readonly connections?: readonly { readonly sent?: string; readonly received?: string }[];
}

const env = { PLANTSTORE_TOKEN: testToken };

function start(args: readonly string[], options: CliOptions = {}) {
  return startCli(args, { env, ...options, program: runConform });
}

function run(args: readonly string[], options: CliOptions = {}) {
  return start(args, options).finished;
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ basePath: "/v1" });
});
afterAll(() => server.close());

describe("with a plant store, conform", () => {
  it("names the plants before it writes them, prints a table of passed rules, and exits with 0", async () => {
    const { exitCode, stdout, stderr } = await run(["--url", server.url, "--yes"]);
    expect(stdout).not.toContain("  fail  ");
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^conform writes plants to http.*\/v1, and the service cannot delete them:\n {2}ids \d{15} to \d{15}, also with a minus sign or with 9000 in front\n/,
    );
    expect(stdout).toContain("\nThe given contract\n  pass  A plant with a name");
    expect(stdout).toContain("\nDecisions of plantstore: Body\n  pass  ");
    expect(stdout).toMatch(/\n {2}- {5}Error 40103: expired token: only the owner /);
    expect(stdout).toMatch(/\nThe given contract: (\d+) of \1 rules pass\n/);
  });

  it("prints a line of JSON for each rule with --json, and bytes without the token with --verbose", async () => {
    const args = ["--url", server.url, "--yes", "--json", "--verbose"];
    const { stdout } = await run(args);
    const lines = parseLines(stdout) as ConformLine[];
    expect(lines.filter(({ result }) => result === "pass")).toHaveLength(rules.length);
    const [first] = lines;
    expect(first?.connections?.[0]?.sent).toMatch(
      /^POST \/v1\/plants HTTP\/1\.1\r\nHost: [^]*Authorization: Bearer <ACCESS_TOKEN>\r\n[^]*"name":"fern"\}$/,
    );
    expect(first?.connections?.[0]?.received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(stdout).not.toContain(testToken);
  });

  it("writes only the plants that it names", async () => {
    const firstId = 777_000_000_000_000n;
    const args = ["--url", server.url, "--yes", "--first-id", String(firstId)];
    const { exitCode, stderr } = await run(args);
    expect(exitCode).toBe(0);
    const [, last = ""] = /ids 777000000000000 to (\d+), /.exec(stderr) ?? [];
    expect(BigInt(last)).toBeGreaterThan(firstId);
    expect(await server.store.get(firstId)).toMatchObject({ name: "fern" });
  });

  it("detects a server with the status mode http", async () => {
    await using other = await startServer({ statusMode: "http" });
    const { exitCode, stdout } = await run(["--url", other.url, "--yes"]);
    expect(stdout).toMatch(/^http.*, status mode http\n/);
    expect(exitCode).toBe(0);
  });

  it("detects a server with all operations, unless the flag says otherwise", async () => {
    await using other = await startServer({ operations: "all", corsOrigins: ["*"] });
    const args = ["--url", other.url, "--yes"];
    const { exitCode, stdout } = await run(args);
    expect(stdout).toMatch(/^http.*, operations all, status mode contract\n/);
    expect(stdout).not.toContain("  fail  ");
    expect(exitCode).toBe(0);
    const { exitCode: otherCode, stdout: table } = await run([...args, "--operations", "create"]);
    expect(table).toContain("fail  GET is not allowed on /plants, and Allow names POST\n");
    expect(otherCode).toBe(8);
  });

  it("requires the status mode of the flag", async () => {
    const args = ["--url", server.url, "--yes", "--status-mode", "http"];
    const { exitCode, stdout } = await run(args);
    expect(stdout).toMatch(/^http.*, status mode http\n/);
    expect(stdout).toMatch(/fail {2}Error 42201: /);
    expect(exitCode).toBe(8);
  });

  it("asks for confirmation on a terminal, and writes nothing without a yes", async () => {
    const args = ["--url", server.url, "--first-id", "555000000000000"];
    const result = await run(args, { terminals: allTerminals, stdin: "no\n" });
    expect(result).toExit(2, /Continue\? \[y\/N\] [^]*not confirmed: no plant was sent\n$/);
    expect(await server.store.get(555_000_000_000_000n)).toBeUndefined();
  });

  it("runs after a yes on a terminal", async () => {
    const options = { terminals: allTerminals, stdin: "y\n" };
    const { exitCode, stdout } = await run(["--url", server.url], options);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("pass");
  });

  it.each([
    ["--yes", "--url is missing: it has no default"],
    ["--url ftp://a", "--url must be a URL such as "],
    ["--profile a", "Unknown option '--profile'"],
    ["http://127.0.0.1:1", "Unexpected argument 'http://127.0.0.1:1'"],
    ["--url http://a --status-mode x", "--status-mode must be"],
    ["--url http://a --timeout x", "--timeout must be a time"],
    ["--url http://a --yes --first-id 7", "--first-id must be an integer from 100000000000000 to "],
    [
      "--url http://a",
      "conform writes plants to http://a that the service cannot delete: pass --yes to confirm\n",
    ],
  ])("exits with 2 for %s: %s", async (args, problem) => {
    expect(await run(args.split(" "))).toExit(2, containing(`error: ${problem}`));
  });

  it("prints its options with --help", async () => {
    const usage = /^usage: npm run conform -- --url URL .*\n[^]* --json /;
    expect(await run(["--help"])).toPrint(usage);
  });

  it("reads the token from a file, or from standard input", async () => {
    const file = join(await createTemporaryDirectory(), "token");
    await writeFile(file, `${testToken}\n`);
    const args = ["--url", server.url, "--yes", "--token-file"];
    expect(await run([...args, file], { env: {} })).toMatchObject({ exitCode: 0 });
    const piped = await run([...args, "-"], { env: {}, stdin: testToken });
    expect(piped).toMatchObject({ exitCode: 0 });
  });

  it("trusts the certificates of --cacert, and no unknown authority without them", async () => {
    const certificate = createCertificate("localhost");
    await using other = await startServer({ host: "localhost", certificate });
    const cacert = join(await createTemporaryDirectory(), "ca.pem");
    await writeFile(cacert, certificate.cert);
    const args = ["--url", other.url, "--yes"];
    expect(await run([...args, "--cacert", cacert])).toMatchObject({ exitCode: 0 });
    expect(await run(args)).toExit(7, containing("is not signed by a trusted authority"));
    const unreadable = await run([...args, "--cacert", `${cacert}.old`]);
    expect(unreadable).toExit(2, containing(".old does not exist"));
  });

  it.each(["", "/v1"])("tests a server behind a Unix socket, base path %j", async (basePath) => {
    const socketPath = join(await createTemporaryDirectory(), "plants.sock");
    await using other = await startServer({ socketPath, basePath });
    const { exitCode, stdout } = await run(["--url", other.url, "--yes", "--json"]);
    expect((parseLines(stdout) as ConformLine[]).filter(({ result }) => result === "fail")).toEqual(
      [],
    );
    expect(exitCode).toBe(0);
  });

  it("runs as a script of the checkout", async () => {
    const args = ["run", "--silent", "conform", "--", "--url", server.url, "--yes", "--json"];
    const options = { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 ** 2 };
    const { stdout } = await promisify(execFile)("npm", args, options);
    const lines = parseLines(stdout) as ConformLine[];
    expect(lines.filter(({ result }) => result === "pass")).toHaveLength(rules.length);
  });

  it("exits with 4 without a token, and for a rejected token", async () => {
    const args = ["--url", server.url, "--yes"];
    expect(await run(args, { env: {} })).toMatchObject({ exitCode: 4, stdout: "" });
    const rejected = await run(args, { env: { PLANTSTORE_TOKEN: "wrong" } });
    const source = "(the token came from PLANTSTORE_TOKEN)";
    expect(rejected).toExit(4, containing(source));
    expect(rejected.stderr).toContain("rejected the token: ");
  });

  it("does not print a token that the server repeats in its rejection", async () => {
    const PLANTSTORE_TOKEN = "a-token-of-another-service";
    const body = JSON.stringify({ error: 40102, message: `unknown: ${PLANTSTORE_TOKEN}` });
    const url = await openRawServer((socket) => {
      const head = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
      socket.end(`HTTP/1.1 400 Bad Request\r\n${head}\r\n\r\n${body}`);
    });
    const args = ["--url", url, "--yes", "--status-mode", "contract"];
    const { exitCode, stderr } = await run(args, { env: { PLANTSTORE_TOKEN } });
    expect(exitCode).toBe(4);
    expect(stderr).toContain("unknown: <ACCESS_TOKEN>");
    expect(stderr).not.toContain(PLANTSTORE_TOKEN);
  });

  it("stops with 130 on Ctrl-C", async () => {
    const url = await openRawServer(() => running.signal("SIGINT"));
    const running = start(["--url", url, "--yes", "--status-mode", "contract"]);
    expect(await running.finished).toMatchObject({ exitCode: 130, stdout: "" });
  });
});

describe("with another implementation, conform", () => {
  const token = "secret-of-the-naive-server";

  async function runAgainstNaive(...flags: readonly string[]) {
    const naive = await startNaiveServer(token);
    onTestFinished(() => naive.close());
    const args = ["--url", naive.url, "--yes", "--timeout", "6", ...flags];
    return run(args, { env: { PLANTSTORE_TOKEN: token } });
  }

  it("reports the failed rules of a naive server with node:http and JSON.parse", async () => {
    const { exitCode, stdout } = await runAgainstNaive("--json");
    expect(exitCode).toBe(8);
    const lines = parseLines(stdout) as ConformLine[];
    const failed = lines.filter(({ group, result }) => group === "given" && result === "fail");
    expect(failed.map(({ rule, problem }) => [rule, problem])).toEqual([
      [
        "The largest and the smallest id of 64 bits are accepted",
        "connection 1: expected 200 with the plant, or error 40900, but received status 400 with error 2",
      ],
      [
        "Two ids of 64 bits that differ by one belong to two plants",
        // A rounded id may be that of another rule, which runs at the same time.
        expect.stringMatching(
          /^response [12]: expected 200 with the plant, but received status 409 with error 3$/,
        ),
      ],
      ...[
        "A request without a credential gets 400 and an Error",
        "A credential of another scheme gets 400 and an Error",
        "An unknown token gets 400 and an Error",
      ].map((rule) => [
        rule,
        "expected a failure with an Error, but received status 401 with error 1",
      ]),
    ]);
    const passed = lines.filter(({ result }) => result === "pass").map(({ rule }) => rule);
    expect(passed).toContain("A plant with a name gets 200 and a Plant without an id");
  });

  it("shows the exact bytes of a failed rule, escaped, with the token redacted", async () => {
    const { stdout } = await runAgainstNaive();
    expect(stdout).toContain(
      String.raw`        expected a failure with an Error, but received status 401 with error 1
        connection 1, sent:
        > POST /plants HTTP/1.1\r\n
`,
    );
    expect(stdout).toContain(String.raw`        < HTTP/1.1 401 Unauthorized\r\n`);
    expect(stdout).toContain(String.raw`> Authorization: Bearer <ACCESS_TOKEN>\r\n`);
    expect(stdout).not.toContain(token);
  });
});

describe("with a hostile server, conform", () => {
  const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
  const endless = (socket: Socket): void => {
    const response = `${head}Content-Length: 15\r\n\r\n{"name":"fern"}`;
    const pump = (): void => {
      while (!socket.destroyed && socket.write(response.repeat(1000)));
    };
    socket.on("drain", pump).resume();
    pump();
  };

  it.each<[what: string, onConnection: (socket: Socket) => void]>([
    ["is silent", (socket) => void socket.resume()],
    ["closes each connection", (socket) => void socket.destroy()],
  ])("that %s exits with 6", async (_what, onConnection) => {
    const url = await openRawServer(onConnection);
    const args = ["--url", url, "--yes", "--timeout", "0.3"];
    expect(await run(args)).toExit(6, containing("no HTTP response"));
  });

  it.each<[what: string, onConnection: (socket: Socket) => void]>([
    ["sends responses without end", endless],
    [
      "never ends a second response",
      (socket) => {
        socket.resume().write(`${head}Content-Length: 15\r\n\r\n`);
        socket.write(`{"name":"fern"}${head}`);
        const timer = setInterval(() => socket.write("x"), 50);
        socket.once("close", () => clearInterval(timer));
      },
    ],
    [
      "echoes the request with control characters",
      (socket) => {
        socket.on("data", (bytes) => {
          socket.end(
            `${head}Content-Length: ${bytes.length + 12}\r\n\r\n\u001b[2Jfooled\u202e${bytes.toString("latin1")}`,
          );
        });
      },
    ],
    [
      "sends one fixed response",
      (socket) => void socket.resume().end(`${head}\r\n{"name":"fern"}`),
    ],
  ])(
    "that %s reports failed rules, ends, and prints no control character",
    async (_what, behave) => {
      const url = await openRawServer(behave);
      const args = ["--url", url, "--yes", "--timeout", "2"];
      const { exitCode, stdout } = await run(args);
      expect(exitCode).toBe(8);
      expect(stdout).toContain("\n  fail  ");
      expect(stdout).not.toContain(testToken);
      // eslint-disable-next-line no-control-regex -- Only line breaks may be in the report.
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
      expect(stdout.length).toBeLessThan(5_000_000);
    },
  );
});
