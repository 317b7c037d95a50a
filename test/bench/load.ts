/** Load on a server: by wrk where it is installed, which leaves most of the machine to the server, else by autocannon. */
import { fileURLToPath } from "node:url";
import { run } from "../helpers/run.ts";
import type { IdOrder } from "./requests.ts";

const script = fileURLToPath(new URL("wrk.lua", import.meta.url));
const autocannon = fileURLToPath(new URL("../ecosystem/bench/autocannon.ts", import.meta.url));

/** As many requests as fit into the time, one after the other on each connection. */
export interface Load {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  readonly seconds: number;
  readonly ids: IdOrder;
  /** `different`: no two requests have the same head, because a proxy adds the address of its client. Default: `equal`. */
  readonly heads?: "equal" | "different";
  /** `create` sends plants; `broken` sends plants without their last brace. */
  readonly kind: "create" | "broken";
  /** Number of requests that this server has received before. The first request has the next number. */
  readonly sentBefore: number;
}

/** The responses to a load. */
export interface LoadResult {
  /** Requests that were sent. Requests in flight at the end have no response. */
  readonly sent: number;
  /** Responses of any status. */
  readonly responses: number;
  /** Responses other than 2xx. */
  readonly rejected: number;
  /** Connections and requests that failed without a response. */
  readonly failed: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A program that makes load. */
export interface LoadGenerator {
  readonly name: string;
  run(load: Load): Promise<LoadResult>;
}

/** wrk, if it is on the path; else autocannon. */
export async function chooseLoadGenerator(): Promise<LoadGenerator> {
  try {
    await run("wrk", ["--version"]);
  } catch (error) {
    // It says its version, and exits with 1.
    if ((error as { code?: unknown }).code !== 1) return { name: "autocannon", run: runAutocannon };
  }
  return { name: "wrk", run: runWrk };
}

async function runWrk(load: Load): Promise<LoadResult> {
  const { stdout } = await run("wrk", [
    "--threads=1",
    `--connections=${load.connections}`,
    `--duration=${load.seconds}s`,
    "--timeout=30s",
    "--latency",
    `--script=${script}`,
    load.url,
    "--",
    load.token,
    load.ids,
    load.kind,
    String(load.sentBefore),
    load.heads ?? "equal",
  ]);
  const lastLine = stdout.trimEnd().split("\n").at(-1) ?? "";
  return JSON.parse(lastLine) as LoadResult;
}

async function runAutocannon(load: Load): Promise<LoadResult> {
  const args = ["--import=tsx", autocannon, JSON.stringify(load)];
  const { stdout } = await run(process.execPath, args);
  return JSON.parse(stdout) as LoadResult;
}
