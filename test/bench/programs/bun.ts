/**
 * Serves creates with Bun and its SQLite, in one thread. One transaction commits the creates of one turn of the event loop,
 * and each response waits for it. Rounds ids above 2^53, as JSON.parse does.
 */
import { serve } from "bun";
import { Database } from "bun:sqlite";

interface NewPlant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string;
}

interface PendingCreate {
  readonly plant: NewPlant;
  readonly resolve: (response: Response) => void;
}

const [path, token] = process.argv.slice(2);
if (path === undefined || token === undefined) throw new Error("usage: bun.ts PATH TOKEN");

const database = new Database(path);
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");
database.run("CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT, tag TEXT)");
const insert = database.prepare("INSERT INTO plants VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
const select = database.prepare("SELECT name, tag FROM plants WHERE id = ?");

const credential = `Bearer ${token}`;
let batch: PendingCreate[] = [];

function isNewPlant(value: unknown): value is NewPlant {
  if (typeof value !== "object" || value === null) return false;
  const { id, name, tag } = value as Readonly<Record<string, unknown>>;
  const isTag = tag === undefined || typeof tag === "string";
  return Number.isInteger(id) && typeof name === "string" && isTag;
}

function toError(status: number, error: number, message: string): Response {
  return Response.json({ error, message }, { status });
}

function create({ id, name, tag }: NewPlant): Response {
  if (insert.run(id, name, tag ?? null).changes === 0) {
    const stored = select.get(id) as { name: string; tag: string | null };
    if (stored.name !== name || stored.tag !== (tag ?? null)) {
      return toError(400, 40900, "id belongs to a different plant");
    }
  }
  return Response.json(tag === undefined ? { name } : { name, tag });
}

function commitBatch(): void {
  const creates = batch;
  batch = [];
  let responses: Response[];
  try {
    database.run("BEGIN IMMEDIATE");
    responses = creates.map(({ plant }) => create(plant));
    database.run("COMMIT");
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    database.run("ROLLBACK");
    responses = creates.map(() => toError(500, 50000, "the commit failed"));
  }
  for (const [index, response] of responses.entries()) creates[index]?.resolve(response);
}

async function handle(request: Request): Promise<Response> {
  if (request.method !== "POST" || new URL(request.url).pathname !== "/plants") {
    return toError(404, 40400, "unknown path");
  }
  if (request.headers.get("authorization") !== credential) {
    return toError(400, 40102, "unknown token");
  }
  let plant: unknown;
  try {
    plant = await request.json();
  } catch {
    return toError(400, 40001, "the body is not valid JSON");
  }
  if (!isNewPlant(plant)) return toError(400, 40001, "the body is not a plant");
  const valid = plant;
  return new Promise((resolve) => {
    if (batch.push({ plant: valid, resolve }) === 1) setImmediate(commitBatch);
  });
}

const server = serve({ hostname: "127.0.0.1", port: 0, fetch: handle });
process.stdout.write(`http://127.0.0.1:${server.port}\n`);
process.on("SIGTERM", () => {
  void server.stop(true);
  database.close();
  process.exit(0);
});
