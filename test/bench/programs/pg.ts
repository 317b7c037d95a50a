/** The server that users would write for PostgreSQL: node:http and pg, with one INSERT for each request on a pool of 10. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";

interface NewPlant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string;
}

const [url, token] = process.argv.slice(2);
if (url === undefined || token === undefined) throw new Error("usage: pg.ts URL TOKEN");

const pool = new pg.Pool({ connectionString: url, max: 10 });
await pool.query("CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)");

const server = createServer((request, response) => {
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (request.headers.authorization !== `Bearer ${token}`) {
      send(400, { error: 40102, message: "unknown token" });
      return;
    }
    const { id, name, tag } = JSON.parse(Buffer.concat(chunks).toString()) as NewPlant;
    pool.query("INSERT INTO plants VALUES ($1, $2, $3)", [id, name, tag ?? null]).then(
      () => send(200, tag === undefined ? { name } : { name, tag }),
      (error: unknown) => send(400, { error: 40900, message: String(error) }),
    );
  });
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.on("SIGTERM", () => {
  server.close(() => void pool.end());
  server.closeAllConnections();
});
