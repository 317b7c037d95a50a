/** Killed servers and power failures lose no acknowledged plant. */
import { expect, inject, it } from "vitest";
import { runCrashRounds } from "../crash-rounds.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Rounds of kills in a run of the tests. */
    readonly crashRounds: number;
  }
}

const rounds = inject("crashRounds");

it(`killed servers keep every acknowledged plant (rounds: ${rounds})`, async () => {
  const { faults, acknowledged, deleted } = await runCrashRounds(rounds, () => undefined);
  expect(faults).toEqual([]);
  expect(acknowledged).toBeGreaterThan(rounds);
  // A single round may be over before its first delete.
  if (rounds > 1) expect(deleted).toBeGreaterThan(0);
}, 300_000);
