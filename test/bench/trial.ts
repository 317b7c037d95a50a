/** One trial: a fresh server, a moment to warm up, the load, and the check of what it stored. */
import type { Load, LoadGenerator, LoadResult } from "./load.ts";
import { type Peer, token } from "./peers.ts";
import { withDirectory } from "./rounds.ts";
import { checkPlants } from "./stored-plants.ts";

/** Options of a trial. */
export interface Trial extends Pick<Load, "connections" | "heads" | "ids" | "kind" | "seconds"> {
  /** The token to send. Default: that of the peer. */
  readonly token?: string;
}

/** The measurements of a trial. */
export interface TrialResult {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Resident set of the server at the end of the load, in bytes. */
  readonly memory: number;
  /** CPU time of the server's main thread per request, in microseconds; undefined where it is unknown. */
  readonly cpuUs: number | undefined;
}

/**
 * A server is slower in its first seconds: its code is not optimised yet, and the log of SQLite still grows. Later SQLite
 * writes the log again from its beginning.
 */
const warmUpSeconds = 4;

/** @throws Error when a request failed, or the store does not hold what was acknowledged */
export async function runTrial(
  generator: LoadGenerator,
  peer: Peer,
  trial: Trial,
): Promise<TrialResult> {
  return withDirectory(async (directory) => {
    const server = await peer.start(directory);
    const load = { ...trial, url: server.url, token: trial.token ?? token };
    const warmUp = await generator.run({ ...load, seconds: warmUpSeconds, sentBefore: 0 });
    const cpuBefore = await server.measureCpuTime();
    const result = await generator.run({ ...load, sentBefore: warmUp.sent });
    const cpuAfter = await server.measureCpuTime();
    const memory = await server.measureMemory();
    await server.stop();
    checkResult(result, peer, trial);
    if (peer.readPlants !== undefined) {
      const acknowledged = toCreated(warmUp) + toCreated(result);
      const sent = warmUp.sent + result.sent;
      checkPlants(await peer.readPlants(directory), sent, acknowledged, trial.ids);
    }
    const { responses, seconds, p50Ms, p99Ms } = result;
    const cpuUs =
      peer.hasMainThread === false || cpuBefore === undefined || cpuAfter === undefined
        ? undefined
        : (cpuAfter - cpuBefore) / responses;
    return { requestsPerSecond: responses / seconds, p50Ms, p99Ms, memory, cpuUs };
  });
}

function toCreated({ responses, rejected }: LoadResult): number {
  return responses - rejected;
}

function checkResult(result: LoadResult, peer: Peer, trial: Trial): void {
  const { responses, rejected, failed } = result;
  const isToBeRejected = trial.kind === "broken" || trial.token !== undefined;
  const expected = isToBeRejected && peer.name !== "bare" ? responses : 0;
  if (failed > 0 || responses === 0 || rejected !== expected) {
    throw new Error(`${peer.name}: ${JSON.stringify(result)} is not a valid result`);
  }
}
