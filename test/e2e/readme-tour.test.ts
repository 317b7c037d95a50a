/**
 * The sessions at a terminal in the README and the manual show what a terminal shows, from an empty home. The other
 * commands of the README do what it says.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { serveBinary } from "../helpers/binary-server.ts";
import { createCertificate } from "../helpers/certificate.ts";
import { copyCheckout } from "../helpers/pack.ts";
import { startSession } from "../helpers/pseudo-terminal.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const run = promisify(execFile);
const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
/** The lines in the blocks of commands without output. */
const commands = [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block = ""]) =>
  block.trimEnd().split("\n"),
);

/** A command and its output. */
interface Step {
  readonly command: string;
  readonly shown: string;
}

/** Separates the outputs of two commands, and leaves `$?` as it is. */
const mark = "@@@";
/** Without curl, another command creates the plant that later commands need. */
const shell = `
  stty cols 120
  plantstore() { $PLANTSTORE "$@"; }
  npx() { shift; $PLANTSTORE "$@"; }
  mark() { status=$?; echo "${mark}"; return $status; }
  command -v curl >/dev/null || curl() { plantstore create --id 2 --name monstera --tag pot; }
`;

/** Reads the sessions of a document: fenced in the README, indented in the manual. */
function readSteps(text: string): readonly Step[] {
  const fenced = [...text.matchAll(/^```console\n([^]*?)^```$/gm)].map(
    ([, session = ""]) => session,
  );
  const indented = [...text.matchAll(/(?:^ {4}.*\n|^\n(?= {4}))+/gm)]
    .map(([session]) => session.replaceAll(/^ {4}/gm, ""))
    .filter((session) => session.trimStart().startsWith("$ "))
    // A server runs until it is stopped.
    .filter((session) => !session.includes("$ plantstore serve"));
  return [...fenced, ...indented].flatMap((session) =>
    session
      .split(/^\$ /m)
      .slice(1)
      .map((step): Step => {
        const [, command = "", shown = ""] = /^((?:.*\\\n)*.*)\n([^]*)$/.exec(step) ?? [];
        return { command, shown };
      }),
  );
}

/** Replaces what differs from run to run. */
function toComparable(text: string): string {
  return (
    text
      .replaceAll("\r", "")
      .replaceAll(/sqlite:\S+/g, "sqlite:plants.db")
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:7526")
      .replaceAll(/pst_\w{4}/g, "pst_0000")
      .replaceAll(/\d{4}-\d\d-\d\d/g, "2026-01-31")
      .replaceAll(/\d\d:\d\d UTC/g, "00:00 UTC")
      .replaceAll(/request [0-9a-f]+-\d+/g, "request 0-0")
      .replaceAll(/in [\d.]+ s(?: \([\d,.]+\/s\))?/g, "in 0.0 s")
      // A use is noted a second later, and a column is as wide as what is in it.
      .replaceAll(/(?:2026-01-31|never) +active/g, "used active")
      .replaceAll(/ +/g, " ")
      .trimEnd()
  );
}

it.each<[document: string, minimumSteps: number]>([
  ["README.md", 8],
  ["src/manual/tokens.md", 3],
  ["src/manual/bulk.md", 2],
])("the commands in %s have the output that it shows", async (path, minimumSteps) => {
  const home = await createTemporaryDirectory();
  const steps = readSteps(await readFile(new URL(`../../${path}`, import.meta.url), "utf8"));
  expect(steps.length).toBeGreaterThanOrEqual(minimumSteps);
  const input = steps.find(({ command }) => command === "cat plants.ndjson");
  if (input !== undefined) await writeFile(join(home, "plants.ndjson"), input.shown);
  const { url } = await serveBinary(["--operations", "all"], { home });

  const script = steps
    .map(({ command }) => `${command}\nmark\n`)
    .join("")
    .replaceAll("http://127.0.0.1:7526", url)
    // Where the tests allow a token to be.
    .replaceAll("ci.token", "token");
  await writeFile(join(home, "tour.sh"), shell + script);
  const screen = await startSession("sh tour.sh", home).finished;

  const shown = screen.split(mark).map(toComparable);
  for (const [index, step] of steps.entries()) {
    expect(shown[index]?.replace(/^\n/, ""), step.command).toBe(toComparable(step.shown));
  }
});

it("each server in the README starts and is ready", async () => {
  const servers = commands.flatMap((command) => {
    const [, token, args] =
      /^(?:PLANTSTORE_TOKEN=(\S+) )?plantstore serve (.*)$/.exec(command) ?? [];
    const env = token === undefined ? {} : { PLANTSTORE_TOKEN: token };
    return args === undefined ? [] : [{ command, args: args.split(" "), env }];
  });
  expect(servers).toHaveLength(3);
  for (const { command, args, env } of servers) {
    const home = await createTemporaryDirectory();
    const { cert, key } = createCertificate("localhost");
    await writeFile(join(home, "fullchain.pem"), cert);
    await writeFile(join(home, "privkey.pem"), key, { mode: 0o600 });
    const server = await serveBinary(args, { home, env });
    const [, port = ""] = /:(\d+)$/.exec(server.url) ?? [];
    const url = command.includes("--tls-cert")
      ? `https://localhost:${port}`
      : `http://127.0.0.1:${port}`;
    const trusted = ["--cacert", join(home, "fullchain.pem")];
    const pinged = await server.run(["ping", "--url", url, ...trusted]);
    expect(pinged, command).toMatchObject({ code: 0 });
    await server.stop();
  }
});

it("the command in the README issues a token that expires in 90 days", async () => {
  const issue = commands.find((command) => command.startsWith("plantstore token issue")) ?? "";
  const server = await serveBinary();
  const issued = await server.run([...issue.split(" ").slice(1), "--json"]);
  expect(issued).toMatchObject({ code: 0 });
  const { issued: start = "", expires = "" } = JSON.parse(issued.stdout) as Record<string, string>;
  expect(Date.parse(expires) - Date.parse(start)).toBe(90 * 24 * 60 * 60 * 1000);
});

it("prints JSON in a pipe where the README says so, and with --json", async () => {
  const server = await serveBinary(["--operations", "all"]);
  const many = '{"id":1,"name":"fern"}\n{"id":2,"name":"moss"}\n';
  expect(await server.run(["create"], many)).toMatchObject({ code: 0 });
  const backup = join(server.home, "plants.backup");
  const remote = ["--url", server.url];

  const piped: readonly (readonly string[])[] = [
    ["create", "--id", "1", "--name", "fern"],
    ["list"],
    ["list", ...remote],
    ["get", "1", "2"],
    ["get", "1", ...remote],
    ["export"],
    ["export", ...remote],
    ["token", "list"],
    ["backup", backup],
    ["verify", backup],
    ["token", "issue", "--name", "json", "--json"],
    ["status", "--json"],
    ["ping", "--json"],
    ["list", "--json"],
    ["delete", "2", "--yes", "--json"],
  ];
  for (const argv of piped) expectJson(argv, await server.run(argv));
  await server.stop();
  const restore = ["restore", backup, "--force"];
  expectJson(restore, await server.run(restore));
});

/** Asserts that a command succeeded, and that its output is JSON in whole or in each line. */
function expectJson(
  argv: readonly string[],
  { code, stdout }: { code: number | null; stdout: string },
) {
  const command = argv.join(" ");
  expect(code, command).toBe(0);
  expect(stdout, command).toMatch(/^[{[]/);
  const values = stdout.startsWith("{\n") ? [stdout] : stdout.trimEnd().split("\n");
  for (const value of values) expect(() => void JSON.parse(value), command).not.toThrow();
}

it("the commands in the README uninstall the command and remove what it stored", async () => {
  const home = await createTemporaryDirectory();
  const checkout = join(home, "checkout");
  await copyCheckout(checkout);
  const server = await serveBinary([], { home });
  await server.stop();
  const prefix = join(home, "npm");
  const options = {
    cwd: checkout,
    env: {
      HOME: home,
      PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
      npm_config_offline: "true",
      npm_config_prefix: prefix,
      npm_config_update_notifier: "false",
    },
  };
  // The script prepare would build, which another test does.
  await run("sh", ["-c", "npm install --global . --ignore-scripts"], options);
  const left = [
    join(prefix, "bin/plantstore"),
    join(home, ".local/share/plantstore"),
    join(home, ".config/plantstore"),
  ];
  expect(left.filter((path) => !existsSync(path))).toEqual([]);

  const uninstall = commands.slice(commands.indexOf("npm uninstall --global plantstore"));
  expect(uninstall).toHaveLength(2);
  await run("sh", ["-euc", uninstall.join("\n")], options);
  expect(left.filter((path) => existsSync(path))).toEqual([]);
}, 120_000);
