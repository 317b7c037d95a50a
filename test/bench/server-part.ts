/** The parts that put servers under load: each peer in turn, round after round, as ratios to the bare server. */
import type { LoadGenerator } from "./load.ts";
import type { Peer } from "./peers.ts";
import { toSpread, toText } from "./statistics.ts";
import type { Row } from "./table.ts";
import { runTrial, type Trial, type TrialResult } from "./trial.ts";

/** What is measured, in words. */
export interface ServerPart {
  readonly title: string;
  readonly trial: Omit<Trial, "seconds">;
  /** The first one is the yardstick. */
  readonly peers: readonly [Peer, ...Peer[]];
}

/** How long and how often. */
export interface Effort {
  readonly rounds: number;
  readonly seconds: number;
}

/** The heads of the columns of {@link runServerPart}. */
export const serverColumns = ["what", "server", "requests/s", "ratio", "p50 ms", "p99 ms", "MB"];

/** Runs a part; a row for each peer. */
export async function runServerPart(
  part: ServerPart,
  generator: LoadGenerator,
  { rounds, seconds }: Effort,
): Promise<Row[]> {
  const [yardstick] = part.peers;
  const results = new Map<Peer, TrialResult[]>(part.peers.map((peer) => [peer, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const peer of part.peers) {
      results.get(peer)?.push(await runTrial(generator, peer, { ...part.trial, seconds }));
    }
  }
  const yardsticks = results.get(yardstick) ?? [];
  return part.peers.map((peer) => {
    const own = results.get(peer) ?? [];
    const rates = own.map(({ requestsPerSecond }) => requestsPerSecond);
    // Of one round, so that what slows down the machine for a while slows down both.
    const ratios = rates.map((rate, round) => rate / (yardsticks[round]?.requestsPerSecond ?? 0));
    return [
      part.title,
      peer.name,
      toSpread(rates).median.toFixed(0),
      toText(toSpread(ratios), 2),
      toText(toSpread(own.map(({ p50Ms }) => p50Ms)), 2),
      toText(toSpread(own.map(({ p99Ms }) => p99Ms)), 1),
      (toSpread(own.map(({ memory }) => memory)).max / 1e6).toFixed(0),
    ];
  });
}
