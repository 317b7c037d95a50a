/** `plantstore token`: the operator of a store issues, lists, rotates, revokes and prunes its tokens. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { digestToken, mintToken } from "../../../src/auth/token.ts";
import type { TokenRecord } from "../../../src/core/store.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { type CliOptions, runCli, startCli } from "../../helpers/run-cli.ts";
import { createSqliteStore } from "../../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

const dayMs = 86_400_000;

let storeUrl: string;
beforeEach(async () => {
  storeUrl = await createSqliteStore([]);
});

function runToken(args: readonly string[], options: CliOptions = {}) {
  return runCli(["token", ...args], { ...options, env: { PLANTSTORE_STORE: storeUrl } });
}

async function addTokens(...tokens: readonly Partial<TokenRecord>[]): Promise<void> {
  const store = await openStore(storeUrl);
  for (const [index, token] of tokens.entries()) {
    const prefix = `pst_000${index}`;
    await store.addToken({ digest: `${index}`, prefix, name: "", issuedAtMs: index, ...token });
  }
  await store.close();
}

async function readTokens(): Promise<readonly TokenRecord[]> {
  const store = await openStore(storeUrl);
  const tokens = await store.listTokens();
  await store.close();
  return tokens;
}

describe("token issue", () => {
  it("prints only the token, and stores only its digest", async () => {
    const { exitCode, stdout, stderr } = await runToken(["issue", "--name", "ci"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^pst_[0-9A-Za-z]{49}\n$/);
    const token = stdout.trim();
    expect(await readTokens()).toEqual([
      {
        digest: digestToken(token),
        prefix: token.slice(0, 8),
        name: "ci",
        issuedAtMs: expect.any(Number) as number,
      },
    ]);
    const path = storeUrl.replace("sqlite:", "");
    expect((await readFile(path)).includes(token)).toBe(false);
  });

  it("names the token on a terminal without repeating it", async () => {
    const terminals = { stdout: true, stderr: true };
    const { stdout, stderr } = await runToken(["issue", "--name", "ci"], { terminals });
    const prefix = stdout.slice(0, 8);
    expect(stderr).toBe(`issued ci (${prefix}): keep the token, it is not shown again\n`);
  });

  it.each([
    ["90m", 90 * 60_000],
    ["60s", 60_000],
    ["1.5h", 90 * 60_000],
    ["12h", dayMs / 2],
    ["30d", 30 * dayMs],
    ["3650d", 3650 * dayMs],
  ])("--expires %s sets its lifetime", async (text, lifetimeMs) => {
    await runToken(["issue", "--expires", text]);
    const [token] = await readTokens();
    expect((token?.expiresAtMs ?? 0) - (token?.issuedAtMs ?? 0)).toBe(lifetimeMs);
  });

  it.each(["0d", "", "30", "30s", "59s", "-1d", "3651d", "1y", "1 d"])(
    "--expires %j is rejected, and no token is issued",
    async (text) => {
      const { exitCode, stdout, stderr } = await runToken(["issue", `--expires=${text}`]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toContain(
        `--expires must be a time such as 90m, 12h or 30d, from 1m to 3650d (got "${text}")`,
      );
      expect(await readTokens()).toEqual([]);
    },
  );

  it.each([
    ["", 'must be a name of 1 to 100 characters (got "")'],
    [
      "x".repeat(101),
      'must be a name of 1 to 100 characters (got "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…")',
    ],
    ["\uD800", 'must be a name of 1 to 100 characters (got "\\ud800")'],
    ["pst_4fGh", "must not start with pst_, as tokens do"],
    [mintToken(), "must not start with pst_, as tokens do"],
  ])("--name %j is rejected", async (name, complaint) => {
    const { exitCode, stderr } = await runToken(["issue", "--name", name]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`--name ${complaint}`);
  });

  it("prints the token with its prefix and its times as JSON with --json", async () => {
    const args = ["issue", "--json", "--name", "ci", "--expires", "60m"];
    const { exitCode, stdout, stderr } = await runToken(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const [record] = await readTokens();
    const report = JSON.parse(stdout) as { token: string };
    expect(report).toEqual({
      token: expect.stringMatching(/^pst_/) as unknown,
      name: "ci",
      prefix: report.token.slice(0, 8),
      issued: new Date(record?.issuedAtMs ?? 0).toISOString(),
      expires: new Date(record?.expiresAtMs ?? 0).toISOString(),
    });
    expect(record?.digest).toBe(digestToken(report.token));
  });

  it("revokes the token that could not be printed", async () => {
    const run = startCli(["token", "issue"], { env: { PLANTSTORE_STORE: storeUrl } });
    run.closeStdout();
    expect((await run.finished).exitCode).toBe(141);
    expect((await readTokens()).map(({ revokedAtMs }) => typeof revokedAtMs)).toEqual(["number"]);
  });
});

describe("token list", () => {
  const hourAgo = Date.now() - 3_600_000;
  const tokens: readonly Partial<TokenRecord>[] = [
    { name: "laptop", issuedAtMs: Date.UTC(2026, 0, 31, 23, 59), lastUsedDay: 20_485 },
    { name: "", issuedAtMs: Date.UTC(2026, 1, 1), expiresAtMs: Date.UTC(2126, 1, 1, 12, 30) },
    { name: "büro 🌱", issuedAtMs: Date.UTC(2026, 1, 2), expiresAtMs: hourAgo },
    { name: "a\u202Eb", issuedAtMs: Date.UTC(2026, 1, 3), expiresAtMs: hourAgo, revokedAtMs: 0 },
  ];

  it("prints a table on a terminal: oldest first, times in UTC, no secrets", async () => {
    await addTokens(...tokens);
    const { exitCode, stdout } = await runToken(["list"], { terminals: { stdout: true } });
    const expired = `${new Date(hourAgo).toISOString().slice(0, 16).replace("T", " ")} UTC`;
    expect(exitCode).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "NAME      PREFIX    ISSUED      EXPIRES               LAST USED   STATE",
      "laptop    pst_0000  2026-01-31  never                 2026-02-01  active",
      "          pst_0001  2026-02-01  2126-02-01 12:30 UTC  never       active",
      `büro 🌱   pst_0002  2026-02-02  ${expired}  never       expired`,
      `a\\u202eb  pst_0003  2026-02-03  ${expired}  never       revoked`,
      "",
    ]);
  });

  it("prints each value on a separate line on a narrow terminal", async () => {
    await addTokens(...tokens);
    const options = { terminals: { stdout: true }, columns: 40 };
    const { stdout } = await runToken(["list"], options);
    expect(stdout.split("\n\n")[1]).toBe(
      "PREFIX     pst_0001\nISSUED     2026-02-01\nEXPIRES    2126-02-01 12:30 UTC\nLAST USED  never\nSTATE      active",
    );
  });

  it("truncates a long name at the width of the terminal", async () => {
    await addTokens({ name: "n".repeat(100) });
    const options = { terminals: { stdout: true }, columns: 80 };
    const { stdout } = await runToken(["list"], options);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(stdout).toContain("n…  pst_0000");
  });

  it.each<[where: string, args: readonly string[], options: CliOptions]>([
    ["elsewhere", ["list"], {}],
    ["with --json everywhere", ["list", "--json"], { terminals: { stdout: true } }],
  ])("prints one token as JSON on each line %s", async (_where, args, options) => {
    await addTokens(...tokens.slice(0, 2), {
      name: "old",
      issuedAtMs: 1.8e12,
      revokedAtMs: 1.9e12,
    });
    const { stdout } = await runToken(args, options);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        name: "laptop",
        prefix: "pst_0000",
        issued: "2026-01-31T23:59:00.000Z",
        lastUsed: "2026-02-01",
        state: "active",
      },
      {
        prefix: "pst_0001",
        issued: "2026-02-01T00:00:00.000Z",
        expires: "2126-02-01T12:30:00.000Z",
        state: "active",
      },
      {
        name: "old",
        prefix: "pst_0002",
        issued: "2027-01-15T08:00:00.000Z",
        revoked: "2030-03-17T17:46:40.000Z",
        state: "revoked",
      },
    ]);
  });

  it("prints a message on a terminal if the store has no tokens", async () => {
    const { stdout, stderr } = await runToken(["list"], {
      terminals: { stdout: true, stderr: true },
    });
    expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "no tokens\n" });
  });
});

describe("token revoke", () => {
  const revoked = async () =>
    (await readTokens()).filter((token) => token.revokedAtMs !== undefined).map(({ name }) => name);

  it.each([
    ["its name", "ci"],
    ["its prefix", "pst_0001"],
  ])("finds the token by %s, and changes no other token", async (_what, wanted) => {
    await addTokens({ name: "laptop" }, { name: "ci" }, { name: "ci 2" });
    const { exitCode, stdout, stderr } = await runToken(["revoke", wanted]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).toBe("revoked ci (pst_0001): servers reject it within one second\n");
    expect(await revoked()).toEqual(["ci"]);
  });

  it("finds a token by its full text, which is not repeated", async () => {
    const token = "a-token-of-my-own-that-leaked";
    await addTokens({ name: "laptop" }, { name: "ci", digest: digestToken(token), prefix: "" });
    const { stderr } = await runToken(["revoke", token]);
    expect(stderr).toBe("revoked ci: servers reject it within one second\n");
    expect(await revoked()).toEqual(["ci"]);
  });

  it("reports a token that was revoked before, and changes nothing", async () => {
    await addTokens({ name: "ci", revokedAtMs: 5 });
    const { exitCode, stderr } = await runToken(["revoke", "ci"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: "ci (pst_0000) was revoked before\n",
    });
    expect((await readTokens())[0]?.revokedAtMs).toBe(5);
  });

  it("selects the token that is not revoked if two have the same name", async () => {
    await addTokens({ name: "ci", revokedAtMs: 5 }, { name: "ci" });
    expect((await runToken(["revoke", "ci"])).stderr).toContain("revoked ci (pst_0001)");
  });

  it("rejects a name that two active tokens have", async () => {
    await addTokens({ name: "ci" }, { name: "ci" });
    const { exitCode, stderr } = await runToken(["revoke", "ci"]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      'error: 2 tokens match "ci": revoke each by its prefix (pst_0000, pst_0001)\n',
    );
    expect(await revoked()).toEqual([]);
  });

  it.each(["unknown", "pst_", ""])("rejects %j, which matches no token", async (wanted) => {
    await addTokens({ name: "" });
    const { exitCode, stderr } = await runToken(["revoke", wanted]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`error: no token matches "${wanted}"`);
    expect(await revoked()).toEqual([]);
  });
});

describe("token revoke --json", () => {
  it("prints the token that it revoked", async () => {
    await addTokens({ name: "ci" });
    const { exitCode, stdout } = await runToken(["revoke", "ci", "--json"]);
    expect(exitCode).toBe(0);
    const [{ revokedAtMs = 0 } = {}] = await readTokens();
    expect(JSON.parse(stdout)).toEqual({
      name: "ci",
      prefix: "pst_0000",
      issued: "1970-01-01T00:00:00.000Z",
      revoked: new Date(revokedAtMs).toISOString(),
    });
  });
});

describe("token rotate", () => {
  const names = async () => (await readTokens()).map(({ name, prefix }) => `${name} ${prefix}`);

  it("issues a token with the same name, and lets the old one expire after a day", async () => {
    await addTokens({ name: "ci" }, { name: "laptop" });
    const { exitCode, stdout, stderr } = await runToken(["rotate", "ci"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^pst_[0-9A-Za-z]{49}\n$/);
    const [old, other, fresh] = await readTokens();
    expect(fresh).toEqual({
      digest: digestToken(stdout.trim()),
      prefix: stdout.slice(0, 8),
      name: "ci",
      issuedAtMs: expect.any(Number) as number,
    });
    expect((old?.expiresAtMs ?? 0) - (fresh?.issuedAtMs ?? 0)).toBeGreaterThan(dayMs - 60_000);
    expect(old?.expiresAtMs).toBeLessThanOrEqual(Date.now() + dayMs);
    expect(other?.expiresAtMs).toBeUndefined();
    expect(stderr).toMatch(/^ci \(pst_0000\) is valid until \d{4}-\d\d-\d\d \d\d:\d\d UTC\n$/);
  });

  it("revokes the old token with --overlap 0", async () => {
    await addTokens({ name: "ci" });
    const { stderr } = await runToken(["rotate", "ci", "--overlap", "0"]);
    expect(stderr).toBe("revoked ci (pst_0000): servers reject it within one second\n");
    const states = (await readTokens()).map(({ revokedAtMs }) => typeof revokedAtMs);
    expect(states).toEqual(["number", "undefined"]);
  });

  it("never lengthens the life of the old token", async () => {
    const soon = Date.now() + 3_600_000;
    await addTokens({ name: "ci", expiresAtMs: soon });
    await runToken(["rotate", "ci", "--overlap", "30d"]);
    expect((await readTokens())[0]?.expiresAtMs).toBe(soon);
  });

  it("gives the new token the lifetime of the old one, unless --expires is given", async () => {
    const issuedAtMs = Date.now() - dayMs;
    await addTokens({ name: "ci", issuedAtMs, expiresAtMs: issuedAtMs + 30 * dayMs });
    await runToken(["rotate", "ci"]);
    await runToken(["rotate", "ci", "--expires", "90m"]);
    const lifetimes = (await readTokens()).map((token) => {
      return (token.expiresAtMs ?? 0) - token.issuedAtMs;
    });
    expect(lifetimes.at(-1)).toBe(90 * 60_000);
    // The token between them was rotated too.
    expect(lifetimes.at(-2)).toBeLessThanOrEqual(dayMs + 60_000);
    const [first] = lifetimes;
    expect(first).toBeLessThan(30 * dayMs);
  });

  it("ends every active token with the name, and no other", async () => {
    await addTokens({ name: "ci" }, { name: "ci", revokedAtMs: 5 }, { name: "ci" }, { name: "c" });
    await runToken(["rotate", "ci", "--overlap", "0"]);
    const isRevoked = (await readTokens()).map(({ revokedAtMs }) => revokedAtMs !== undefined);
    expect(isRevoked).toEqual([true, true, true, false, false]);
    expect((await readTokens())[1]?.revokedAtMs).toBe(5);
  });

  it("ends only one of several with the same name, found by its prefix", async () => {
    await addTokens({ name: "ci" }, { name: "ci" });
    await runToken(["rotate", "pst_0001", "--overlap", "0"]);
    const tokens = await readTokens();
    expect(tokens.map(({ revokedAtMs }) => revokedAtMs !== undefined)).toEqual([
      false,
      true,
      false,
    ]);
    expect(tokens.at(-1)?.name).toBe("ci");
  });

  it("prints the new token and the old ones as JSON with --json", async () => {
    await addTokens({ name: "ci" });
    const { stdout } = await runToken(["rotate", "ci", "--json"]);
    const report = JSON.parse(stdout) as { token: string };
    const [old] = await readTokens();
    expect(report).toEqual({
      token: expect.stringMatching(/^pst_/) as unknown,
      name: "ci",
      prefix: report.token.slice(0, 8),
      issued: expect.any(String) as unknown,
      replaces: [
        {
          name: "ci",
          prefix: "pst_0000",
          issued: "1970-01-01T00:00:00.000Z",
          expires: new Date(old?.expiresAtMs ?? 0).toISOString(),
        },
      ],
    });
  });

  it.each([
    ["unknown", {}, 'no token matches "unknown": "plantstore token list" shows names and prefixes'],
    ["", {}, 'no token matches ""'],
    ["ci", { revokedAtMs: 5 }, '"ci" was revoked: issue a new one with "plantstore token issue"'],
    ["ci", { expiresAtMs: 5 }, '"ci" expired: issue a new one with "plantstore token issue"'],
  ])("rejects %j if the token is %j, and issues nothing", async (wanted, state, problem) => {
    await addTokens({ name: "ci", ...state });
    const { exitCode, stdout, stderr } = await runToken(["rotate", wanted]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(`error: ${problem}`);
    expect(await names()).toEqual(["ci pst_0000"]);
  });

  it.each(["", "1", "5w", "-1h", "3651d"])("rejects --overlap %j", async (text) => {
    await addTokens({ name: "ci" });
    const { exitCode, stderr } = await runToken(["rotate", "ci", `--overlap=${text}`]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      `--overlap must be a time such as 90m, 12h or 30d, from 0 to 3650d (got "${text}")`,
    );
    expect(await names()).toEqual(["ci pst_0000"]);
  });

  it("leaves the old token unchanged if the new one cannot be printed", async () => {
    await addTokens({ name: "ci" });
    const run = startCli(["token", "rotate", "ci"], { env: { PLANTSTORE_STORE: storeUrl } });
    run.closeStdout();
    expect((await run.finished).exitCode).toBe(141);
    const [old, fresh] = await readTokens();
    expect(old).toEqual({ digest: "0", prefix: "pst_0000", name: "ci", issuedAtMs: 0 });
    expect(fresh?.revokedAtMs).toBeTypeOf("number");
  });
});

describe("token prune", () => {
  const hourAgo = Date.now() - 3_600_000;
  const tokens: readonly Partial<TokenRecord>[] = [
    { name: "active", expiresAtMs: Date.now() + dayMs },
    { name: "forever" },
    { name: "expired", expiresAtMs: hourAgo },
    { name: "revoked", revokedAtMs: Date.now() - 2 * dayMs, expiresAtMs: Date.now() + dayMs },
  ];
  const names = async () => (await readTokens()).map(({ name }) => name);

  it("removes expired and revoked tokens, and prints them as JSON", async () => {
    await addTokens(...tokens);
    const { exitCode, stdout, stderr } = await runToken(["prune"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const removed = stdout.trimEnd().split("\n");
    expect(removed.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { name: "expired", state: "expired" },
      { name: "revoked", state: "revoked" },
    ]);
    expect(await names()).toEqual(["active", "forever"]);
  });

  it("keeps tokens that ended later than --older-than", async () => {
    await addTokens(...tokens);
    await runToken(["prune", "--older-than", "1d"]);
    expect(await names()).toEqual(["active", "forever", "expired"]);
  });

  it("prints a table and the number of tokens on a terminal", async () => {
    await addTokens(...tokens);
    const terminals = { stdout: true, stderr: true };
    const { stdout, stderr } = await runToken(["prune"], { terminals });
    expect(stdout).toMatch(/^NAME +PREFIX .*\nexpired .*\nrevoked .*\n$/);
    expect(stderr).toBe("removed 2 tokens\n");
    const again = await runToken(["prune"], { terminals });
    expect(again).toEqual({ exitCode: 0, stdout: "", stderr: "nothing to remove\n" });
  });
});

describe.each([["issue"], ["list"], ["revoke", "ci"], ["rotate", "ci"], ["prune"]])(
  "token %s",
  (...args) => {
    it("creates no store if it is missing", async () => {
      const home = await createTemporaryDirectory();
      const { exitCode, stdout, stderr } = await runCli(["token", ...args], { home });
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toContain(`${join(home, ".local/share/plantstore/plants.db")} does not exist`);
      expect(await readdir(home)).toEqual([]);
    });

    it("reports that it cannot open a memory: store", async () => {
      const { exitCode, stderr } = await runCli(["token", ...args, "--store", "memory:"]);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(
        /^error: a memory: store exists only inside its server process and cannot be (read|changed) /,
      );
    });

    it("has its own help, which an error of usage names", async () => {
      const { stdout } = await runCli(["token", args[0], "--help"]);
      expect(stdout).toContain("--store <url>");
      expect(stdout).toContain("Examples:");
      expect(stdout).toContain("Exit codes:");
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
      const { exitCode, stderr } = await runCli(["token", ...args, "--nonsense"]);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`See "plantstore token ${args[0]} --help"`);
    });
  },
);
