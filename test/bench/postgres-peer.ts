/** The peers on PostgreSQL, with a server that is started for the run. */
import pg from "pg";
import { startPostgres } from "../helpers/postgres-server.ts";
import { type Peer, startPlantstore, token } from "./peers.ts";
import { toProgramPath } from "./programs.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import type { StoredPlant } from "./stored-plants.ts";

const schema = "plantstore_bench";

/** A row as pg reads it: an int8 becomes text. */
type PlantRow = Omit<StoredPlant, "id"> & { readonly id: string };

/** Opens plantstore on PostgreSQL. */
export function openPostgresPeer(): Promise<Peer> {
  return openPeer("plantstore postgres:", (directory, url) => startPlantstore(directory, url));
}

/** Opens node:http with pg, and one INSERT for each request. */
export function openPgPeer(): Promise<Peer> {
  return openPeer("node:http and pg", (directory, url) =>
    startServerProcess({ args: ["--import=tsx", toProgramPath("pg.ts"), url, token], directory }),
  );
}

/** Opens a peer with its own schema that each start empties. */
async function openPeer(
  name: string,
  startServer: (directory: string, url: string) => Promise<ServerProcess>,
): Promise<Peer> {
  const server = await startPostgres();
  const url = new URL(server.url);
  const pool = new pg.Pool({ connectionString: url.href });
  const storeUrl = new URL(url);
  storeUrl.searchParams.set("options", `-c search_path=${schema}`);

  return {
    name,
    async start(directory) {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}`);
      return startServer(directory, storeUrl.href.replaceAll("+", "%20"));
    },
    async readPlants() {
      const { rows } = await pool.query<PlantRow>(`SELECT id, name, tag FROM ${schema}.plants`);
      return rows.map(({ id, name: plantName, tag }) => ({ id: BigInt(id), name: plantName, tag }));
    },
    async close() {
      await pool.end();
      await server.remove();
    },
  };
}
