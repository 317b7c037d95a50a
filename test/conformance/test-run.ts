/** Runs rules against the servers of tests. */
import { testToken } from "../helpers/plant-server.ts";
import type { Rule } from "./rule.ts";
import { type RuleResult, type RunOptions, runRules } from "./run.ts";

/** The first id of each run. */
export const firstId = 100_000_000_000_000n;

/** Runs rules against a server that accepts the token of the tests. */
export function runOnTestServer(
  rules: readonly Rule[],
  options: Pick<RunOptions, "url"> & Partial<RunOptions>,
): Promise<readonly RuleResult[]> {
  return runRules(rules, {
    token: testToken,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    statusMode: "contract",
    firstId,
    ...options,
  });
}
