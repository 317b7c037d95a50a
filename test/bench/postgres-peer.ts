/** plantstore on PostgreSQL: the one that PLANTSTORE_TEST_POSTGRES_URL names, or one that is started for the run. */
import pg from "pg";
import { startPostgres } from "../helpers/postgres-server.ts";
import { type Peer, startPlantstore } from "./peers.ts";
import type { StoredPlant } from "./stored-plants.ts";

const schema = "plantstore_bench";

/** A peer that has to be closed. */
export interface PostgresPeer extends Peer {
  close(): Promise<void>;
}

/** As pg reads it: int8 is text to it. */
type PlantRow = Omit<StoredPlant, "id"> & { readonly id: string };

/** Has a PostgreSQL, and in it a schema of its own that each start of the peer empties. */
export async function openPostgresPeer(): Promise<PostgresPeer> {
  const given = process.env["PLANTSTORE_TEST_POSTGRES_URL"] || undefined;
  const server = given === undefined ? await startPostgres() : undefined;
  const url = new URL(given ?? server?.url ?? "");
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
      return rows.map(({ id, name, tag }) => ({ id: BigInt(id), name, tag }));
    },
    async close() {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
      await server?.remove();
    },
  };
}
