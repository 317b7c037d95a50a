/** The peer on PostgreSQL, with a server that is started for the run. */
import pg from "pg";
import { startPostgres } from "../helpers/postgres-server.ts";
import { type Peer, startPlantstore } from "./peers.ts";
import type { StoredPlant } from "./stored-plants.ts";

const schema = "plantstore_bench";

/** A row as pg reads it: an int8 becomes text. */
type PlantRow = Omit<StoredPlant, "id"> & { readonly id: string };

/** Opens plantstore on PostgreSQL, with a schema that each start empties. */
export async function openPostgresPeer(): Promise<Peer> {
  const server = await startPostgres();
  const url = new URL(server.url);
  const pool = new pg.Pool({ connectionString: url.href });
  const storeUrl = new URL(url);
  storeUrl.searchParams.set("options", `-c search_path=${schema}`);

  return {
    name: "plantstore postgres:",
    async start(directory) {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}`);
      return startPlantstore(directory, storeUrl.href.replaceAll("+", "%20"));
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
