/** Listens at an address and a port, or at the path of a Unix socket. */
import { lstat, unlink } from "node:fs/promises";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";

/** Address to listen at. */
export interface ListenAddress {
  /** Name or address. The server listens at no other address. */
  readonly host: string;
  /** 0 to 65535; 0 selects a free port. */
  readonly port: number;
  /** Path of a Unix socket, instead of host and port. */
  readonly socketPath?: string | undefined;
}

/** Maximum length of the path of a Unix socket on every supported system: 103 bytes on macOS, 107 on Linux. */
export const maxSocketPathBytes = 103;

/**
 * Starts listening.
 *
 * @returns the origin under which the server is reached; of a Unix socket `unix:` and its path
 * @throws the error of node:net (`EADDRINUSE`, `EACCES`, `ENOTFOUND` …); `ENAMETOOLONG` for the path of a socket
 */
export async function listen(
  server: Server,
  { host, port, socketPath }: ListenAddress,
  isEncrypted: boolean,
): Promise<string> {
  if (socketPath === undefined) {
    await startListening(server, { host, port });
    return toOrigin(isEncrypted ? "https" : "http", host, server.address() as AddressInfo);
  }
  // Node 20: truncates the path. Node 22: does too.
  if (Buffer.byteLength(socketPath) > maxSocketPathBytes) {
    throw Object.assign(new Error("the path is too long"), { code: "ENAMETOOLONG" });
  }
  await startListening(server, { path: socketPath }).catch(async (error: unknown) => {
    if (!(await isLeftOver(socketPath))) throw error;
    await unlink(socketPath);
    await startListening(server, { path: socketPath });
  });
  return `unix:${socketPath}`;
}

function startListening(
  server: Server,
  place: { readonly host: string; readonly port: number } | { readonly path: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(place, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Returns whether a server that was killed has left this socket: connecting to it is refused. */
async function isLeftOver(socketPath: string): Promise<boolean> {
  const stats = await lstat(socketPath).catch(() => undefined);
  if (stats?.isSocket() !== true) return false;
  return new Promise((resolve) => {
    const socket = connect({ path: socketPath });
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
  });
}

/** A server that listens at all addresses is reached through the loopback address. */
function toOrigin(scheme: string, host: string, { port }: AddressInfo): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const name = reachable.includes(":") ? `[${reachable}]` : reachable;
  return new URL(`${scheme}://${name}:${port}`).origin;
}
