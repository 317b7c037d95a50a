/** Who is let in, and how soon a change holds. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createAuthenticator } from "../../src/auth/authenticator.ts";
import { digestToken } from "../../src/auth/token.ts";
import type { TokenRecord } from "../../src/core/store.ts";

function toRecord(token: string, more: Partial<TokenRecord> = {}): TokenRecord {
  return { digest: digestToken(token), prefix: token, name: "test", issuedAtMs: 0, ...more };
}

/** An authenticator over tokens that a test may change, at the time 1000. */
function createTested(tokens: TokenRecord[], ownToken?: string) {
  let reads = 0;
  const authenticator = createAuthenticator({
    listTokens: async () => {
      reads++;
      await sleep(1);
      return [...tokens];
    },
    ownToken,
    now: () => 1000,
  });
  return { authenticator, reads: () => reads };
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
    const refusal = await authenticator.check("a").catch((error: unknown) => error);
    expect(refusal).toEqual(kind === undefined ? undefined : expect.objectContaining({ kind }));
  });

  it("that is no stored one is unknown, and the refusal does not repeat it", async () => {
    const { authenticator } = createTested([toRecord("a")]);
    const refusal = await authenticator.check("hunter2").catch((error: unknown) => error);
    expect(refusal).toMatchObject({ kind: "unknownToken" });
    expect(JSON.stringify(refusal) + String(refusal)).not.toContain("hunter2");
  });

  it("of the server's own is let in without a look at the stored ones", async () => {
    const { authenticator, reads } = createTested([], "own");
    await authenticator.check("own");
    expect(reads()).toBe(0);
  });
});

it("the stored tokens are read once for many requests at the same time", async () => {
  const { authenticator, reads } = createTested([toRecord("a")]);
  await Promise.all(Array.from({ length: 100 }, () => authenticator.check("a")));
  await authenticator.check("a");
  expect(reads()).toBe(1);
});

it("a change holds within a second", async () => {
  const tokens = [toRecord("a")];
  const { authenticator } = createTested(tokens);
  await authenticator.check("a");
  tokens.splice(0, 1, toRecord("b"));
  await sleep(1000);
  await authenticator.check("b");
  await expect(authenticator.check("a")).rejects.toMatchObject({ kind: "unknownToken" });
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
