/**
 * Measures bulk creates from a file, plain and over TLS: `plantstore create` and curl in a loop, as ratios to a load
 * generator with the plain server.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { LoadGenerator } from "./load.ts";
import { type Peer, plantstore, sqlite, tls, toOtherPlantstore, token } from "./peers.ts";
import { toBody } from "./requests.ts";
import { runRounds, withDirectory } from "./rounds.ts";
import type { Effort } from "./server-part.ts";
import { readMemory } from "./server-process.ts";
import { toSpread, toText } from "./statistics.ts";
import { checkPlants } from "./stored-plants.ts";
import type { Row } from "./table.ts";
import { runTrial } from "./trial.ts";

/** The heads of the columns of {@link runPipePart}. */
export const pipeColumns = ["what", "plants/s", "ratio", "MB"];

/** More plants for longer rounds. */
const plantsPerSecond = 25_000;
const curlName = "curl in a loop";
const curlPlants = 100;
const curlLoop = `while IFS= read -r plant; do
  printf '%s' "$plant" | curl --silent --fail "$PLANTSTORE_URL/plants" --header "Authorization: Bearer $PLANTSTORE_TOKEN" \\
    --header "Content-Type: application/json" --data-binary @- --output /dev/null || exit 1
done < "$1"`;

interface PipeResult {
  readonly plantsPerSecond: number;
  /** The largest resident set of the command that was seen, in bytes. */
  readonly memory: number;
}

/**
 * Runs each measurement in turn, round after round.
 *
 * @param against directory of another built plantstore, whose client is measured too
 * @returns a row for each measurement
 */
export async function runPipePart(
  generator: LoadGenerator,
  { rounds, seconds }: Effort,
  against: string | undefined,
): Promise<Row[]> {
  const load = { connections: 256, ids: "sequential", kind: "create", seconds } as const;
  const plants = seconds * plantsPerSecond;
  const create = (peer: Peer, program: string) => () =>
    runPipe(peer, plants, (file) => [process.execPath, [program, "create", file]]);
  const other = against === undefined ? undefined : join(against, "bin/plantstore.js");
  const measures: readonly (readonly [string, () => Promise<PipeResult>])[] = [
    [
      `${generator.name}, ${load.connections} connections`,
      async () => {
        const { requestsPerSecond } = await runTrial(generator, sqlite, load);
        return { plantsPerSecond: requestsPerSecond, memory: 0 };
      },
    ],
    ["plantstore create FILE", create(sqlite, plantstore)],
    ["plantstore create FILE, TLS", create(tls, plantstore)],
    ...(other === undefined
      ? []
      : [[`${toOtherPlantstore(against ?? "").name} create FILE`, create(sqlite, other)] as const]),
    [curlName, () => runPipe(sqlite, curlPlants, (file) => ["sh", ["-c", curlLoop, "sh", file]])],
  ];
  const results = await runRounds(
    rounds,
    measures.map(([, measure]) => measure),
  );
  const [reference = []] = results;
  return measures.map(([name], index) => {
    const own = results[index] ?? [];
    const rates = own.map((result) => result.plantsPerSecond);
    const ratios = rates.map((rate, round) => rate / (reference[round]?.plantsPerSecond ?? 0));
    const { max } = toSpread(own.map(({ memory }) => memory));
    const ratio = toText(toSpread(ratios), name === curlName ? 4 : 2);
    return [
      name,
      toSpread(rates).median.toFixed(0),
      ratio,
      max === 0 ? "" : (max / 1e6).toFixed(0),
    ];
  });
}

/**
 * Creates plants from a file in a new store.
 *
 * @throws Error if the command fails, or the store does not hold exactly the plants of the file
 */
async function runPipe(
  peer: Peer,
  count: number,
  toCommand: (file: string) => readonly [command: string, args: readonly string[]],
): Promise<PipeResult> {
  return withDirectory(async (directory) => {
    const file = join(directory, "plants.ndjson");
    await pipeline(Readable.from(toLines(count)), createWriteStream(file));
    const server = await peer.start(directory);
    const startedAt = performance.now();
    const [command, args] = toCommand(file);
    const child = spawn(command, args, {
      env: {
        PATH: process.env["PATH"],
        HOME: directory,
        // The certificate of the TLS server is for this name.
        PLANTSTORE_URL: server.url.replace("https://127.0.0.1:", "https://localhost:"),
        PLANTSTORE_TOKEN: token,
        NODE_EXTRA_CA_CERTS: peer === tls ? join(directory, "cert.pem") : "",
      },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const ended = once(child, "exit") as Promise<[number | null]>;
    let memory = 0;
    const sampling = setInterval(() => {
      // It may have ended.
      const reading = readMemory(child.pid).catch(() => 0);
      void reading.then((bytes) => (memory = Math.max(memory, bytes)));
    }, 250);
    const [code] = await ended;
    const ms = performance.now() - startedAt;
    clearInterval(sampling);
    await server.stop();
    if (code !== 0) throw new Error(`${command}: exited with ${code}`);
    checkPlants((await peer.readPlants?.(directory)) ?? [], count, count, "sequential");
    return { plantsPerSecond: (count * 1000) / ms, memory };
  });
}

function* toLines(count: number): Generator<string> {
  for (let n = 1; n <= count; n += 1) yield `${toBody(n, "sequential")}\n`;
}
