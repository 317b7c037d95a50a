/** Measures servers under load: each peer in turn, round after round, as ratios to the bare server. */
import type { LoadGenerator } from "./load.ts";
import type { Peer } from "./peers.ts";
import { runRounds } from "./rounds.ts";
import { toSpread, toText } from "./statistics.ts";
import type { Row } from "./table.ts";
import { runTrial, type Trial, type TrialResult } from "./trial.ts";

/** A measurement: its title, its load and its peers. */
export interface ServerPart {
  readonly title: string;
  readonly trial: Omit<Trial, "seconds">;
  /** Ratios are relative to the first peer. */
  readonly peers: readonly [Peer, ...Peer[]];
}

/** Number of rounds, and the duration of the load in each. */
export interface Effort {
  readonly rounds: number;
  readonly seconds: number;
}

/** Column headings of {@link runServerPart}. */
export const serverColumns = [
  "what",
  "server",
  "requests/s",
  "ratio",
  "CPU µs",
  "CPU ratio",
  "p50 ms",
  "p99 ms",
  "MB",
];

/** Both values of a ratio are from one round, so that a slow phase of the machine affects both. */
type Reader = (result: TrialResult) => number | undefined;

const readRate: Reader = ({ requestsPerSecond }) => requestsPerSecond;
/** Steadier than the rate on a machine with other work. */
const readCpu: Reader = ({ cpuUs }) => cpuUs;

/** Runs a part. @returns a row for each peer */
export async function runServerPart(
  part: ServerPart,
  generator: LoadGenerator,
  { rounds, seconds }: Effort,
): Promise<Row[]> {
  const measures = part.peers.map(
    (peer) => () => runTrial(generator, peer, { ...part.trial, seconds }),
  );
  const results = await runRounds(rounds, measures);
  const [referenceResults = []] = results;
  return part.peers.map((peer, index) => {
    const own = results[index] ?? [];
    const toCell = (values: readonly (number | undefined)[], digits: number): string => {
      const known = values.filter((value) => value !== undefined);
      return known.length === 0 ? "" : toText(toSpread(known), digits);
    };
    const toRatios = (read: Reader): (number | undefined)[] =>
      own.map((result, round) => {
        const value = read(result);
        const theirs = referenceResults[round] && read(referenceResults[round]);
        return value === undefined || theirs === undefined ? undefined : value / theirs;
      });
    return [
      part.title,
      peer.name,
      toSpread(own.map(({ requestsPerSecond }) => requestsPerSecond)).median.toFixed(0),
      toCell(toRatios(readRate), 2),
      toCell(own.map(readCpu), 1),
      toCell(toRatios(readCpu), 2),
      toText(toSpread(own.map(({ p50Ms }) => p50Ms)), 2),
      toText(toSpread(own.map(({ p99Ms }) => p99Ms)), 1),
      (toSpread(own.map(({ memory }) => memory)).max / 1e6).toFixed(0),
    ];
  });
}
