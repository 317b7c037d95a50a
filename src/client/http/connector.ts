/** Connections that come about, or end with a signal. */
import { Socket } from "node:net";
import type { buildConnector } from "undici";
import connectBuilder from "undici/lib/core/connect.js";

/**
 * undici leaves a connection that is coming about to itself; this one ends with the signal.
 *
 * @param timeout in milliseconds
 * @param onSocket is given each one, not connected yet
 */
export function connectUntil(
  stop: AbortSignal,
  timeout: number,
  onSocket: (socket: Socket) => void,
): buildConnector.connector {
  // It returns the socket, though its type does not say so.
  const connect: (...args: Parameters<buildConnector.connector>) => unknown = connectBuilder({
    timeout,
  });
  return (options, callback) => {
    const socket = connect(options, callback);
    if (!(socket instanceof Socket)) return;
    onSocket(socket);
    const destroy = (): void => void socket.destroy(new Error("stopped"));
    if (stop.aborted) destroy();
    stop.addEventListener("abort", destroy, { once: true });
    socket.once("close", () => stop.removeEventListener("abort", destroy));
  };
}
