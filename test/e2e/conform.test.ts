/** `plantstore conform` against servers that break rules: another implementation, and hostile ones. */
import type { Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { openRawServer } from "../client/scripted-server.ts";
import { parseConformLines } from "../helpers/conform-lines.ts";
import { startNaiveServer } from "../helpers/naive-server.ts";
import { testToken } from "../helpers/plant-server.ts";
import { runCli } from "../helpers/run-cli.ts";

const env = { PLANTSTORE_TOKEN: testToken };

describe("plantstore conform with another implementation", () => {
  it("reports the failed rules of a naive server with node:http and JSON.parse", async () => {
    const naive = await startNaiveServer("secret-of-the-naive-server");
    onTestFinished(() => naive.close());
    const args = ["conform", "--url", naive.url, "--yes", "--json", "--timeout", "6"];
    const naiveEnv = { PLANTSTORE_TOKEN: "secret-of-the-naive-server" };
    const { exitCode, stdout } = await runCli(args, { env: naiveEnv });
    expect(exitCode).toBe(8);
    const lines = parseConformLines(stdout);
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
    const naive = await startNaiveServer("secret-of-the-naive-server");
    onTestFinished(() => naive.close());
    const args = ["conform", "--url", naive.url, "--yes", "--timeout", "6"];
    const naiveEnv = { PLANTSTORE_TOKEN: "secret-of-the-naive-server" };
    const { stdout } = await runCli(args, { env: naiveEnv });
    expect(stdout).toContain(
      String.raw`        expected a failure with an Error, but received status 401 with error 1
        connection 1, sent:
        > POST /plants HTTP/1.1\r\n
`,
    );
    expect(stdout).toContain(String.raw`        < HTTP/1.1 401 Unauthorized\r\n`);
    expect(stdout).toContain(String.raw`> Authorization: Bearer <ACCESS_TOKEN>\r\n`);
    expect(stdout).not.toContain("secret-of-the-naive-server");
  });
});

describe("plantstore conform with a hostile server", () => {
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
    const args = ["conform", "--url", url, "--yes", "--timeout", "0.3"];
    const { exitCode, stdout, stderr } = await runCli(args, { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: "" });
    expect(stderr).toContain("no HTTP response");
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
      const args = ["conform", "--url", url, "--yes", "--timeout", "2"];
      const { exitCode, stdout } = await runCli(args, { env });
      expect(exitCode).toBe(8);
      expect(stdout).toContain("\n  fail  ");
      expect(stdout).not.toContain(testToken);
      // eslint-disable-next-line no-control-regex -- Only line breaks may be in the report.
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
      expect(stdout.length).toBeLessThan(5_000_000);
    },
  );
});
