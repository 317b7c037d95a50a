/** How the server ends a connection so that its client can read the last response. */
import type { Socket } from "node:net";

/** Time for which a client may send nothing before an ended connection is closed. */
const lingerMs = 1000;
/** Maximum time for which an ended connection discards what the client sends. */
const maxLingerMs = 5000;

/**
 * Ends a connection after its last response. Closing it with unread bytes would reset it, and the client might lose the
 * response (RFC 9112 section 9.6), so the server first discards what the client still sends. May be called twice.
 */
export function endGently(socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return;
  socket.end();
  socket.resume();
  const close = (): void => void socket.destroy();
  const idleTimer = setTimeout(close, lingerMs);
  const timer = setTimeout(close, maxLingerMs);
  socket.on("data", () => idleTimer.refresh());
  socket.once("close", () => {
    clearTimeout(idleTimer);
    clearTimeout(timer);
  });
}
