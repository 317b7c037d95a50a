/** Ends a server's connections, the idle ones at once and the others after their answers. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Follows the connections of a server from now on.
 *
 * @returns a function that stops listening and resolves when the last connection has ended; those that are left after
 * `timeoutMs` are cut off
 */
export function createConnectionCloser(server: Server): (timeoutMs: number) => Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  return async (timeoutMs) => {
    const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Node takes only those for idle that have had a request before.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    await closed;
    clearTimeout(timer);
  };
}
