/** `npm run bench`: measures plantstore and its alternatives on this machine, in one run. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openCreatePeers, selectCreatePeers } from "./create-peers.ts";
import { chooseLoadGenerator } from "./load.ts";
import { measureFlush } from "./flush.ts";
import { bare, sqlite, toOtherPlantstore } from "./peers.ts";
import { pipeColumns, runPipePart } from "./pipe-part.ts";
import { runServerPart, serverColumns, type ServerPart } from "./server-part.ts";
import { toText } from "./statistics.ts";
import { runStartUpPart, startUpColumns } from "./start-up-part.ts";
import { type Row, toTable } from "./table.ts";

const usage = `Usage: npm run bench -- [PART …] [OPTIONS]

Parts: creates, heads, random, refusals, pipe, start-up; all parts by default.
heads compares constant headers with changing ones.

Options:
  --rounds N          Rounds of each measurement (default: 5)
  --seconds N         Seconds of load in each round (default: 4)

Options of creates:
  --connections LIST  Numbers of connections (default: 1,16,64,256)
  --peers LIST        Servers, by name or its beginning (default: all); bare is always measured

Options of creates, heads and pipe:
  --against DIR       Directory of another built plantstore to measure

Options of start-up:
  --node PATH         Node that runs the commands; repeatable (default: the one that runs this)
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "4" },
    connections: { type: "string", default: "1,16,64,256" },
    peers: { type: "string" },
    against: { type: "string" },
    node: { type: "string", multiple: true, default: [process.execPath] },
    help: { type: "boolean", default: false },
  },
});
const effort = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
const connectionCounts = values.connections.split(",").map(Number);
const peerNames = values.peers?.split(",");
const against = values.against === undefined ? undefined : resolve(values.against);
/** The plantstore of `--against`. */
const others = against === undefined ? [] : [toOtherPlantstore(against)];

/** The parts by name; each prints its table. */
const parts: Readonly<Record<string, () => Promise<void>>> = {
  async creates() {
    const { peers, skipped, close } = await openCreatePeers(selectCreatePeers(against, peerNames));
    try {
      for (const line of skipped) process.stdout.write(`${line}\n`);
      const flush = toText(await measureFlush(), 2);
      process.stdout.write(`\nA write of 4 KiB and its flush to this disk: ${flush} ms.\n`);
      await printServerParts(
        connectionCounts.map((connections) => ({
          title: `creates, ${connections} connections`,
          trial: { connections, ids: "sequential", kind: "create" },
          peers,
        })),
      );
    } finally {
      await close();
    }
  },
  async heads() {
    await printServerParts(
      (["equal", "different"] as const).map((heads) => ({
        title: `${heads} heads`,
        trial: { connections: 64, ids: "sequential", kind: "create", heads },
        peers: [bare, sqlite, ...others],
      })),
    );
  },
  async random() {
    const trial = { connections: 256, ids: "random", kind: "create" } as const;
    await printServerParts([{ title: "random ids", trial, peers: [bare, sqlite] }]);
  },
  async refusals() {
    const trial = { connections: 64, ids: "sequential", kind: "create" } as const;
    const peers = [bare, sqlite] as const;
    await printServerParts([
      { title: "wrong token", trial: { ...trial, token: "wrong" }, peers },
      { title: "broken body", trial: { ...trial, kind: "broken" }, peers },
    ]);
  },
  async pipe() {
    const rows = await runPipePart(await chooseLoadGenerator(), effort, against);
    process.stdout.write(`\n${toTable(pipeColumns, rows)}`);
  },
  async "start-up"() {
    for (const node of values.node) {
      const version = execFileSync(node, ["--version"], { encoding: "utf8" });
      const rows = await runStartUpPart(5 * effort.rounds, node);
      process.stdout.write(`\nNode ${version}\n${toTable(startUpColumns, rows)}`);
    }
  },
};

async function printServerParts(serverParts: readonly ServerPart[]): Promise<void> {
  const generator = await chooseLoadGenerator();
  const rows: Row[] = [];
  for (const part of serverParts) rows.push(...(await runServerPart(part, generator, effort)));
  process.stdout.write(`\nLoad from ${generator.name}.\n\n${toTable(serverColumns, rows)}`);
}

const names = positionals.length > 0 ? positionals : Object.keys(parts);

/** Returns what is wrong with the command line, or undefined. */
function findUsageError(): string | undefined {
  const unknown = names.find((name) => parts[name] === undefined);
  if (unknown !== undefined) return `unknown part "${unknown}"`;
  if (!(effort.rounds >= 1)) return `--rounds must be at least 1 (got ${values.rounds})`;
  if (!(effort.seconds >= 1)) return `--seconds must be at least 1 (got ${values.seconds})`;
  if (!connectionCounts.every((count) => Number.isInteger(count) && count >= 1)) {
    return `--connections must be positive integers such as 64,256 (got ${values.connections})`;
  }
  if (against !== undefined && !existsSync(join(against, "bin/plantstore.js"))) {
    return `--against must be a directory with bin/plantstore.js (got ${against})`;
  }
  try {
    selectCreatePeers(against, peerNames);
  } catch (error) {
    if (error instanceof RangeError) return `--peers: ${error.message}`;
    throw error;
  }
  return undefined;
}

const usageError = findUsageError();
if (values.help) {
  process.stdout.write(usage);
} else if (usageError !== undefined) {
  process.stderr.write(`${usageError}\n\n${usage}`);
  process.exitCode = 2;
} else {
  const { rounds, seconds } = effort;
  const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "?"}`;
  process.stdout.write(`${machine}; median (least–most) of ${rounds} rounds, ${seconds} s each.\n`);
  for (const name of names) await parts[name]?.();
}
