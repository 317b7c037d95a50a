/** `list`, `get`, `export` and `delete` with `--url`: the plants of a server that serves all operations. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { digestToken, mintToken } from "../../src/auth/authenticator.ts";
import { int64Max, int64Min, type NewPlant, toNewPlantJson } from "../../src/core/plant.ts";
import {
  errorResponse,
  findClosedUrl,
  json,
  openScriptedServer,
} from "../client/scripted-server.ts";
import { saveCredential } from "../helpers/credentials.ts";
import { startServer, type TestServer, testToken } from "../helpers/plant-server.ts";
import { type CliOptions, containing, runCli, startCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const env = { PLANTSTORE_TOKEN: testToken };
const fern = { id: 1n, name: "fern", tag: "pot" };

/** Runs the words of a command at a server. */
const runAt = (url: string, line: string, options: CliOptions = {}) =>
  runCli([...line.split(" "), "--url", url], { env, ...options });

async function startAll(
  plants: readonly NewPlant[] = [],
  options: Parameters<typeof startServer>[0] = {},
): Promise<TestServer> {
  const server = await startServer({ operations: "all", ...options });
  onTestFinished(() => server.close());
  for (const plant of plants) await server.store.create(plant, "reject");
  return server;
}

function createMany(count: number): readonly NewPlant[] {
  return Array.from({ length: count }, (_, id) => ({ id: BigInt(id), name: `plant ${id}` }));
}

const toLines = (plants: readonly NewPlant[]): string =>
  plants.map((plant) => `${toNewPlantJson(plant)}\n`).join("");

async function listIds(server: TestServer): Promise<readonly bigint[]> {
  return (await server.store.list({ limit: 9 })).map(({ id }) => id);
}

const exact = [
  { id: int64Min, name: "smallest" },
  { id: 9_007_199_254_740_993n, name: 'a "\\ \u2028, ] }', tag: "" },
  { id: int64Max, name: "largest" },
];

describe("the server", () => {
  it("works beside a PLANTSTORE_STORE that is invalid", async () => {
    const { url } = await startAll([fern]);
    const options = { env: { ...env, PLANTSTORE_STORE: "nonsense:" } };
    expect(await runAt(url, "get 1", options)).toPrint(toLines([fern]));
  });

  it.each(["list", "get 1", "export", "delete 1 --yes"])("excludes --store in %s", async (line) => {
    const result = await runAt("http://127.0.0.1:1", `${line} --store x.db`);
    expect(result).toExit(2, containing("--url excludes --store: remove one of them"));
  });

  it("is needed for the flags of requests", async () => {
    expect(await runCli(["list", "--timeout", "3s"])).toExit(
      2,
      /--timeout is for a server, not for the store sqlite:\S+: pass --url too/,
    );
  });

  it.each(["list", "list --count", "get 1", "export", "delete 1 --yes"])(
    "that only creates plants is exit code 7 for %s",
    async (line) => {
      await using server = await startServer();
      const problem = `error: the plant store at ${server.url} only creates plants: its operator can start it with --operations all; on its machine, use --store\n`;
      expect(await runAt(server.url, line)).toExit(7, problem);
    },
  );

  it.each(["list", "get 1", "delete 1 --yes"])(
    "has the path of the operation in %s: exit code 7, and the advice to remove it",
    async (line) => {
      const { url } = await startAll([fern]);
      const advice = containing("(remove /plants from --url, which is ");
      expect(await runAt(`${url}/plants`, line)).toExit(7, advice);
    },
  );

  it.each(["list", "get 1", "export"])("has a wrong path in %s: exit code 7", async (line) => {
    const { url } = await startAll([fern]);
    const problem = 'error 40400: unknown path "/v9/plants": list plants with GET /plants';
    const result = await runAt(`${url}/v9`, line);
    expect(result).toExit(7, containing(problem));
    expect(result.stderr).toContain("--url");
  });

  it("is no plant store: exit code 7", async () => {
    const { url, requests } = await openScriptedServer((response) => response.end("<html>"));
    expect(await runAt(url, "delete 1 --yes")).toMatchObject({ exitCode: 7 });
    expect(requests).toMatchObject([{ method: "DELETE", path: "/plants/1" }]);
  });

  it("is missing on this machine: says how to start one with all operations", async () => {
    const url = await findClosedUrl();
    const result = await runAt(url, "list --retry 0");
    const start = `  plantstore serve --port ${new URL(url).port} --operations all\n`;
    expect(result).toExit(6, containing(start));
  });

  it("rejects the token: exit code 4, with its source", async () => {
    const { url } = await startAll([fern]);
    const home = await createTemporaryDirectory();
    await writeFile(`${home}/token`, "of-my-own");
    const result = await runAt(url, `list --token-file ${home}/token`, { env: {} });
    expect(result).toExit(4, containing(`${home}/token`));
    expect(result.stderr).not.toContain("plantstore login");
  });

  it.each([
    ["that it doesn't know", undefined],
    ["that may only create", ["create"] as const],
  ])(
    "rejects a saved token %s: exit code 4, with the command that replaces it",
    async (_, allow) => {
      const { url, store } = await startAll([fern]);
      const token = mintToken();
      if (allow !== undefined) {
        const digest = digestToken(token);
        await store.addToken({ digest, prefix: "pst_test", name: "", issuedAtMs: 0, allow });
      }
      const config = await createTemporaryDirectory();
      await saveCredential(config, { origin: url, token });
      const result = await runAt(url, "list", { env: { PLANTSTORE_CONFIG_DIR: config } });
      expect(result).toExit(
        4,
        containing(`\nReplace the token:\n  plantstore login --url ${url}\n`),
      );
    },
  );

  it.each([
    ["list", 9],
    ["get 1", 3],
    ["export", 9],
    ["delete 1 --yes", 3],
    ["delete 1 2 --yes", 18],
  ])("is unavailable in %s: exit code 6 after %i requests", async (line, count) => {
    const { url, requests } = await openScriptedServer(
      errorResponse(50301, { "retry-after": "0" }),
    );
    expect(await runAt(url, line)).toMatchObject({ exitCode: 6 });
    expect(requests).toHaveLength(count);
  });
});

describe("list", () => {
  it("reads all pages in a pipe, and as many plants as --limit says", async () => {
    const plants = createMany(1500);
    const { url } = await startAll(plants);
    expect(await runAt(url, "list")).toPrint(toLines(plants));
    const some = await runAt(url, "list --limit 1200 --after 9");
    expect(some).toPrint(toLines(plants.slice(10, 1210)));
  });

  it("selects plants by their tag", async () => {
    const plants = createMany(1500).map((plant) =>
      plant.id % 600n === 0n ? { ...plant, tag: "pot" } : plant,
    );
    const { url } = await startAll(plants);
    const tagged = plants.filter(({ id }) => id % 600n === 0n);
    expect(await runAt(url, "list --tag pot")).toPrint(toLines(tagged));
    const some = await runAt(url, "list --tag pot --limit 2");
    expect(some).toPrint(toLines(tagged.slice(0, 2)));
  });

  it("counts the plants of all pages", async () => {
    const { url } = await startAll(createMany(2100));
    expect(await runAt(url, "list --count")).toPrint("2100\n");
  });

  it("rejects pages that do not follow each other", async () => {
    const link = { link: '<?limit=1&after=1>; rel="next"' };
    const { url, requests } = await openScriptedServer(json(200, '[{"id":1,"name":"a"}]', link));
    expect(await runAt(url, "list")).toMatchObject({ exitCode: 7 });
    expect(requests).toHaveLength(2);
  });
});

describe("get", () => {
  it("is unavailable in the order of the ids, after all retries", async () => {
    const { url, requests } = await openScriptedServer(
      errorResponse(50301, { "retry-after": "0" }),
    );
    expect(await runAt(url, "get 1 2")).toMatchObject({ exitCode: 6 });
    expect(requests.filter(({ path }) => path === "/plants?limit=1&after=0")).toHaveLength(9);
  });

  it("sends many requests over at most 8 connections, also after failures", async () => {
    const sockets = new Set<unknown>();
    let requests = 0;
    const { url } = await openScriptedServer((response, { path = "" }) => {
      sockets.add(response.req.socket);
      const id = Number(path.split("after=")[1]) + 1;
      if (requests++ % 5 === 0) errorResponse(50301, { "retry-after": "0" })(response);
      else json(200, id % 2 === 0 ? "[]" : `[{"id":${id},"name":"a"}]`)(response);
    });
    const ids = Array.from({ length: 500 }, (_, index) => `${500 - index}`);
    const { exitCode, stdout } = await runAt(url, "get -", { stdin: ids.join("\n") });
    expect(exitCode).toBe(9);
    const odd = ids.filter((id) => Number(id) % 2 === 1);
    expect(stdout).toBe(toLines(odd.map((id) => ({ id: BigInt(id), name: "a" }))));
    expect(sockets.size).toBeLessThanOrEqual(8);
  });

  it("repeats no request that waits when another one ends the command", async () => {
    const { url } = await openScriptedServer(json(200, "{}"), () => {});
    const run = await runAt(url, "get 1 2 3");
    expect(run).toExit(7, containing("is not a plant store"));
    expect(run.stderr).not.toContain("retrying");
  });

  it("sends one request, for the smallest id too", async () => {
    const first = json(200, `[{"id":${int64Min},"name":"smallest"}]`);
    const { url, requests } = await openScriptedServer(first, json(200, '[{"id":9,"name":"a"}]'));
    const output = `{"id":${int64Min},"name":"smallest"}\n`;
    expect(await runAt(url, `get ${int64Min}`)).toPrint(output);
    const problem = `error: no plant in the plant store at ${url} has the id 8\nList all plants:\n  plantstore list --url ${url}\n`;
    expect(await runAt(url, "get 8")).toExit(9, problem);
    expect(requests.map(({ path }) => path)).toEqual([
      "/plants?limit=1",
      "/plants?limit=1&after=7",
    ]);
  });

  it("reads ids from standard input", async () => {
    const { url } = await startAll(exact);
    const stdin = exact.map(({ id }) => `${id}\n`).join("");
    expect(await runAt(url, "get -", { stdin })).toPrint(toLines(exact));
  });

  it("cannot read the token and the ids from standard input", async () => {
    const result = await runAt("http://127.0.0.1:1", "get - --token-file -", { stdin: "1\n" });
    expect(result).toMatchObject({ exitCode: 2 });
  });
});

describe("export", () => {
  it("prints all plants", async () => {
    const plants = createMany(2500);
    const { url } = await startAll(plants);
    expect(await runAt(url, "export")).toPrint(toLines(plants));
  });

  it("continues after an id, with a tag", async () => {
    const { url } = await startAll([
      fern,
      { id: 2n, name: "b", tag: "pot" },
      { id: 3n, name: "c" },
    ]);
    const result = await runAt(url, "export --after 1 --tag pot --csv");
    expect(result).toPrint("id,name,tag\n2,b,pot\n");
  });

  it("reads all pages over one connection", async () => {
    const sockets = new Set<unknown>();
    const pages = ['[{"id":1,"name":"a"}]', '[{"id":2,"name":"b"}]', "[]"];
    const { url } = await openScriptedServer((response) => {
      sockets.add(response.req.socket);
      json(200, pages.shift() ?? "[]")(response);
    });
    expect(await runAt(url, "export")).toPrint(/"id":2,.*\n$/);
    expect(pages).toEqual([]);
    expect(sockets.size).toBe(1);
  });

  it("retries a page", async () => {
    const page = json(200, '[{"id":1,"name":"a"}]');
    const { url, requests } = await openScriptedServer(
      errorResponse(50301, { "retry-after": "0" }),
      page,
      json(200, "[]"),
    );
    const warning = `warning: ${url} is unavailable (error 50301), retrying\n`;
    expect(await runAt(url, "export")).toExit(0, warning, '{"id":1,"name":"a"}\n');
    expect(requests).toHaveLength(3);
  });

  it.each([
    ["export", ""],
    ["export --csv", " | tail -n +2"],
  ])("prints the command that appends the rest, if the token expires: %s", async (line, tail) => {
    const link = { link: '<http://other.example/plants>; rel="next"' };
    const { url } = await openScriptedServer(
      json(200, '[{"id":-7,"name":"a"}]', link),
      errorResponse(40103),
    );
    const { exitCode, stderr } = await runAt(url, line);
    expect(exitCode).toBe(4);
    const words = `${line} --after=-7 --url ${url}`;
    expect(stderr).toContain(`\nAppend the rest:\n  plantstore ${words}${tail} >> FILE\n`);
  });

  it("prints the command that appends the rest, if a signal stops it", async () => {
    const link = { link: '<?limit=1&after=7>; rel="next"' };
    const { url } = await openScriptedServer(json(200, '[{"id":7,"name":"a"}]', link), () => {});
    const run = startCli(["export", "--url", url], { env });
    await run.firstLine();
    run.signal("SIGINT");
    expect(await run.finished).toExit(
      130,
      containing(`Append the rest:\n  plantstore export --after 7 --url ${url} >> FILE\n`),
      '{"id":7,"name":"a"}\n',
    );
  });

  it("names the id to continue after, if a plant is too large", async () => {
    const link = { link: '<?limit=1&after=7>; rel="next"' };
    const { url } = await openScriptedServer(
      json(200, '[{"id":7,"name":"a"}]', link),
      json(200, `[{"id":8,"name":"${"a".repeat(17 * 1024 * 1024)}"}]`),
    );
    const { exitCode, stderr } = await runAt(url, "export");
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      "error: the plant after the id 7 is too large for a response: read it where the store is, and continue after its id\n",
    );
  });
});

describe("delete", () => {
  const plants = createMany(6);

  it("deletes plants, and names those that were absent with exit code 9", async () => {
    const server = await startAll(plants);
    const name = `the plant store at ${server.url}`;
    expect(await runAt(server.url, "delete 7 1 -8 3 --yes --json")).toExit(
      9,
      `deleted 2 plants with the ids 1, 3 from ${name}\nerror: no plant in ${name} has the ids 7, -8\nList all plants:\n  plantstore list --url ${server.url}\n`,
      '{"id":7,"deleted":false}\n{"id":1,"deleted":true}\n{"id":-8,"deleted":false}\n{"id":3,"deleted":true}\n',
    );
    expect(await listIds(server)).toEqual([0n, 2n, 4n, 5n]);
  });

  it("deletes what list prints", async () => {
    const server = await startAll(createMany(1500));
    const { stdout: stdin } = await runAt(server.url, "list");
    const result = await runAt(server.url, "delete - --yes", { stdin });
    expect(result).toExit(0, containing("deleted 1,500 plants"));
    expect(await listIds(server)).toEqual([]);
  });

  it("needs --yes without a terminal, and sends nothing", async () => {
    const { url, requests } = await openScriptedServer(json(200, "[]"));
    expect(await runAt(url, "delete 1")).toMatchObject({ exitCode: 2 });
    expect(requests).toEqual([]);
  });

  /** A server that deletes all plants but those with these ids; also returns the ids of its deletions. */
  async function openFailingServer(failing: readonly number[], number = 50301) {
    const sent: number[] = [];
    const { url } = await openScriptedServer((response, { path }) => {
      const id = Number(path?.slice("/plants/".length));
      sent.push(id);
      if (failing.includes(id)) errorResponse(number)(response);
      else response.writeHead(204).end();
    });
    return { url, sent };
  }

  it("says that a plant is gone after a lost response, and that it was absent after a refusal", async () => {
    let deletions = 0;
    const { url } = await openScriptedServer((response, { method, path }) => {
      if (method === "GET") json(200, "[]")(response);
      else if (deletions++ > 1) errorResponse(40401)(response);
      else if (path === "/plants/1") response.destroy();
      else errorResponse(50301, { "retry-after": "0" })(response);
    });
    expect(await runAt(url, "delete 1 2 --yes --json")).toExit(
      9,
      containing("gone: the plant with the id 1\n"),
      '{"id":1,"deleted":null,"gone":true}\n{"id":2,"deleted":false}\n',
    );
  });

  it("goes on after a deletion that fails, also in later batches of standard input", async () => {
    const { url } = await openFailingServer([2, 900]);
    const ids = Array.from({ length: 1002 }, (_, index) => index + 1);
    const options = { stdin: ids.join("\n") };
    expect(await runAt(url, "delete - --yes --json --retry 0", options)).toExit(
      8,
      /^deleted 1,000 plants .*; failed for 2 plants with the ids 2, 900\nerror 50301: /,
      ids.map((id) => `{"id":${id},"deleted":${[2, 900].includes(id) ? null : true}}\n`).join(""),
    );
  });

  it("exits with 8 if others succeeded, whatever the failure, and names each id once", async () => {
    const { url } = await openFailingServer([2], 40102);
    const problem = /^deleted the plant with the id 1 .*; failed for .* the id 2\n/;
    expect(await runAt(url, "delete 1 2 --yes --retry 0")).toExit(8, problem);
  });

  it("names what failed and what has no plant if nothing was deleted", async () => {
    const { url } = await openScriptedServer((response, { path }) => {
      errorResponse(path === "/plants/1" ? 50301 : 40401)(response);
    });
    expect(await runAt(url, "delete 1 2 --yes --retry 0")).toExit(
      6,
      /^no plant was deleted from .*; failed for .* the id 1; no plant has the id 2\nerror 50301: /,
    );
  });

  it.each([
    ["three in a row fail", 50301],
    ["the token is rejected", 40102],
  ])("sends nothing more after %s", async (_, number) => {
    const ids = Array.from({ length: 1000 }, (_each, index) => index + 1);
    const { url, sent } = await openFailingServer(ids, number);
    const result = await runAt(url, `delete ${ids.join(" ")} --yes --retry 0`);
    expect(result).toMatchObject({ exitCode: number === 40102 ? 4 : 6 });
    expect(sent.length).toBeLessThan(ids.length);
  });

  it("creates no store", async () => {
    const server = await startAll(plants);
    const home = await createTemporaryDirectory();
    await runAt(server.url, "delete 1 --yes", { home });
    expect(existsSync(`${home}/.local`)).toBe(false);
  });
});
