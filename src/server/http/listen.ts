/** Where a server listens: at an address and a port, or at a path for this machine alone. */
import { lstat, unlink } from "node:fs/promises";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";

/** Where a server is to listen. */
export interface ListenAddress {
  /** A name or an address; it never listens wider than this. */
  readonly host: string;
  /** 0 … 65535; 0 takes a free one. */
  readonly port: number;
  /** A Unix socket, in place of both. */
  readonly socketPath?: string | undefined;
}

/** What every system takes: macOS has room for so many, Linux for four more. */
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
  // Node 20 and 22 would listen at what is left of it.
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

/** A server that was killed leaves its socket behind, and nobody listens there; nor does anybody in a file. */
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

/** A server that listens on every address is reached through the loopback one. */
function toOrigin(scheme: string, host: string, { port }: AddressInfo): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const name = reachable.includes(":") ? `[${reachable}]` : reachable;
  return new URL(`${scheme}://${name}:${port}`).origin;
}
