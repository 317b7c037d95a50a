/** Which tokens are accepted, and how soon a change applies. */
import crypto, { randomUUID } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type Authenticator,
  createAuthenticator,
  digestToken,
} from "../../src/auth/authenticator.ts";
import type { TokenRecord, TokenState } from "../../src/core/store.ts";
import { stopClock } from "../helpers/clock.ts";

function toRecord(token: string, more: Partial<TokenRecord> = {}): TokenRecord {
  return { digest: digestToken(token), prefix: token, name: "test", issuedAtMs: 0, ...more };
}

type TokenStore = Parameters<typeof createAuthenticator>[0];

/** Returns the state of tokens with a new version. */
function toState(tokens: readonly TokenRecord[]): TokenState {
  return { version: randomUUID(), tokens: [...tokens] };
}

/** Creates an authenticator with tokens that a test may change, at the time 1000, which a test may change too. */
function createTested(issued: TokenRecord[], ownToken?: string) {
  let reads = 0;
  const clock = { ms: 1000 };
  const noted: unknown[] = [];
  const store: TokenStore = {
    readTokens: async () => {
      reads++;
      await nextTurn();
      return toState(issued);
    },
    async recordTokenUse(digests, day) {
      noted.push([...digests, day]);
    },
  };
  const authenticator = createAuthenticator(store, { ownToken, now: () => clock.ms });
  return { authenticator, store, noted, clock, reads: () => reads };
}

/** Creates an authenticator that reads tokens in this way, and does not record their uses. */
function createReading(readTokens: TokenStore["readTokens"]): Authenticator {
  return createAuthenticator({ readTokens, recordTokenUse: async () => {} });
}

/** Checks a token as a server does. */
async function check(authenticator: Authenticator, token: string) {
  const digest = digestToken(token);
  const askedAtMs = performance.now();
  while (!authenticator.isFresh(digest, askedAtMs)) await authenticator.refresh();
  return authenticator.check(digest, "create");
}

describe("a token", () => {
  it.each<[rule: string, record: Partial<TokenRecord>, kind: string | undefined]>([
    ["that was issued is accepted", {}, undefined],
    ["that expires later is accepted", { expiresAtMs: 1001 }, undefined],
    ["that allows the operation is accepted", { allow: ["list", "create"] }, undefined],
    ["that does not allow the operation is refused", { allow: ["list"] }, "forbidden"],
    [
      "that expired and does not allow the operation has expired",
      { allow: ["list"], expiresAtMs: 1000 },
      "expiredToken",
    ],
    ["that expires now has expired", { expiresAtMs: 1000 }, "expiredToken"],
    ["that was revoked is unknown", { revokedAtMs: 999 }, "unknownToken"],
    [
      "that was revoked and has expired is unknown",
      { revokedAtMs: 1, expiresAtMs: 1 },
      "unknownToken",
    ],
  ])("%s", async (_rule, record, kind) => {
    const { authenticator } = createTested([toRecord("a", record)]);
    const error = await check(authenticator, "a");
    expect(error).toEqual(kind === undefined ? undefined : expect.objectContaining({ kind }));
  });

  it("that is not stored is unknown, and the error does not contain it", async () => {
    const { authenticator } = createTested([toRecord("a")]);
    const error = await check(authenticator, "hunter2");
    expect(error).toMatchObject({ kind: "unknownToken" });
    expect(JSON.stringify(error)).not.toContain("hunter2");
  });

  it("of the server itself is accepted without a read of the stored tokens", async () => {
    const { authenticator, reads } = createTested([], "own");
    await check(authenticator, "own");
    expect(reads()).toBe(0);
  });

  it("is compared only by its digest, so that the time of a comparison reveals nothing", async () => {
    const read = new Set<string>();
    const record = new Proxy(toRecord("a"), {
      get: (target, name) => {
        read.add(String(name));
        return Reflect.get(target, name) as unknown;
      },
    });
    const { authenticator } = createTested([record]);
    await check(authenticator, "a");
    await expect(check(authenticator, "aa")).resolves.toMatchObject({ kind: "unknownToken" });
    read.delete("then"); // `await` asks everything for it.
    expect(read).toEqual(new Set(["digest", "revokedAtMs", "expiresAtMs", "lastUsedDay", "allow"]));
  });

  it.each(["stored", "own"])("%s is found by its digest alone", async (kind) => {
    const hash = vi.spyOn(crypto, "hash").mockReturnValue("the one digest");
    syncBuiltinESMExports();
    onTestFinished(() => {
      hash.mockRestore();
      syncBuiltinESMExports();
    });
    const tested = kind === "own" ? createTested([], "a") : createTested([toRecord("a")]);
    await expect(check(tested.authenticator, "anything else")).resolves.toBeUndefined();
  });
});

describe("the use of a token", () => {
  const dayMs = 86_400_000;

  it("is recorded once a day, also if the store has an earlier day", async () => {
    const issued = [toRecord("a"), toRecord("b"), toRecord("c", { lastUsedDay: 1 })];
    const { authenticator, noted, clock } = createTested(issued);
    for (const token of ["a", "b", "a", "c"]) await check(authenticator, token);
    await authenticator.flushUses();
    await check(authenticator, "b");
    await authenticator.flushUses();
    issued.splice(0, 1, toRecord("a", { lastUsedDay: 0 }));
    await authenticator.refresh();
    clock.ms = 2 * dayMs - 1;
    await check(authenticator, "c");
    await check(authenticator, "a");
    await authenticator.flushUses();
    expect(noted).toEqual([
      [digestToken("a"), digestToken("b"), 0],
      [digestToken("a"), 1],
    ]);
  });

  it("before midnight is recorded for that day", async () => {
    const { authenticator, noted, clock } = createTested([toRecord("a"), toRecord("b")]);
    await check(authenticator, "a");
    clock.ms = dayMs;
    await check(authenticator, "b");
    await authenticator.flushUses();
    expect(noted).toEqual([
      [digestToken("a"), 0],
      [digestToken("b"), 1],
    ]);
  });

  it("is recorded at the next one if the store failed", async () => {
    const { authenticator, store, noted } = createTested([toRecord("a")]);
    vi.spyOn(store, "recordTokenUse").mockRejectedValueOnce(new Error("disk full"));
    await check(authenticator, "a");
    await authenticator.flushUses();
    await authenticator.flushUses();
    expect(noted).toEqual([]);
    await check(authenticator, "a");
    await authenticator.flushUses();
    expect(noted).toEqual([[digestToken("a"), 0]]);
  });

  it("is recorded later without a flush", async () => {
    const { authenticator, noted } = createTested([toRecord("a")]);
    await check(authenticator, "a");
    expect(noted).toEqual([]);
    await expect.poll(() => noted).toEqual([[digestToken("a"), 0]]);
  });

  it.each<[what: string, record: Partial<TokenRecord>]>([
    ["that was revoked", { revokedAtMs: 1 }],
    ["that has expired", { expiresAtMs: 1 }],
  ])("%s is not recorded", async (_what, record) => {
    const { authenticator, noted } = createTested([toRecord("a", record)]);
    for (const token of ["a", "unknown"]) await check(authenticator, token);
    await authenticator.flushUses();
    expect(noted).toEqual([]);
  });
});

it("accepts a token soon after it was issued, although the tokens were just read", async () => {
  const tokens = [toRecord("a")];
  const { authenticator } = createTested(tokens);
  await check(authenticator, "a");
  tokens.push(toRecord("b"));
  // The first check may use tokens that were read before.
  const checkIssued = () => check(authenticator, "b");
  await expect.poll(checkIssued, { interval: 10 }).toBeUndefined();
});

it("reads the tokens once for many unknown tokens at the same time, and does not store those", async () => {
  stopClock();
  const { authenticator, reads, noted } = createTested([]);
  const flood = Array.from({ length: 1000 }, (_, index) => check(authenticator, `${index}`));
  const kinds = (await Promise.all(flood)).map((error) => error?.kind);
  expect(new Set(kinds)).toEqual(new Set(["unknownToken"]));
  await authenticator.flushUses();
  expect({ reads: reads(), noted }).toEqual({ reads: 1, noted: [] });
});

it("limits the reads of a slow store for many unknown tokens", async () => {
  const advance = stopClock();
  let reads = 0;
  const authenticator = createReading(async () => {
    reads++;
    advance(50);
    return toState([]);
  });
  const flood = () =>
    Promise.all(Array.from({ length: 100 }, (_, index) => check(authenticator, `${index}`)));
  await flood();
  advance(150);
  await flood();
  expect(reads).toBe(1);
  advance(1);
  await flood();
  expect(reads).toBe(2);
});

it("uses tokens that were read recently without waiting for a read", async () => {
  const advance = stopClock();
  let reads = 0;
  const authenticator = createReading(async () => {
    // The first read ends, and no other one.
    if (reads++ > 0) await new Promise(() => undefined);
    return toState([toRecord("a")]);
  });
  await check(authenticator, "a");
  advance(400);
  await check(authenticator, "a");
  expect(reads).toBe(1);
  advance(500);
  await check(authenticator, "a");
  expect(reads).toBe(2);
});

it("reads the tokens once for many requests at the same time", async () => {
  stopClock();
  const { authenticator, reads } = createTested([toRecord("a")]);
  await Promise.all(Array.from({ length: 100 }, () => check(authenticator, "a")));
  await check(authenticator, "a");
  expect(reads()).toBe(1);
});

it("keeps the tokens in memory while the store reports their version", async () => {
  const advance = stopClock();
  const asked: (string | undefined)[] = [];
  let version = "1";
  let tokens = [toRecord("a")];
  const authenticator = createReading(async (known) => {
    asked.push(known);
    return known === version ? { version } : { version, tokens };
  });
  await check(authenticator, "a");
  advance(1000);
  await check(authenticator, "a");
  version = "2";
  tokens = [];
  advance(1000);
  await expect(check(authenticator, "a")).resolves.toMatchObject({ kind: "unknownToken" });
  expect(asked).toEqual([undefined, "1", "1"]);
});

describe("a change of a token applies within a second", () => {
  it("if the tokens were read before it", async () => {
    const advance = stopClock();
    const tokens = [toRecord("a")];
    const { authenticator } = createTested(tokens);
    await check(authenticator, "a");
    tokens.splice(0, 1, toRecord("b"));
    advance(1000);
    await check(authenticator, "b");
    await expect(check(authenticator, "a")).resolves.toMatchObject({ kind: "unknownToken" });
  });

  it("if a read of the tokens started before it", async () => {
    const advance = stopClock();
    const tokens = [toRecord("a")];
    const ends: (() => void)[] = [];
    const authenticator = createReading(async () => {
      const read = [...tokens];
      await new Promise<void>((resolve) => ends.push(resolve));
      return toState(read);
    });
    const early = check(authenticator, "a");
    tokens.splice(0, 1, toRecord("b"));
    advance(1000);
    const late = Promise.all([check(authenticator, "a"), check(authenticator, "b")]);
    ends[0]?.();
    await expect(early).resolves.toBeUndefined();
    await expect.poll(() => ends.length).toBe(2);
    // Although it takes long, they wait for no third read.
    advance(1000);
    ends[1]?.();
    expect((await late).map((error) => error?.kind)).toEqual(["unknownToken", undefined]);
  });
});

it("accepts no token while the tokens cannot be read, and accepts tokens afterwards", async () => {
  let isBroken = true;
  const authenticator = createReading(async () => {
    if (isBroken) throw new Error("disk I/O error");
    return toState([toRecord("a")]);
  });
  await expect(check(authenticator, "a")).rejects.toThrow("disk I/O error");
  isBroken = false;
  await check(authenticator, "a");
});
