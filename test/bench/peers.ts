/** The servers that are compared. */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { readSqlitePlants, type StoredPlant } from "./stored-plants.ts";

/** The token of every peer. */
export const token = "bench-token";

/** A server to compare. */
export interface Peer {
  readonly name: string;
  /**
   * Starts it.
   *
   * @param directory for its store; empty
   * @param template a store of the peer to start with a copy of; else it begins with an empty one
   */
  start(directory: string, template?: string): Promise<ServerProcess>;
  /** What its store holds once it is stopped; undefined where that is gone with the process. */
  readPlants?(directory: string): Promise<Iterable<StoredPlant>>;
}

const program = (name: string): string[] => [
  "--import=tsx",
  fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url)),
];
const plantstore = fileURLToPath(new URL("../../bin/plantstore.js", import.meta.url));

const pathIn = (directory: string): string => join(directory, "plants.db");

/** node:http alone: reads the body, answers a constant, stores nothing. */
export const bare: Peer = {
  name: "bare",
  start: (directory) => startServerProcess(program("bare"), {}, directory),
};

/** Fastify on SQLite, with one durable commit for each request. */
export const fastify: Peer = {
  name: "fastify",
  start: (directory) =>
    startServerProcess([...program("fastify"), pathIn(directory), token], {}, directory),
  readPlants: async (directory) => readSqlitePlants(pathIn(directory)),
};

/** plantstore as it comes: durable, on SQLite. */
export const sqlite: Peer = {
  name: "plantstore",
  async start(directory, template) {
    if (template !== undefined) await copyFile(template, pathIn(directory));
    return startPlantstore(directory, `sqlite:${pathIn(directory)}`);
  },
  readPlants: async (directory) => readSqlitePlants(pathIn(directory)),
};

/** plantstore without a disk. */
export const memory: Peer = {
  name: "plantstore memory:",
  start: (directory) => startPlantstore(directory, "memory:"),
};

/** plantstore on a store of any kind. */
export function startPlantstore(directory: string, store: string): Promise<ServerProcess> {
  return startServerProcess(
    [plantstore, "serve", "--port=0"],
    { PLANTSTORE_STORE: store, PLANTSTORE_TOKEN: token },
    directory,
  );
}
