/** Measures the time of a command from its start to its end, and compares it with Node alone and a program of ten lines. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { startPlantstore, token } from "./peers.ts";
import { toProgramPath } from "./programs.ts";
import { toSpread, toText } from "./statistics.ts";
import type { Row } from "./table.ts";

const plantstore = fileURLToPath(new URL("../../bin/plantstore.js", import.meta.url));

/** The heads of the columns of {@link runStartUpPart}. */
export const startUpColumns = ["command", "ms", "to node -e 0", "to ten lines"];

/** The yardsticks, by their names in the table. */
const yardsticks = ["node -e 0", "ten lines of node:http"];

/**
 * Runs the commands in turn, round after round.
 *
 * @param node executable of the Node that runs them
 * @returns a row for each command: its time, and the ratios of that time to the yardsticks of the same round
 */
export async function runStartUpPart(rounds: number, node: string): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), "plantstore-bench-"));
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
    const measureReady = async (): Promise<number> => {
      const ownDirectory = await mkdtemp(join(directory, "serve-"));
      const startedAt = performance.now();
      const ownStore = `sqlite:${join(ownDirectory, "plants.db")}`;
      const started = await startPlantstore(ownDirectory, ownStore, { node });
      const ms = performance.now() - startedAt;
      await started.stop();
      return ms;
    };
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
        () =>
          measureRun("curl", [
            "--silent",
            "--fail",
            `${server.url}/plants`,
            "--header",
            `Authorization: Bearer ${token}`,
            "--header",
            "Content-Type: application/json",
            "--data",
            toBody(),
          ]),
      ],
      ["plantstore serve, until ready", measureReady],
    ];
    const times = new Map(commands.map(([name]) => [name, [] as number[]]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, measure] of commands) times.get(name)?.push(await measure());
    }
    return commands.map(([name]) => {
      const own = times.get(name) ?? [];
      const ratios = yardsticks.map((yardstick) => {
        const others = times.get(yardstick) ?? [];
        return toText(toSpread(own.map((ms, round) => ms / (others[round] ?? 0))), 2);
      });
      return [name, toText(toSpread(own), 0), ...ratios];
    });
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
