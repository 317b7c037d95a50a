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
  const { faults, acknowledged } = await runCrashRounds(rounds, () => undefined);
  expect(faults).toEqual([]);
  expect(acknowledged).toBeGreaterThan(rounds);
}, 300_000);
