/** A TCP server whose connections a test handles itself. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Starts the server, until the test ends. @returns its URL */
export async function startRawServer(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const raw = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    onConnection(socket);
  });
  raw.listen(0, "127.0.0.1");
  await once(raw, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    raw.close();
  });
  return `http://127.0.0.1:${(raw.address() as AddressInfo).port}`;
}
