/**
 * A usual plant store: Fastify with a schema, a bearer token, SQLite with the same settings, and a commit for each request.
 * JSON.parse rounds ids above 2^53.
 */
import Fastify from "fastify";
import { loadSqlite } from "../../../src/store/sqlite/driver.ts";

interface NewPlant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string;
}

const [path, token] = process.argv.slice(2);
if (path === undefined || token === undefined) throw new Error("usage: fastify.ts PATH TOKEN");

const { DatabaseSync } = await loadSqlite();
const database = new DatabaseSync(path);
database.exec("PRAGMA journal_mode = WAL");
database.exec("PRAGMA synchronous = FULL");
database.exec("CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT, tag TEXT)");
const insert = database.prepare("INSERT INTO plants VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
const select = database.prepare("SELECT name, tag FROM plants WHERE id = ?");

const app = Fastify();
app.addHook("onRequest", async (request, reply) => {
  if (request.headers.authorization === `Bearer ${token}`) return;
  await reply.code(400).send({ error: 40102, message: "unknown token" });
});
app.setErrorHandler((error, _request, reply) =>
  reply.code(400).send({ error: 40001, message: error instanceof Error ? error.message : "" }),
);
const newPlantSchema = {
  type: "object",
  required: ["id", "name"],
  properties: { id: { type: "integer" }, name: { type: "string" }, tag: { type: "string" } },
};
app.post<{ Body: NewPlant }>("/plants", { schema: { body: newPlantSchema } }, (request, reply) => {
  const { id, name, tag } = request.body;
  const { changes } = insert.run(BigInt(id), name, tag ?? null);
  if (Number(changes) === 0) {
    const stored = select.get(BigInt(id)) as { name: string; tag: string | null };
    if (stored.name !== name || stored.tag !== (tag ?? null)) {
      return reply.code(400).send({ error: 40900, message: "id belongs to a different plant" });
    }
  }
  return reply.send(tag === undefined ? { name } : { name, tag });
});
process.stdout.write(`${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
process.on("SIGTERM", () => {
  app.server.closeAllConnections();
  void app.close().then(() => database.close());
});
