/** plantstore keeps every rule of the conformance kit. */
import { describe, expect, it } from "vitest";
import { rules } from "./rules.ts";
import { runRules } from "./run.ts";
import { statusModes } from "../../src/core/errors.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";

describe.each(statusModes)("with the status mode %s", (statusMode) => {
  it("plantstore keeps all rules", { timeout: 60_000 }, async () => {
    await using server = await startServer({ basePath: "/v1", statusMode });
    const results = await runRules(rules, {
      url: server.url,
      token: testToken,
      timeoutMs: 20_000,
      signal: new AbortController().signal,
      statusMode,
      firstId: 100_000_000_000_000n,
    });
    const failed = results.filter(({ problem }) => problem !== undefined);
    expect(failed.map(({ rule, problem }) => `${rule.name}: ${problem}`)).toEqual([]);
    expect(server.errors).toEqual([]);
  });
});

it("each rule has a unique name", () => {
  const names = rules.map(({ group, name }) => `${group}: ${name}`);
  expect(names).toEqual([...new Set(names)]);
});
