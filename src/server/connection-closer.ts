/** Ends a server's connections, the idle ones at once and the others after their answers. */
import type { Server } from "node:http";
import { Server as TcpServer, type Socket } from "node:net";

/** How often a server that stops looks for connections that have become idle. */
const sweepMs = 50;

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
    // Not the method of node:http: that cuts off clients who are still reading an answer.
    const closed = new Promise<void>((resolve) => {
      TcpServer.prototype.close.call(server, () => resolve());
    });
    const sweep = (): void => {
      const isRead = [...sockets].every((socket) => socket.writableLength === 0);
      if (isRead) server.closeIdleConnections();
      // Node takes only those for idle that have had a request before.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    sweep();
    const sweeping = setInterval(sweep, sweepMs);
    await closed;
    clearInterval(sweeping);
    clearTimeout(timer);
  };
}
