import { describe, expect, it } from "vitest";
import { type RecordStatus, Tally } from "../../../../src/cli/commands/create/result-report.ts";

function tallyOf(counts: Partial<Record<RecordStatus, number>>): Tally {
  const tally = new Tally(1000, false);
  for (const [status, count] of Object.entries<number>(counts)) {
    for (let added = 0; added < count; added++) tally.add(status as RecordStatus);
  }
  return tally;
}

describe("how far it is", () => {
  it.each<[what: string, read: number, total: number | undefined, elapsedMs: number, text: string]>(
    [
      ["of a file", 250, 1000, 2000, "25 %, 1,500 records, 750/s, 6.0 s left"],
      ["of a file that takes minutes", 100, 1000, 20_000, "10 %, 1,500 records, 75/s, 3 min left"],
      ["of a file that takes hours", 1, 1000, 5000, "0 %, 1,500 records, 300/s, 1 h 23 min left"],
      ["of a file that grows", 1100, 1000, 2000, "100 %, 1,500 records, 750/s"],
      ["of a file that nothing was read of", 0, 1000, 2000, "0 %, 1,500 records, 750/s"],
      ["of a pipe", 250, undefined, 2000, "1,500 records, 750/s"],
    ],
  )("%s", (_what, bytesRead, totalBytes, elapsedMs, text) => {
    const tally = tallyOf({ created: 1500 });
    expect(tally.describeProgress(bytesRead, totalBytes, 1000 + elapsedMs)).toBe(text);
  });

  it("names rejected and failed records", () => {
    const tally = tallyOf({ created: 1, rejected: 2, failed: 1 });
    const text = tally.describeProgress(1, undefined, 2000);
    expect(text).toBe("4 records, 2 rejected, 1 failed, 4/s");
  });
});

it("prints no rate of a short run with few records", () => {
  const summary = "created 2, unchanged 0, replaced 0, rejected 0, failed 0";
  expect(tallyOf({ created: 2 }).describeEnd(1150, false)).toBe(`${summary} in 0.1 s`);
  expect(tallyOf({ created: 2 }).describeEnd(2000, true)).toBe(
    `${summary}, unfinished 0 in 1.0 s (2/s)`,
  );
  const tally = tallyOf({ created: 2000, unchanged: 3, replaced: 4, rejected: 5, failed: 6 });
  expect(tally.describeEnd(1500, false)).toBe(
    "created 2,000, unchanged 3, replaced 4, rejected 5, failed 6 in 0.5 s (4,036/s)",
  );
});
