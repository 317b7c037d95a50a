/**
 * Kills servers on one store again and again, and checks after each round that nothing acknowledged is lost.
 *
 *     npm run build && npx tsx test/crash-rounds.ts --rounds 500
 *     npm run build && npx tsx test/crash-rounds.ts --rounds 50 --engine postgres
 *
 * In a round, clients create plants at one or two servers, and delete a quarter of them, until the servers are killed with
 * SIGKILL. Two servers get different plants for the same ids. Every fifth round also simulates a power failure, if this machine can mount disks.
 * For that, the clients repeat every create without a response after a restart, and the server is killed. Only data that
 * was flushed to the disk counts. On PostgreSQL, every fifth round kills the database too, and the clients repeat every
 * create without a response after each round.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pg from "pg";
import { loadSqlite } from "../src/store/sqlite/driver.ts";
import { canMountDisks, type LoopDisk, openLoopDisk } from "./helpers/loop-disk.ts";
import { startPostgres } from "./helpers/postgres-server.ts";

/** Figures of a run. */
export interface CrashFigures {
  /** Creates that got a 200, repeated ones included. */
  readonly acknowledged: number;
  /** Deletes that got a 204, or a 40401 when they were repeated. */
  readonly deleted: number;
  /**
   * One line for each acknowledged plant that is missing or different, for each deleted plant that is there, and for each plant
   * that exists in part.
   */
  readonly faults: readonly string[];
}

const binary = fileURLToPath(new URL("../bin/plantstore.js", import.meta.url));
const token = "token-of-the-crash-rounds";
const clients = 32;
const roundsPerPowerFailure = 5;
const roundsPerDatabaseKill = 5;
const maxLifeMs = 250;
const idsPerRound = 1_000_000;

interface Server {
  readonly url: string;
  readonly child: ChildProcess;
}

interface Create {
  readonly id: number;
  readonly name: string;
  readonly tag: string;
  result: "acknowledged" | "conflict" | "unacknowledged";
  /** Absent if its id was not deleted. */
  deletion?: "acknowledged" | "unacknowledged";
}

/**
 * Runs the rounds.
 *
 * @param log receives a line for every tenth round
 */
export async function runCrashRounds(
  rounds: number,
  log: (line: string) => void,
): Promise<CrashFigures> {
  const disk = (await canMountDisks()) ? await openLoopDisk() : undefined;
  const directory = disk?.directory ?? (await mkdtemp(join(tmpdir(), "plantstore-crash-")));
  try {
    return await runOnSqlite(rounds, directory, disk, log);
  } finally {
    if (disk === undefined) await rm(directory, { recursive: true });
    else await disk.close();
  }
}

async function runOnSqlite(
  rounds: number,
  directory: string,
  disk: LoopDisk | undefined,
  log: (line: string) => void,
): Promise<CrashFigures> {
  const path = join(directory, "plants.db");
  const setup: Setup = { store: `sqlite:${path}`, home: directory };
  const faults: string[] = [];
  const allCreates: Create[] = [];
  let servers = await startServers(setup, 1);
  for (let round = 1; round <= rounds; round++) {
    const isPowerFailure = disk !== undefined && round % roundsPerPowerFailure === 0;
    const creates = await createUntilKilled(servers, round * idsPerRound);
    if (isPowerFailure) {
      await repeatUnacknowledged(setup, creates);
      await disk.losePower(async (copy) => {
        const stored = await readSqlite(join(copy, "plants.db"), creates);
        faults.push(...check(stored, creates, `round ${round}, power`));
      });
    }
    // The servers recover the store, not the check.
    servers = await startServers(setup, 1 + (round % 2));
    allCreates.push(...creates);
    const isReported = round % 10 === 0 || round === rounds;
    const checked = isReported ? allCreates : creates;
    faults.push(...check(await readSqlite(path, checked), checked, `round ${round}`));
    if (isReported) log(`${round} of ${rounds} rounds, ${faults.length} faults`);
  }
  await kill(servers);
  return toFigures(allCreates, faults);
}

/**
 * Runs the rounds on a PostgreSQL server of their own.
 *
 * @param log receives a line for every tenth round
 */
export async function runPostgresCrashRounds(
  rounds: number,
  log: (line: string) => void,
): Promise<CrashFigures> {
  const postgres = await startPostgres();
  const home = await mkdtemp(join(tmpdir(), "plantstore-crash-"));
  const setup: Setup = { store: postgres.url, home };
  const faults: string[] = [];
  const allCreates: Create[] = [];
  try {
    for (let round = 1; round <= rounds; round++) {
      const servers = await startServers(setup, 1 + (round % 2));
      const killsDatabase = round % roundsPerDatabaseKill === 0;
      const creates = await createUntilKilled(servers, round * idsPerRound, async () => {
        if (killsDatabase) await postgres.kill();
      });
      if (killsDatabase) await postgres.start();
      await repeatUnacknowledged(setup, creates);
      const stored = await readPostgres(postgres.url, round * idsPerRound);
      faults.push(...check(stored, creates, `round ${round}`));
      allCreates.push(...creates);
      if (round % 10 === 0) log(`${round} of ${rounds} rounds, ${faults.length} faults`);
    }
  } finally {
    await postgres.remove();
    await rm(home, { recursive: true });
  }
  return toFigures(allCreates, faults);
}

/** The store of the rounds, and the home directory of its servers. */
interface Setup {
  readonly store: string;
  readonly home: string;
}

async function startServers(setup: Setup, number: number): Promise<readonly Server[]> {
  return Promise.all(Array.from({ length: number }, () => startServer(setup)));
}

async function startServer({ store, home }: Setup): Promise<Server> {
  const args = ["serve", "--port", "0", "--log-level", "error", "--operations", "all"];
  const child = spawn(process.execPath, [binary, ...args], {
    env: { HOME: home, PLANTSTORE_STORE: store, PLANTSTORE_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const [url] = (await Promise.race([once(lines, "line"), once(child, "exit")])) as [unknown];
  if (typeof url !== "string") throw new Error(`the server exited with ${String(url)}`);
  return { url, child };
}

async function kill(servers: readonly Server[]): Promise<void> {
  const ended = servers.map(({ child }) => once(child, "exit"));
  for (const { child } of servers) child.kill("SIGKILL");
  await Promise.all(ended);
}

/** Creates plants at all servers until they are killed at a random moment, after `beforeKill`. */
async function createUntilKilled(
  servers: readonly Server[],
  firstId: number,
  beforeKill: () => Promise<void> = async () => undefined,
): Promise<Create[]> {
  const creates: Create[] = [];
  let nextId = firstId;
  let isOver = false;

  async function createForever(): Promise<void> {
    while (!isOver) {
      const id = nextId++;
      const pending = servers.map(({ url }, index) => {
        const name = `plant ${id} of server ${index}`;
        const create: Create = { id, name, tag: "x".repeat(id % 500), result: "unacknowledged" };
        creates.push(create);
        return send(url, create);
      });
      await Promise.all(pending);
      const ofId = creates.filter((create) => create.id === id);
      const isDeleted = id % 4 === 0 && ofId.every(({ result }) => result !== "unacknowledged");
      const server = servers[id % servers.length];
      if (isDeleted && server !== undefined) await remove(server.url, ofId);
    }
  }

  const ended = Array.from({ length: clients }, createForever);
  // So that each round has more than one acknowledged plant to lose.
  while (countAcknowledged(creates) < 2) await sleep(1);
  await sleep(Math.random() * maxLifeMs);
  isOver = true;
  await beforeKill();
  await kill(servers);
  await Promise.all(ended);
  return creates;
}

/** Repeats the creates and the deletes without a response at a new server, and kills it. */
async function repeatUnacknowledged(setup: Setup, creates: readonly Create[]): Promise<void> {
  const server = await startServer(setup);
  const unacknowledged = creates.filter(({ result }) => result === "unacknowledged");
  await Promise.all(unacknowledged.map((create) => send(server.url, create)));
  const undeleted = creates.filter(({ deletion }) => deletion === "unacknowledged");
  const ids = new Set(undeleted.map(({ id }) => id));
  const toOfId = (id: number): Create[] => undeleted.filter((create) => create.id === id);
  await Promise.all(Array.from(ids, (id) => remove(server.url, toOfId(id))));
  await kill([server]);
}

/** Sends a create and records its result. */
async function send(url: string, create: Create): Promise<void> {
  const { id, name, tag } = create;
  try {
    const response = await fetch(`${url}/plants`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ id, name, tag }),
    });
    const { error } = (await response.json()) as { readonly error?: number };
    if (response.status === 200) create.result = "acknowledged";
    else if (error === 40_900) create.result = "conflict";
    // 50300 to 50302 acknowledge nothing.
  } catch {
    // The server was killed.
  }
}

/** Deletes the plant of creates with one id, and records whether the response says that it is gone. */
async function remove(url: string, creates: readonly Create[]): Promise<void> {
  const [first] = creates;
  for (const create of creates) create.deletion = "unacknowledged";
  try {
    const response = await fetch(`${url}/plants/${first?.id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${token}` },
    });
    const body = await response.text();
    if (response.status !== 204 && !body.includes('"error":40401,')) return;
    for (const create of creates) create.deletion = "acknowledged";
  } catch {
    // The server was killed.
  }
}

type StoredPlant = Pick<Create, "name" | "tag">;

/** Reads the plants of a round, and checks the structure of the file. */
async function readSqlite(
  path: string,
  creates: readonly Create[],
): Promise<ReadonlyMap<number, StoredPlant>> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path);
  try {
    const integrity = database.prepare("PRAGMA quick_check").get() as { quick_check: string };
    if (integrity.quick_check !== "ok") throw new Error(`${path}: ${integrity.quick_check}`);
    const select = database.prepare("SELECT name, tag FROM plants WHERE id = ?");
    return new Map(
      creates.flatMap(({ id }) => {
        const plant = select.get(BigInt(id)) as StoredPlant | undefined;
        return plant === undefined ? [] : [[id, plant]];
      }),
    );
  } finally {
    database.close();
  }
}

/** Reads the plants of a round. */
async function readPostgres(
  url: string,
  firstId: number,
): Promise<ReadonlyMap<number, StoredPlant>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Pick<Create, "id" | "name" | "tag">>(
      "SELECT id::int, name, tag FROM plants WHERE id >= $1",
      [firstId],
    );
    return new Map(rows.map(({ id, name, tag }) => [id, { name, tag }]));
  } finally {
    await client.end();
  }
}

/** Compares the creates of a round with the stored plants, and describes each fault. */
function check(
  stored: ReadonlyMap<number, StoredPlant>,
  creates: readonly Create[],
  name: string,
): string[] {
  const byId = new Map<number, Create[]>();
  for (const create of creates) byId.set(create.id, [...(byId.get(create.id) ?? []), create]);
  return [...byId].flatMap(([id, ofId]) => {
    const problem = findProblem(ofId, stored.get(id));
    return problem === undefined ? [] : [`${name}: plant ${id} ${problem}`];
  });
}

function findProblem(
  creates: readonly Create[],
  stored: StoredPlant | undefined,
): string | undefined {
  const acknowledged = creates.filter(({ result }) => result === "acknowledged");
  if (acknowledged.length > 1) return "has two winners";
  const deletion = creates[0]?.deletion;
  if (deletion === "acknowledged") return stored && "was deleted and is there";
  if (stored === undefined) {
    if (deletion === "unacknowledged") return undefined;
    const isMissing = creates.some(({ result }) => result !== "unacknowledged");
    return isMissing ? "is missing" : undefined;
  }
  const winner = creates.find(({ name, tag }) => name === stored.name && tag === stored.tag);
  if (winner === undefined) return "exists in part";
  if (acknowledged.length === 1 && acknowledged[0] !== winner) return "is a different one";
  return winner.result === "conflict" ? "was rejected and stored" : undefined;
}

function countAcknowledged(creates: readonly Create[]): number {
  return creates.filter(({ result }) => result === "acknowledged").length;
}

function toFigures(creates: readonly Create[], faults: readonly string[]): CrashFigures {
  const deleted = creates.filter(({ deletion }) => deletion === "acknowledged");
  return {
    acknowledged: countAcknowledged(creates),
    deleted: new Set(deleted.map(({ id }) => id)).size,
    faults,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "500" },
      engine: { type: "string", default: "sqlite" },
    },
  });
  const runRounds = values.engine === "postgres" ? runPostgresCrashRounds : runCrashRounds;
  const figures = await runRounds(Number(values.rounds), (line) => console.log(line));
  console.log(JSON.stringify(figures, undefined, 2));
  process.exitCode = figures.faults.length === 0 ? 0 : 1;
}
