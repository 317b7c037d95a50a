/** Measures the time of a command from its start to its end, and compares it with Node alone and a program of ten lines. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { plantstore, startPlantstore, token } from "./peers.ts";
import { toProgramPath } from "./programs.ts";
import { runRounds, withDirectory } from "./rounds.ts";
import { toSpread, toText } from "./statistics.ts";
import type { Row } from "./table.ts";

/** The heads of the columns of {@link runStartUpPart}. */
export const startUpColumns = ["command", "ms", "to node -e 0", "to ten lines"];

/** Indexes of the commands that the others are compared with. */
const yardsticks = [0, 1];

/**
 * Runs the commands in turn, round after round.
 *
 * @param node executable of the Node that runs them
 * @returns a row for each command: its time, and the ratios of that time to the yardsticks of the same round
 */
export function runStartUpPart(rounds: number, node: string): Promise<Row[]> {
  return withDirectory((directory) => measureCommands(directory, rounds, node));
}

async function measureCommands(directory: string, rounds: number, node: string): Promise<Row[]> {
  const store = `sqlite:${join(directory, "plants.db")}`;
  const server = await startPlantstore(directory, store, { node });
  try {
    const env = {
      PATH: process.env["PATH"],
      HOME: directory,
      PLANTSTORE_URL: server.url,
      PLANTSTORE_TOKEN: token,
      PLANTSTORE_STORE: store,
    };
    let id = 0;
    const measureRun = async (command: string, args: readonly string[]): Promise<number> => {
      const startedAt = performance.now();
      const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "inherit"] });
      const [code] = (await once(child, "exit")) as [number | null];
      if (code !== 0) throw new Error(`${command} ${args.join(" ")}: exited with ${code}`);
      return performance.now() - startedAt;
    };
    const measureReady = (): Promise<number> =>
      withDirectory(async (ownDirectory) => {
        const startedAt = performance.now();
        const ownStore = `sqlite:${join(ownDirectory, "plants.db")}`;
        const started = await startPlantstore(ownDirectory, ownStore, { node });
        const ms = performance.now() - startedAt;
        await started.stop();
        return ms;
      });
    const toBody = (): string => `{"id":${(id += 1)},"name":"fern"}`;
    const commands: readonly (readonly [string, () => Promise<number>])[] = [
      ["node -e 0", () => measureRun(node, ["-e", "0"])],
      [
        "ten lines of node:http",
        () => measureRun(node, [toProgramPath("ten-lines.js"), String((id += 1))]),
      ],
      ["plantstore --version", () => measureRun(node, [plantstore, "--version"])],
      ["plantstore --help", () => measureRun(node, [plantstore, "--help"])],
      [
        "plantstore create",
        () => measureRun(node, [plantstore, "create", `--id=${(id += 1)}`, "--name=fern"]),
      ],
      ["plantstore list --limit 3", () => measureRun(node, [plantstore, "list", "--limit=3"])],
      [
        "curl",
        () => {
          const headers = [`Authorization: Bearer ${token}`, "Content-Type: application/json"];
          const flags = headers.flatMap((header) => ["--header", header]);
          const url = `${server.url}/plants`;
          return measureRun("curl", ["--silent", "--fail", url, ...flags, "--data", toBody()]);
        },
      ],
      ["plantstore serve, until ready", measureReady],
    ];
    const measures = commands.map(([, measure]) => measure);
    const times = await runRounds(rounds, measures);
    return commands.map(([name], index) => {
      const own = times[index] ?? [];
      const ratios = yardsticks.map((yardstick) => {
        const others = times[yardstick] ?? [];
        return toText(toSpread(own.map((ms, round) => ms / (others[round] ?? 0))), 2);
      });
      return [name, toText(toSpread(own), 0), ...ratios];
    });
  } finally {
    await server.stop();
  }
}
