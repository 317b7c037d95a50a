/** One state has one sentence and one exit code in every command that meets it. */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import {
  errorResponse,
  findClosedUrl,
  json,
  openRawServer,
  openScriptedServer,
} from "../client/scripted-server.ts";
import { createCertificate } from "../helpers/certificate.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { type CliResult, runCli } from "../helpers/run-cli.ts";
import { canMountSmallDisks, makeReadOnly, openSmallDisk } from "../helpers/small-disk.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";
import { isRoot } from "../helpers/untested.ts";

/** The environment of a command. */
interface Situation {
  readonly url?: string;
  /** Undefined for none. */
  readonly token?: string | undefined;
  readonly store?: string;
}

const commands = {
  create: ["create", "--id", "1", "--name", "fern"],
  "create of many": ["create", "--json", "-"],
  ping: ["ping"],
  status: ["status", "--json"],
  login: ["login"],
  list: ["list"],
  "token issue": ["token", "issue"],
  delete: ["delete", "1", "--yes"],
  serve: ["serve", "--port", "0"],
} as const;

type CommandName = keyof typeof commands;

/** The sentence about a state, and the exit code. */
interface Outcome {
  readonly exitCode: number;
  readonly sentence: string;
}

async function run(
  name: CommandName,
  { url, token = testToken, store = "memory:" }: Situation,
  subject: string,
): Promise<Outcome> {
  const hasNoToken = name === "ping" || token === "";
  const hasUrl = url !== undefined && name !== "list" && name !== "delete";
  const result = await runCli(commands[name], {
    home: await createTemporaryDirectory(),
    env: {
      PLANTSTORE_RETRY: "0",
      PLANTSTORE_STORE: store,
      ...(hasUrl && { PLANTSTORE_URL: url }),
      ...(!hasNoToken && { PLANTSTORE_TOKEN: token }),
    },
    stdin: name === "login" ? token : '{"id":1,"name":"fern"}',
  });
  return { exitCode: result.exitCode, sentence: findSentence(name, result, subject) };
}

/** The error, without the id of its request and what only one command adds. */
function findSentence(name: CommandName, { stdout, stderr }: CliResult, subject: string): string {
  if (name === "status") return toSentence(findCheck(stdout, subject));
  const line = stderr.split("\n").find((each) => each.startsWith("error")) ?? "";
  return toSentence(line.replace(/^error: /, "").replace("standard input", "PLANTSTORE_TOKEN"));
}

function findCheck(report: string, subject: string): string {
  const { checks } = JSON.parse(report) as { checks: { subject: string; message: string }[] };
  return checks.find((check) => check.subject === subject)?.message ?? "";
}

function toSentence(text: string): string {
  return text.replace(/ \(request [\w-]+\)|; request [\w-]+/, "");
}

const certificate = createCertificate("localhost");
const html = { "content-type": "text/html" };
const storageFull = { error: 50700, message: "message of 50700" };

const startUntilEnd: typeof startServer = async (options) => {
  const server = await startServer(options);
  onTestFinished(() => server.close());
  return server;
};

const allOfServer = ["create", "create of many", "ping", "status", "login"] as const;
const withToken = ["create", "create of many", "status"] as const;

interface State {
  readonly state: string;
  readonly open: () => Promise<Situation>;
  readonly exitCode: number;
  /** The start of the sentence. */
  readonly sentence: RegExp;
  readonly names: readonly CommandName[];
  readonly subject?: string;
}

describe.each<State>([
  {
    state: "no server",
    open: async () => ({ url: await findClosedUrl() }),
    exitCode: 6,
    sentence: /^cannot connect to \S+: connection refused$/,
    names: allOfServer,
  },
  {
    state: "an unknown host",
    open: () => Promise.resolve({ url: "http://plantstore.invalid" }),
    exitCode: 6,
    sentence:
      /^cannot resolve the host of http:\/\/plantstore\.invalid \((?:unknown name|no name server responded)\): check PLANTSTORE_URL$/,
    names: allOfServer,
  },
  {
    state: "neither a server nor a token",
    open: async () => ({ url: await findClosedUrl(), token: "" }),
    exitCode: 6,
    sentence: /^cannot connect to /,
    names: ["create", "create of many", "ping", "status"],
  },
  {
    state: "a server of web pages",
    open: () =>
      openScriptedServer((response) => void response.writeHead(200, html).end("<h1>Plants</h1>")),
    exitCode: 7,
    sentence:
      /^http:\S+\/plants is not a plant store \(HTTP 200, text\/html\): check PLANTSTORE_URL$/,
    names: allOfServer,
  },
  {
    state: "a server without the path",
    open: () => openScriptedServer(json(404, "{}")),
    exitCode: 7,
    sentence:
      /^http:\S+\/plants is not a plant store \(HTTP 404, application\/json\): check PLANTSTORE_URL$/,
    names: allOfServer,
  },
  {
    state: "a server that redirects",
    open: () =>
      openScriptedServer((response) => void response.writeHead(301, { location: "/v2" }).end()),
    exitCode: 7,
    sentence:
      /^http:\S+ is not a plant store \(HTTP 301 to \/v2, and redirects are not followed\): /,
    names: allOfServer,
  },
  {
    state: "a server of another protocol",
    open: async () => ({ url: await openRawServer((socket) => socket.end("SSH-2.0-x\r\n")) }),
    exitCode: 7,
    sentence: /^http:\S+\/plants is not a plant store \(no HTTP response\): check PLANTSTORE_URL$/,
    names: allOfServer,
  },
  {
    state: "a wrong path of a plant store",
    open: async () => ({ url: `${(await startUntilEnd()).url}/v1` }),
    exitCode: 7,
    sentence: /^(?:error 40400: )?unknown path .* \(check PLANTSTORE_URL, which is \S+\/v1\)$/,
    names: allOfServer,
  },
  {
    state: "the path of a create twice, which is that of a delete",
    open: async () => ({ url: `${(await startUntilEnd({ operations: "all" })).url}/plants` }),
    exitCode: 7,
    sentence:
      /^error 40500: method POST .* \(remove \/plants from PLANTSTORE_URL, which is \S+\/plants\)$/,
    names: allOfServer,
  },
  {
    state: "an untrusted certificate",
    open: async () => ({ url: (await startUntilEnd({ host: "localhost", certificate })).url }),
    exitCode: 7,
    sentence: /^no secure connection to https:\S+: its certificate is not signed by /,
    names: allOfServer,
  },
  {
    state: "https to a port without TLS",
    open: async () => ({ url: (await startUntilEnd()).url.replace("http:", "https:") }),
    exitCode: 7,
    sentence: /^no secure connection to https:\S+: this is a port without TLS: try http:/,
    names: allOfServer,
  },
  {
    state: "no token",
    open: async () => ({ url: (await startUntilEnd()).url, token: "" }),
    exitCode: 4,
    sentence: /^no token for http:\S+$/,
    names: withToken,
    subject: "token",
  },
  {
    state: "a rejected token",
    open: async () => ({ url: (await startUntilEnd()).url, token: "of-my-own" }),
    exitCode: 4,
    sentence: /^error 40102: the token is unknown .* \(the token came from PLANTSTORE_TOKEN\)$/,
    names: [...withToken, "login"],
    subject: "token",
  },
  {
    state: "a server whose storage cannot be written",
    open: () =>
      openScriptedServer((response, { method, headers }) => {
        if (method === "GET") json(503, JSON.stringify(storageFull))(response);
        else errorResponse(headers.authorization === undefined ? 40100 : 50700)(response);
      }),
    exitCode: 6,
    sentence: /^error 50700: message of 50700$/,
    names: ["create", "ping", "status"],
  },
  {
    state: "a file of another program as the store",
    open: async () => ({ store: await createForeignFile() }),
    exitCode: 2,
    sentence:
      /^the store \S+ is not a SQLite database: name another file, or restore a backup if it was a plant store$/,
    names: ["list", "token issue", "delete", "status", "serve"],
    subject: "store",
  },
  {
    state: "a store whose database does not run",
    open: async () => ({ store: `postgres://${new URL(await findClosedUrl()).host}/plants` }),
    exitCode: 6,
    sentence: /^the store postgres:\S+ /,
    names: ["list", "token issue", "delete", "status", "serve"],
    subject: "store",
  },
  {
    state: "a store below a file",
    open: async () => ({ store: `${await createForeignFile()}/plants.db` }),
    exitCode: 2,
    sentence: /^the store \S+ is below something that is not a directory: /,
    names: ["list", "token issue", "delete", "status", "serve"],
    subject: "store",
  },
  {
    state: "a store in a missing directory",
    open: async () => ({ store: `sqlite:${await createTemporaryDirectory()}/missing/plants.db` }),
    exitCode: 2,
    sentence: /^the directory \S+ does not exist: /,
    names: ["serve", "status"],
    subject: "store",
  },
  {
    state: "a missing store",
    open: async () => ({ store: `sqlite:${await createTemporaryDirectory()}/plants.db` }),
    exitCode: 2,
    sentence: /^the store \S+ does not exist: /,
    names: ["list", "token issue", "delete"],
  },
])("$state", ({ open, exitCode, sentence, names, subject = "server" }) => {
  it(`exits with ${exitCode} and has one sentence in ${names.join(", ")}`, async () => {
    const situation = await open();
    // For a store, the server is in order.
    const complete = { url: (await startUntilEnd()).url, ...situation };
    const outcomes: [string, Outcome][] = [];
    for (const name of names) outcomes.push([name, await run(name, complete, subject)]);
    const [, first] = outcomes[0] ?? [];
    expect(first?.sentence).toMatch(sentence);
    expect(outcomes).toEqual(names.map((name) => [name, { ...first, exitCode }]));
  });
});

describe.runIf(!isRoot || (await canMountSmallDisks()))(
  "a store that this user may not write",
  () => {
    it("exits with 2 where it is changed, and is a warning of status; list reads it", async () => {
      const store = await createUnwritableStore();
      const { url } = await startUntilEnd();
      const sentence = expect.stringMatching(
        /^the store \S+ is read-only: make the file and its directory writable \(.*\)$/,
      ) as string;
      for (const name of ["token issue", "delete"] as const) {
        expect(await run(name, { store }, "")).toEqual({ exitCode: 2, sentence });
      }
      expect(await run("status", { url, store }, "store")).toEqual({ exitCode: 0, sentence });
      expect(await run("list", { store }, "")).toMatchObject({ exitCode: 0 });
    });
  },
);

async function createForeignFile(): Promise<string> {
  const path = join(await createTemporaryDirectory(), "notes.txt");
  await writeFile(path, "not a database at all", { mode: 0o600 });
  return `sqlite:${path}`;
}

/** A closed store with a plant. Root may write every file, except on a read-only disk. */
async function createUnwritableStore(): Promise<string> {
  const directory = isRoot ? await openSmallDisk(4) : await createTemporaryDirectory();
  const path = join(directory, "plants.db");
  const store = await openStore(`sqlite:${path}`);
  await store.create({ id: 1n, name: "fern" }, "reject");
  await store.close();
  await (isRoot ? makeReadOnly(directory) : chmod(path, 0o400));
  return `sqlite:${path}`;
}
