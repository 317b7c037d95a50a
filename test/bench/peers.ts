/** The servers that are compared. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeCertificate } from "../helpers/certificate.ts";
import { buildGoProgram, isCommand, toProgramPath } from "./programs.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { readSqlitePlants, type StoredPlant } from "./stored-plants.ts";

/** The token of every peer. */
export const token = "bench-token";

/** A server to compare. */
export interface Peer {
  readonly name: string;
  /** `false` if its requests are handled on any of its threads. */
  readonly hasMainThread?: false;
  /** Starts the server, with its store in an empty directory. */
  start(directory: string): Promise<ServerProcess>;
  /** Reads the store after the server has stopped. Missing for a store that ends with its process. */
  readPlants?(directory: string): Promise<Iterable<StoredPlant>>;
  /** Removes what the peer shares between its starts. */
  close?(): Promise<void>;
}

/** Thrown for a peer that this machine cannot run; the message is the reason. */
export class UnavailablePeerError extends Error {
  override readonly name = "UnavailablePeerError";
}

/** The command of this checkout. */
export const plantstore = fileURLToPath(new URL("../../bin/plantstore.js", import.meta.url));

const pathIn = (directory: string): string => join(directory, "plants.db");
const storeIn = (directory: string): string => `sqlite:${pathIn(directory)}`;
const readPlantsIn = (directory: string): Promise<StoredPlant[]> =>
  readSqlitePlants(pathIn(directory));

/** node:http alone: reads the body, responds with a constant, stores nothing. */
export const bare: Peer = {
  name: "bare",
  start: (directory) =>
    startServerProcess({ args: ["--import=tsx", toProgramPath("bare.ts")], directory }),
};

/** plantstore with its defaults: durable, on SQLite. */
export const sqlite: Peer = {
  name: "plantstore",
  start: (directory) => startPlantstore(directory, storeIn(directory)),
  readPlants: readPlantsIn,
};

/** plantstore on SQLite, over HTTPS. */
export const tls: Peer = {
  name: "plantstore TLS",
  async start(directory) {
    const { flags } = await writeCertificate(directory);
    return startPlantstore(directory, storeIn(directory), { flags });
  },
  readPlants: readPlantsIn,
};

/** plantstore without a disk. */
export const memory: Peer = {
  name: "plantstore memory:",
  start: (directory) => startPlantstore(directory, "memory:"),
};

/**
 * Returns the plantstore of another directory, on SQLite.
 *
 * @param directory a built package, with `bin/plantstore.js`
 */
export function toOtherPlantstore(directory: string): Peer {
  const program = join(directory, "bin/plantstore.js");
  return {
    name: `plantstore in ${directory}`,
    start: (ownDirectory) => startPlantstore(ownDirectory, storeIn(ownDirectory), { program }),
    readPlants: readPlantsIn,
  };
}

/**
 * Opens the Bun program, with one commit for each turn of the event loop.
 *
 * @throws UnavailablePeerError without `bun` on the PATH
 */
export async function openBunPeer(): Promise<Peer> {
  if (!(await isCommand("bun", ["--version"]))) {
    throw new UnavailablePeerError("bun is not on the PATH");
  }
  return {
    name: "bun",
    start: (directory) =>
      startServerProcess({
        command: "bun",
        args: [toProgramPath("bun.ts"), pathIn(directory), token],
        directory,
      }),
    readPlants: readPlantsIn,
  };
}

/**
 * Opens the Go program, with one goroutine that commits.
 *
 * @throws UnavailablePeerError without `go` on the PATH, or when the program cannot be built
 */
export async function openGoPeer(): Promise<Peer> {
  if (!(await isCommand("go", ["version"]))) {
    throw new UnavailablePeerError("go is not on the PATH");
  }
  const program = await buildGoProgram().catch((error: unknown) => {
    const { stderr } = error as { readonly stderr?: string };
    const reason = String(stderr || error)
      .trim()
      .replaceAll(/\s+/g, " ");
    throw new UnavailablePeerError(
      `go build failed: ${reason}. On Debian, install golang-github-mattn-go-sqlite3-dev`,
    );
  });
  return {
    name: "go",
    hasMainThread: false,
    start: (directory) =>
      startServerProcess({ command: program.path, args: [pathIn(directory), token], directory }),
    readPlants: readPlantsIn,
    close: program.remove,
  };
}

/**
 * Starts plantstore.
 *
 * @param store URL of the store
 * @param options further flags of `serve`, another `bin/plantstore.js`, and another Node
 */
export function startPlantstore(
  directory: string,
  store: string,
  {
    flags = [],
    program = plantstore,
    node = process.execPath,
  }: {
    readonly flags?: readonly string[];
    readonly program?: string;
    readonly node?: string;
  } = {},
): Promise<ServerProcess> {
  return startServerProcess({
    command: node,
    args: [program, "serve", "--port=0", ...flags],
    env: { PLANTSTORE_STORE: store, PLANTSTORE_TOKEN: token },
    directory,
  });
}
