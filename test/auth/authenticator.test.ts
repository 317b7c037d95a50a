/** Who is let in, and how soon a change holds. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAuthenticator } from "../../src/auth/authenticator.ts";
import * as tokenModule from "../../src/auth/token.ts";
import type { TokenRecord } from "../../src/core/store.ts";

vi.mock("../../src/auth/token.ts", { spy: true });
const digestToken = vi.mocked(tokenModule.digestToken);

function toRecord(token: string, more: Partial<TokenRecord> = {}): TokenRecord {
  return { digest: digestToken(token), prefix: token, name: "test", issuedAtMs: 0, ...more };
}

/** An authenticator over tokens that a test may change, at the time 1000. */
function createTested(issued: TokenRecord[], ownToken?: string) {
  let reads = 0;
  const noted: unknown[] = [];
  const authenticator = createAuthenticator({
    listTokens: async () => {
      reads++;
      await sleep(1);
      return [...issued];
    },
    async noteTokenUses(digests, day) {
      noted.push([...digests, day]);
    },
    ownToken,
    now: () => 1000,
  });
  return { authenticator, noted, reads: () => reads };
}

/** Stops the clock that the age of what was read is told by; returns what moves it, by milliseconds. */
function stopClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return (ms) => vi.advanceTimersByTime(ms);
}

describe("a token", () => {
  it.each<[rule: string, record: Partial<TokenRecord>, kind: string | undefined]>([
    ["that was issued is let in", {}, undefined],
    ["that expires later is let in", { expiresAtMs: 1001 }, undefined],
    ["that expires now has expired", { expiresAtMs: 1000 }, "expiredToken"],
    ["that was revoked is unknown", { revokedAtMs: 999 }, "unknownToken"],
    [
      "that was revoked and has expired is unknown",
      { revokedAtMs: 1, expiresAtMs: 1 },
      "unknownToken",
    ],
  ])("%s", async (_rule, record, kind) => {
    const { authenticator } = createTested([toRecord("a", record)]);
    const refusal = await authenticator.check("a");
    expect(refusal).toEqual(kind === undefined ? undefined : expect.objectContaining({ kind }));
  });

  it("that is no stored one is unknown, and the refusal does not repeat it", async () => {
    const { authenticator } = createTested([toRecord("a")]);
    const refusal = await authenticator.check("hunter2");
    expect(refusal).toMatchObject({ kind: "unknownToken" });
    expect(JSON.stringify(refusal)).not.toContain("hunter2");
  });

  it("of the server's own is let in without a look at the stored ones", async () => {
    const { authenticator, reads } = createTested([], "own");
    await authenticator.check("own");
    expect(reads()).toBe(0);
  });

  it("is looked at only through its digest: nothing else of a record decides, in whatever time", async () => {
    const read = new Set<string>();
    const record = new Proxy(toRecord("a"), {
      get: (target, name) => {
        read.add(String(name));
        return Reflect.get(target, name) as unknown;
      },
    });
    const { authenticator } = createTested([record]);
    await authenticator.check("a");
    await expect(authenticator.check("aa")).resolves.toMatchObject({ kind: "unknownToken" });
    read.delete("then"); // `await` asks everything for it.
    expect(read).toEqual(new Set(["digest", "revokedAtMs", "expiresAtMs", "lastUsedDay"]));
  });

  it.each(["stored", "own"])(
    "%s is found by its digest alone: a text with the same one would be let in",
    async (kind) => {
      digestToken.mockReturnValue("the one digest");
      onTestFinished(() => {
        digestToken.mockRestore();
      });
      const tested = kind === "own" ? createTested([], "a") : createTested([toRecord("a")]);
      await expect(tested.authenticator.check("anything else")).resolves.toBeUndefined();
    },
  );
});

describe("the use of a token", () => {
  it("is noted with its day once, however often it is used", async () => {
    const { authenticator, noted } = createTested([toRecord("a"), toRecord("b")]);
    for (const token of ["a", "b", "a"]) await authenticator.check(token);
    await authenticator.flushUses();
    await authenticator.check("b");
    await authenticator.flushUses();
    expect(noted).toEqual([[digestToken("a"), digestToken("b"), 0]]);
  });

  it("is noted by itself a little later", async () => {
    const { authenticator, noted } = createTested([toRecord("a")]);
    await authenticator.check("a");
    expect(noted).toEqual([]);
    await expect.poll(() => noted).toEqual([[digestToken("a"), 0]]);
  });

  it("is not noted when it is known to the store already", async () => {
    const { authenticator, noted } = createTested([toRecord("a", { lastUsedDay: 0 })]);
    await authenticator.check("a");
    await authenticator.flushUses();
    expect(noted).toEqual([]);
  });

  it.each<[what: string, record: Partial<TokenRecord>]>([
    ["that was revoked", { revokedAtMs: 1 }],
    ["that has expired", { expiresAtMs: 1 }],
  ])("%s is none", async (_what, record) => {
    const { authenticator, noted } = createTested([toRecord("a", record)]);
    for (const token of ["a", "unknown"]) await authenticator.check(token);
    await authenticator.flushUses();
    expect(noted).toEqual([]);
  });
});

it("a token is known soon after it was issued, also to a server that has just read the others", async () => {
  const tokens = [toRecord("a")];
  const { authenticator } = createTested(tokens);
  await authenticator.check("a");
  tokens.push(toRecord("b"));
  // Its first look may have been at what was read before.
  const check = () => authenticator.check("b");
  await expect.poll(check, { interval: 10 }).toBeUndefined();
});

it("a flood of unknown tokens at the same time costs one read, and is not remembered", async () => {
  const { authenticator, reads, noted } = createTested([]);
  const flood = Array.from({ length: 1000 }, (_, index) => authenticator.check(`${index}`));
  const kinds = (await Promise.all(flood)).map((error) => error?.kind);
  expect(new Set(kinds)).toEqual(new Set(["unknownToken"]));
  await authenticator.flushUses();
  expect({ reads: reads(), noted }).toEqual({ reads: 1, noted: [] });
});

it("a flood of unknown tokens leaves a store that reads slowly time for others", async () => {
  const advance = stopClock();
  let reads = 0;
  const authenticator = createAuthenticator({
    listTokens: async () => {
      reads++;
      advance(50);
      return [];
    },
  });
  const flood = () =>
    Promise.all(Array.from({ length: 100 }, (_, index) => authenticator.check(`${index}`)));
  await flood();
  advance(150);
  await flood();
  expect(reads).toBe(1);
  advance(1);
  await flood();
  expect(reads).toBe(2);
});

it("while tokens are young enough, a request waits for no read of them", async () => {
  const advance = stopClock();
  let reads = 0;
  const authenticator = createAuthenticator({
    listTokens: async () => {
      // The first read ends, and no other one.
      if (reads++ > 0) await new Promise(() => undefined);
      return [toRecord("a")];
    },
  });
  await authenticator.check("a");
  advance(400);
  await authenticator.check("a");
  expect(reads).toBe(1);
  advance(500);
  await authenticator.check("a");
  expect(reads).toBe(2);
});

it("the stored tokens are read once for many requests at the same time", async () => {
  stopClock();
  const { authenticator, reads } = createTested([toRecord("a")]);
  await Promise.all(Array.from({ length: 100 }, () => authenticator.check("a")));
  await authenticator.check("a");
  expect(reads()).toBe(1);
});

describe("a change holds within a second", () => {
  it("where the tokens were read before it", async () => {
    const advance = stopClock();
    const tokens = [toRecord("a")];
    const { authenticator } = createTested(tokens);
    await authenticator.check("a");
    tokens.splice(0, 1, toRecord("b"));
    advance(1000);
    await authenticator.check("b");
    await expect(authenticator.check("a")).resolves.toMatchObject({ kind: "unknownToken" });
  });

  it("where they are being read since before it", async () => {
    const advance = stopClock();
    const tokens = [toRecord("a")];
    const ends: (() => void)[] = [];
    const authenticator = createAuthenticator({
      listTokens: async () => {
        const read = [...tokens];
        await new Promise<void>((resolve) => ends.push(resolve));
        return read;
      },
    });
    const early = authenticator.check("a");
    tokens.splice(0, 1, toRecord("b"));
    advance(1000);
    const late = Promise.all([authenticator.check("a"), authenticator.check("b")]);
    ends[0]?.();
    await expect(early).resolves.toBeUndefined();
    await expect.poll(() => ends.length).toBe(2);
    // However long it takes, they wait for no third one.
    advance(1000);
    ends[1]?.();
    expect((await late).map((error) => error?.kind)).toEqual(["unknownToken", undefined]);
  });
});

it("while the tokens can't be read nobody is let in, and afterwards they are again", async () => {
  let isBroken = true;
  const authenticator = createAuthenticator({
    listTokens: async () => {
      if (isBroken) throw new Error("disk I/O error");
      return [toRecord("a")];
    },
  });
  await expect(authenticator.check("a")).rejects.toThrow("disk I/O error");
  isBroken = false;
  await authenticator.check("a");
});
