import type { FaultRates } from "../../src/server/faults.ts";

/** Options of faults that are all off. */
export const noFaults: FaultRates = {
  latencyMs: 0,
  failRate: 0,
  dropRate: 0,
  statusRate: 0,
  tokenRate: 0,
  cutRate: 0,
  silentRate: 0,
  pageStatus: 502,
  seed: 0,
  first: [],
};
