/** Servers on PostgreSQL are killed, sometimes together with it: nothing acknowledged is lost. */
import { expect, it } from "vitest";
import { runPostgresCrashRounds } from "../../crash-rounds.ts";

// One of them kills PostgreSQL too.
const rounds = 5;

it(`keeps every acknowledged plant when servers are killed, ${rounds} times`, async () => {
  const { faults, acknowledged } = await runPostgresCrashRounds(rounds, () => undefined);
  expect(faults).toEqual([]);
  expect(acknowledged).toBeGreaterThan(rounds);
});
