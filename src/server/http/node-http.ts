/** Loads node:http. Node 22 and later: an import of it would load fetch, HTTP/2 and web streams, which takes 20 ms. */
import type { Server } from "node:http";
import type { ServerOptions } from "node:https";

export const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");

/** Creates a server of node:https, which has all members of node:http's, although the types are not related. */
export function createTlsServer(options: ServerOptions): Server {
  // Only here, because loading it takes another 10 ms.
  const server: unknown = process.getBuiltinModule("node:https").createServer(options);
  return server as Server;
}
