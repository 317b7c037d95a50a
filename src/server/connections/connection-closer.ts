/** Ends a server's connections, the idle ones at once and the others after their answers. */
import type { Server } from "node:http";
import { Server as TcpServer } from "node:net";
import type { Connections } from "./connections.ts";

/** How often a server that stops looks for connections that have become idle. */
const sweepMs = 50;

/**
 * Stops listening and resolves when the last connection has ended; those that are left after `timeoutMs` are cut off.
 */
export async function closeConnections(
  server: Server,
  connections: Connections,
  timeoutMs: number,
): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
  // Not the method of node:http: that cuts off clients who are still reading an answer.
  const closed = new Promise<void>((resolve) => {
    TcpServer.prototype.close.call(server, () => resolve());
  });
  const sweep = (): void => {
    connections.release();
    const sockets = [...connections.sockets];
    if (sockets.every((socket) => socket.writableLength === 0)) server.closeIdleConnections();
    // Node takes only those for idle that have had a request before.
    connections.endUnused();
  };
  sweep();
  const sweeping = setInterval(sweep, sweepMs);
  await closed;
  clearInterval(sweeping);
  clearTimeout(timer);
}
