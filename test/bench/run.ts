/** `npm run bench`: what plantstore costs, beside what one would otherwise use, on this machine and in this run. */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { chooseLoadGenerator } from "./load.ts";
import { measureFlush } from "./flush.ts";
import { openFilledStore } from "./filled-store.ts";
import { bare, fastify, memory, type Peer, sqlite } from "./peers.ts";
import { pipeColumns, runPipePart } from "./pipe-part.ts";
import { openPostgresPeer } from "./postgres-peer.ts";
import { runServerPart, serverColumns, type ServerPart } from "./server-part.ts";
import { toText } from "./statistics.ts";
import { runStartUpPart, startUpColumns } from "./start-up-part.ts";
import { type Row, toTable } from "./table.ts";

const usage = `Usage: npm run bench -- [PART …] [--rounds N] [--seconds N]

Parts: creates, random, refusals, pipe, start-up; all of them unless some are named.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "4" },
    help: { type: "boolean", default: false },
  },
});
const effort = { rounds: Number(values.rounds), seconds: Number(values.seconds) };

/** The parts by name; each prints its table. */
const parts: Readonly<Record<string, () => Promise<void>>> = {
  async creates() {
    const postgres = await openPostgresPeer();
    const peers: [Peer, ...Peer[]] = [bare, fastify, sqlite, memory, postgres];
    const flush = toText(await measureFlush(), 2);
    process.stdout.write(`\nA write of 4 KiB and its flush to this disk: ${flush} ms.\n`);
    try {
      await printServerParts(
        [1, 16, 64, 256].map((connections) => ({
          title: `creates, ${connections} connections`,
          trial: { connections, ids: "sequential", kind: "create" },
          peers,
        })),
      );
    } finally {
      await postgres.close();
    }
  },
  async random() {
    const filled = await openFilledStore();
    try {
      await printServerParts([
        {
          title: "random ids, empty store",
          trial: { connections: 256, ids: "random", kind: "create" },
          peers: [bare, sqlite],
        },
        {
          title: "random ids, a million plants",
          trial: { connections: 256, ids: "random", kind: "create", template: filled },
          peers: [bare, sqlite],
        },
      ]);
    } finally {
      await filled.close();
    }
  },
  async refusals() {
    await printServerParts([
      {
        title: "wrong token",
        trial: { connections: 64, ids: "sequential", kind: "create", token: "wrong" },
        peers: [bare, sqlite],
      },
      {
        title: "broken body",
        trial: { connections: 64, ids: "sequential", kind: "broken" },
        peers: [bare, sqlite],
      },
    ]);
  },
  async pipe() {
    const rows = await runPipePart(await chooseLoadGenerator(), effort);
    process.stdout.write(`\n${toTable(pipeColumns, rows)}`);
  },
  async "start-up"() {
    const rows = await runStartUpPart(4 * effort.rounds);
    process.stdout.write(`\n${toTable(startUpColumns, rows)}`);
  },
};

async function printServerParts(serverParts: readonly ServerPart[]): Promise<void> {
  const generator = await chooseLoadGenerator();
  const rows: Row[] = [];
  for (const part of serverParts) rows.push(...(await runServerPart(part, generator, effort)));
  process.stdout.write(`\nLoad from ${generator.name}.\n\n${toTable(serverColumns, rows)}`);
}

const names = positionals.length > 0 ? positionals : Object.keys(parts);
const unknown = names.find((name) => parts[name] === undefined);
if (values.help || unknown !== undefined || !(effort.rounds >= 1) || !(effort.seconds >= 1)) {
  process.stderr.write(usage);
  process.exitCode = values.help ? 0 : 2;
} else {
  const { rounds, seconds } = effort;
  const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "?"}`;
  process.stdout.write(`${machine}; median (least–most) of ${rounds} rounds, ${seconds} s each.\n`);
  for (const name of names) await parts[name]?.();
}
