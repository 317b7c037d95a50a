/** Hostile clients. A behaviour is what one client does; a crowd is many clients with the same behaviour. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

/** Uses an open connection. May return a timer, which is cleared with the crowd. */
export type Behaviour = (socket: Socket) => NodeJS.Timeout | undefined;

/** Opens many clients with one behaviour. Resolves once each connection is accepted or rejected. */
export async function openCrowd(port: number, count: number, behave: Behaviour) {
  const sockets: Socket[] = [];
  const timers = new Set<NodeJS.Timeout>();
  async function join(): Promise<void> {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    sockets.push(socket);
    await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => undefined);
    const timer = behave(socket);
    if (timer !== undefined) timers.add(timer);
  }
  // The queue of a listening socket is short.
  for (let rest = count; rest > 0; rest -= 100) {
    await Promise.all(Array.from({ length: Math.min(rest, 100) }, join));
  }
  return {
    /** Closes all connections. */
    disperse() {
      for (const timer of timers) clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

const megabyte = 1024 * 1024;
const bomb = gzipSync(Buffer.alloc(megabyte));

/** Returns the behaviours by their descriptions. */
export function createBehaviours(token: string): Readonly<Record<string, Behaviour>> {
  const line = "POST /plants HTTP/1.1\r\nHost: a\r\n";
  const head = `${line}Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  const trickle = (socket: Socket, start: string, piece: string): NodeJS.Timeout => {
    socket.resume().write(start);
    return setInterval(() => socket.write(piece), 50);
  };
  const send = (socket: Socket, ...pieces: readonly (string | Uint8Array)[]): undefined => {
    socket.resume();
    for (const piece of pieces) socket.write(piece);
  };
  return {
    "send nothing": (socket) => send(socket),
    "send their headers a byte at a time": (socket) => trickle(socket, line, "X"),
    "send their body a byte at a time": (socket) =>
      trickle(socket, `${head}Content-Length: ${megabyte}\r\n\r\n`, " "),
    "continue a body after its rejection": (socket) =>
      trickle(socket, `${line}Content-Length: 100000\r\n\r\n`, " "),
    "stop before the end of a megabyte": (socket) =>
      send(socket, `${head}Content-Length: ${megabyte}\r\n\r\n`, " ".repeat(megabyte - 1)),
    "never read their responses": (socket) => {
      socket.pause().write("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n".repeat(5000));
      return undefined;
    },
    "send requests without end": (socket) => {
      const pump = (): void => {
        while (!socket.destroyed && socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2000)));
      };
      socket.resume().on("drain", pump);
      pump();
      return undefined;
    },
    "nest a million levels": (socket) =>
      send(socket, `${head}Content-Length: ${megabyte}\r\n\r\n`, "[".repeat(megabyte)),
    "announce 10 GB and send a part": (socket) =>
      trickle(socket, `${head}Content-Length: 10000000000\r\n\r\n`, " ".repeat(100_000)),
    "send chunks without end": (socket) =>
      trickle(
        socket,
        `${head}Transfer-Encoding: chunked\r\n\r\n`,
        `10000\r\n${" ".repeat(0x10000)}\r\n`,
      ),
    "send a compression bomb": (socket) =>
      send(socket, `${head}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`, bomb),
    "send noise": (socket) => send(socket, Buffer.alloc(100_000, "\u0001\r\nnoise")),
    "reset their connections": (socket) => {
      socket.write(`${head}Content-Length: 1000\r\n\r\n{"id":1,`, () => socket.resetAndDestroy());
      return undefined;
    },
  };
}
