/** `plantstore token`: the operator of a store issues, lists and revokes its tokens. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { digestToken, mintToken } from "../../../src/auth/authenticator.ts";
import type { TokenRecord } from "../../../src/core/store.ts";
import {
  type CliOptions,
  containing,
  parseLines,
  runCli,
  startCli,
} from "../../helpers/run-cli.ts";
import { changeStore, createSqliteStore } from "../../helpers/sqlite-store.ts";
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
  const records = tokens.map((token, index) => {
    const prefix = `pst_000${index}`;
    return { digest: `${index}`, prefix, name: "", issuedAtMs: index, ...token };
  });
  await changeStore(storeUrl, { tokens: records });
}

const readTokens = (): Promise<readonly TokenRecord[]> => changeStore(storeUrl);

describe("token issue", () => {
  it("prints only the token, and stores only its digest", async () => {
    const result = await runToken(["issue", "--name", "ci"]);
    expect(result).toPrint(/^pst_[0-9A-Za-z]{49}\n$/);
    const token = result.stdout.trim();
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

  it("says how to revoke a valid token that has the name already", async () => {
    await addTokens({ name: "ci", expiresAtMs: 1 }, { name: "ci" }, { name: "other" });
    const { exitCode, stderr } = await runToken(["issue", "--name", "ci"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr:
        "warning: another valid token is named ci\nRevoke it:\n  plantstore token revoke pst_0001\n",
    });
    expect(await runToken(["issue"])).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("names the token on a terminal without repeating it", async () => {
    const terminals = { stdout: true, stderr: true };
    const { stdout, stderr } = await runToken(["issue", "--name", "ci"], { terminals });
    const prefix = stdout.slice(0, 8);
    expect(stderr).toBe(
      `Store: ${storeUrl}\n\u001b[32m✓\u001b[39m issued ci (${prefix}): save the token now; it is not shown again\n`,
    );
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

  const lifetime = "must be a time such as 90m, 12h, 30d or 2030-12-31, from 1m to 3650d";
  const name = "must be a name of 1 to 100 characters";
  const listed = "must be some of create,list,delete, separated by commas";
  it.each<[flag: string, rule: string, values: readonly string[]]>([
    ["--expires", lifetime, ["0d", "", "30", "30s", "59s", "-1d", "3651d", "1y", "1 d"]],
    ["--expires", "must be a day after today", ["2020-01-01", "2030-02-31", "2030-13-01"]],
    ["--name", name, ["", "x".repeat(101)]],
    ["--name", "must not start with pst_, as tokens do", ["pst_4fGh", mintToken()]],
    ["--allow", listed, ["", "all", "create,", "Create", "create list"]],
  ])("%s %s: no token is issued for %j", async (flag, rule, values) => {
    for (const value of values) {
      const result = await runToken(["issue", `${flag}=${value}`]);
      expect(result, value).toExit(2, containing(`error: ${flag} ${rule}`));
    }
    expect(await readTokens()).toEqual([]);
  });

  it.each([
    ["--expires", "3651d", "3651d"],
    ["--name", "x".repeat(101), `${"x".repeat(40)}…`],
  ])("%s quotes an invalid value, up to its 40th character: %s", async (flag, value, shown) => {
    const { stderr } = await runToken(["issue", flag, value]);
    expect(stderr).toContain(` (got "${shown}")`);
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

  it.each([
    ["create", ["create"]],
    ["delete, list", ["list", "delete"]],
    ["list,create,delete,list", ["create", "list", "delete"]],
  ])("--allow %j stores the operations in their order", async (text, allow) => {
    const { stdout } = await runToken(["issue", "--json", "--allow", text]);
    expect(JSON.parse(stdout)).toMatchObject({ allow });
    expect(await readTokens()).toMatchObject([{ allow }]);
  });

  it("revokes the token that could not be printed", async () => {
    const run = startCli(["token", "issue"], { env: { PLANTSTORE_STORE: storeUrl } });
    run.closeStdout();
    expect((await run.finished).exitCode).toBe(141);
    expect((await readTokens()).map(({ revokedAtMs }) => typeof revokedAtMs)).toEqual(["number"]);
  });
});

it("token issue keeps every token, however long ago it ended: the clock may be wrong", async () => {
  const endMs = Date.now() - 9000 * dayMs;
  await addTokens({ name: "expired", expiresAtMs: endMs }, { name: "revoked", revokedAtMs: endMs });
  expect((await runToken(["issue", "--name", "new"])).exitCode).toBe(0);
  const names = (await readTokens()).map(({ name }) => name);
  expect(names).toEqual(["expired", "revoked", "new"]);
});

describe("token list", () => {
  const hourAgo = Date.now() - 3_600_000;
  const tokens: readonly Partial<TokenRecord>[] = [
    { name: "laptop", issuedAtMs: Date.UTC(2026, 0, 31, 23, 59), lastUsedDay: 20_485 },
    {
      name: "",
      issuedAtMs: Date.UTC(2026, 1, 1),
      expiresAtMs: Date.UTC(2126, 1, 1, 12, 30),
      allow: ["create", "list"],
    },
    { name: "büro 🌱", issuedAtMs: Date.UTC(2026, 1, 2), expiresAtMs: hourAgo },
    { name: "a\u202Eb", issuedAtMs: Date.UTC(2026, 1, 3), expiresAtMs: hourAgo, revokedAtMs: 0 },
  ];

  it("prints a table on a terminal: oldest first, times in UTC, no secrets", async () => {
    await addTokens(...tokens);
    const options = { terminals: { stdout: true } };
    const { exitCode, stdout } = await runToken(["list", "--all"], options);
    const expired = `${new Date(hourAgo).toISOString().slice(0, 16).replace("T", " ")} UTC`;
    expect(exitCode).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "NAME      PREFIX    ISSUED      EXPIRES               LAST USED   ALLOWS       STATE",
      "laptop    pst_0000  2026-01-31  never                 2026-02-01  all          active",
      "          pst_0001  2026-02-01  2126-02-01 12:30 UTC  never       create,list  active",
      `büro 🌱   pst_0002  2026-02-02  ${expired}  never       all          expired`,
      `a\\u202eb  pst_0003  2026-02-03  ${expired}  never       all          revoked`,
      "",
    ]);
  });

  it.each([
    [[], ["laptop", undefined]],
    [["--all"], ["laptop", undefined, "büro 🌱", "a\u202Eb"]],
  ])("with the flags %j prints the tokens %j", async (flags, names) => {
    await addTokens(...tokens);
    const { stdout } = await runToken(["list", ...flags]);
    const listed = parseLines(stdout) as readonly { name?: string }[];
    expect(listed.map(({ name }) => name)).toEqual(names);
  });

  it.each<[where: string, args: readonly string[], options: CliOptions]>([
    ["elsewhere", ["list", "--all"], {}],
    ["with --json everywhere", ["list", "--all", "--json"], { terminals: { stdout: true } }],
  ])("prints one token as JSON on each line %s", async (_where, args, options) => {
    await addTokens(...tokens.slice(0, 2), {
      name: "old",
      issuedAtMs: 1.8e12,
      revokedAtMs: 1.9e12,
    });
    const { stdout } = await runToken(args, options);
    expect(parseLines(stdout)).toEqual([
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
        allow: ["create", "list"],
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

  it("prints a message on a terminal if the store has no valid tokens", async () => {
    const options = { terminals: { stdout: true, stderr: true } };
    expect(await runToken(["list"], options)).toMatchObject({
      stdout: "",
      stderr: `Store: ${storeUrl}\nno tokens\n`,
    });
    await addTokens({ name: "ci", revokedAtMs: 5 });
    const { stdout, stderr } = await runToken(["list"], options);
    expect({ stdout, stderr }).toEqual({
      stdout: "",
      stderr: `Store: ${storeUrl}\nno valid tokens: --all shows the others\n`,
    });
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
    const result = await runToken(["revoke", wanted]);
    expect(result).toExit(0, "✓ revoked ci (pst_0001): servers reject it within one second\n");
    expect(await revoked()).toEqual(["ci"]);
  });

  it("finds a token by its full text, which is not repeated", async () => {
    const token = "a-token-of-my-own-that-leaked";
    await addTokens({ name: "laptop" }, { name: "ci", digest: digestToken(token), prefix: "" });
    const { stderr } = await runToken(["revoke", token]);
    expect(stderr).toBe("✓ revoked ci: servers reject it within one second\n");
    expect(await revoked()).toEqual(["ci"]);
  });

  it.each([[[]], [["--in", "24h"]]])(
    "with the flags %j reports a token that was revoked before, and changes nothing",
    async (flags) => {
      await addTokens({ name: "ci", revokedAtMs: 5 });
      const before = await readTokens();
      const result = await runToken(["revoke", "ci", ...flags]);
      expect(result).toExit(0, "✓ ci (pst_0000) was revoked before\n");
      expect(await readTokens()).toEqual(before);
    },
  );

  it.each([{ revokedAtMs: 5 }, { expiresAtMs: 5 }])(
    "selects the valid token if another one with the same name has %j",
    async (end) => {
      await addTokens({ name: "ci", ...end }, { name: "ci" }, { name: "ci", ...end });
      expect((await runToken(["revoke", "ci"])).stderr).toContain("revoked ci (pst_0001)");
    },
  );

  it("rejects a name that two valid tokens have, and names their prefixes", async () => {
    await addTokens({ name: "ci" }, { name: "ci", issuedAtMs: dayMs });
    for (const flags of [[], ["--in", "24h"]]) {
      const problem =
        'error: 2 valid tokens match "ci": revoke one by its prefix (pst_0000 of 1970-01-01, pst_0001 of 1970-01-02)\n';
      expect(await runToken(["revoke", "ci", ...flags])).toExit(2, problem);
    }
    expect(await revoked()).toEqual([]);
    expect((await runToken(["revoke", "pst_0000"])).exitCode).toBe(0);
  });

  it.each(["unknown", "pst_", ""])("rejects %j, which matches no token", async (wanted) => {
    await addTokens({ name: "" });
    const result = await runToken(["revoke", wanted]);
    expect(result).toExit(9, containing(`error: no token matches "${wanted}"`));
    expect(await revoked()).toEqual([]);
  });
});

it("token issue --expires accepts a day, at whose start in UTC the token ends", async () => {
  const day = new Date(Date.now() + 40 * dayMs).toISOString().slice(0, 10);
  expect(await runToken(["issue", "--expires", day])).toMatchObject({ exitCode: 0 });
  const [token] = await readTokens();
  expect(Math.abs((token?.expiresAtMs ?? 0) - Date.parse(day))).toBeLessThan(60_000);
});

describe("token revoke --in", () => {
  it("lets the token expire then, and changes no other token", async () => {
    await addTokens({ name: "ci" }, { name: "ci" });
    const startMs = Date.now();
    const result = await runToken(["revoke", "pst_0000", "--in", "24h"]);
    expect(result).toExit(0, /^✓ ci \(pst_0000\) is valid until \d{4}-\d\d-\d\d \d\d:\d\d UTC\n$/);
    const [first, second] = await readTokens();
    expect(first?.revokedAtMs).toBeUndefined();
    expect(first?.expiresAtMs).toBeGreaterThanOrEqual(startMs + dayMs);
    expect(first?.expiresAtMs).toBeLessThanOrEqual(Date.now() + dayMs);
    expect(second).toEqual({ digest: "1", prefix: "pst_0001", name: "ci", issuedAtMs: 1 });
  });

  it("never lengthens the life of a token", async () => {
    const expiresAtMs = Date.now() + 3_600_000;
    await addTokens({ name: "ci", expiresAtMs }, { name: "old", expiresAtMs: 5 });
    const { stderr } = await runToken(["revoke", "ci", "--in", "30d"]);
    const minute = new Date(expiresAtMs).toISOString().slice(0, 16).replace("T", " ");
    expect(stderr).toBe(`✓ ci (pst_0000) is valid until ${minute} UTC\n`);
    const old = await runToken(["revoke", "old", "--in", "30d"]);
    expect(old.stderr).toBe("✓ old (pst_0001) expired before\n");
    expect((await readTokens()).map((token) => token.expiresAtMs)).toEqual([expiresAtMs, 5]);
  });

  it.each(["", "0", "1", "5w", "-1h", "3651d"])("rejects the time %j", async (text) => {
    await addTokens({ name: "ci" });
    const problem = `--in must be a time such as 90m, 12h or 30d, from 1m to 3650d (got "${text}")`;
    expect(await runToken(["revoke", "ci", `--in=${text}`])).toExit(2, containing(problem));
    expect(await readTokens()).toMatchObject([{ name: "ci", issuedAtMs: 0 }]);
    expect((await readTokens())[0]?.revokedAtMs).toBeUndefined();
  });
});

it.each([
  [[], "revoked", "revokedAtMs"],
  [["--in", "7d"], "expires", "expiresAtMs"],
] as const)("token revoke --json %j prints the token with its end", async (flags, end, member) => {
  await addTokens({ name: "ci" });
  const { exitCode, stdout } = await runToken(["revoke", "ci", "--json", ...flags]);
  expect(exitCode).toBe(0);
  const [token] = await readTokens();
  expect(JSON.parse(stdout)).toEqual({
    name: "ci",
    prefix: "pst_0000",
    issued: "1970-01-01T00:00:00.000Z",
    [end]: new Date(token?.[member] ?? 0).toISOString(),
  });
});

describe.each([["issue"], ["list"], ["revoke", "ci"]])("token %s", (...args) => {
  it("creates no store if it is missing", async () => {
    const home = await createTemporaryDirectory();
    const problem = `no store at ${join(home, ".local/share/plantstore/plants.db")} yet\n`;
    expect(await runCli(["token", ...args], { home })).toExit(2, containing(problem));
    expect(await readdir(home)).toEqual([]);
  });

  it("reports that it cannot open a memory: store", async () => {
    const problem = /^error: a memory: store exists only inside its server process: /;
    expect(await runCli(["token", ...args, "--store", "memory:"])).toExit(2, problem);
  });

  it("names its own help in a usage error", async () => {
    const result = await runCli(["token", ...args, "--nonsense"]);
    expect(result).toExit(2, containing(`See "plantstore token ${args[0]} --help"`));
  });
});
