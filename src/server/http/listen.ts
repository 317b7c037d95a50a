/** Listens at an address and a port, at the path of a Unix socket, or on a socket that another process has opened. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fstatSync, linkSync, lstatSync, unlinkSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { type AddressInfo, connect, type ListenOptions, type Server } from "node:net";
import { dirname, join, resolve } from "node:path";
import { maxSocketPathBytes } from "../../core/base-url.ts";

export interface ListenAddress {
  /** Name or address. The server listens at no other address. */
  readonly host: string;
  /** 0 to 65535; 0 selects a free port. */
  readonly port: number;
  /** Path of a Unix socket, instead of host and port. */
  readonly socketPath?: string | undefined;
  /** Descriptor of a TCP or Unix socket that another process has opened, instead of all others. */
  readonly socketFd?: number | undefined;
}

/** Address that a server listens at. */
export interface ListeningAddress {
  /** Scheme, host and port under which the server is reached; `unix:` and a path for a Unix socket. */
  readonly origin: string;
  /** Name or address; undefined for a Unix socket. */
  readonly host: string | undefined;
}

/**
 * Starts listening.
 *
 * @throws the error of node:net (`EADDRINUSE`, `EACCES`, `ENOTFOUND` …); `ENAMETOOLONG` for the path of a socket;
 *   `EINVAL` for a descriptor that is not a socket that can listen
 */
export async function listen(
  server: Server,
  { host, port, socketPath, socketFd }: ListenAddress,
  isEncrypted: boolean,
): Promise<ListeningAddress> {
  const scheme = isEncrypted ? "https" : "http";
  if (socketFd !== undefined) {
    // Read first: connections may wait in the socket, and are accepted in the turn in which it listens.
    const path = await findUnixPath(socketFd);
    await startListening(server, { fd: socketFd });
    const address = server.address();
    if (typeof address !== "object" || address === null) {
      return { origin: `unix:${path}`, host: undefined };
    }
    return { origin: toOrigin(scheme, address.address, address), host: address.address };
  }
  if (socketPath === undefined) {
    await startListening(server, { host, port });
    return { origin: toOrigin(scheme, host, server.address() as AddressInfo), host };
  }
  await listenAtPath(server, socketPath);
  return { origin: `unix:${resolve(socketPath)}`, host: undefined };
}

async function startListening(
  server: Server,
  address: ListenOptions | { readonly fd: number },
): Promise<void> {
  server.listen(address);
  await once(server, "listening");
}

/**
 * Listens at the path of a Unix socket. At its stop, Node deletes the path that it listens at, even if another server has
 * replaced the socket there. Therefore Node listens at a temporary name, and the path is a link to the same socket. The
 * stop deletes the path only if it still leads to this socket.
 */
async function listenAtPath(server: Server, path: string): Promise<void> {
  const ownName = join(dirname(path), `.${randomBytes(3).toString("base64url")}`);
  for (const each of [path, ownName]) {
    // Node 20: truncates the path. Node 22: does too.
    if (Buffer.byteLength(each) > maxSocketPathBytes) throw createListenError("ENAMETOOLONG");
  }
  await startListening(server, { path: ownName });
  try {
    await linkUnlessInUse(ownName, path);
  } catch (error) {
    server.close();
    throw error;
  }
  const { ino, dev } = lstatSync(path, { bigint: true });
  unlinkSync(ownName);
  server.once("close", () => {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats?.ino === ino && stats.dev === dev) unlinkSync(path);
  });
}

/** Links a socket to a path. Returns in the same turn of the event loop, before a client can connect. */
async function linkUnlessInUse(ownName: string, path: string): Promise<void> {
  try {
    linkSync(ownName, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (!(await isLeftOver(path))) throw createListenError("EADDRINUSE");
    unlinkSync(path);
    linkSync(ownName, path);
  }
}

function createListenError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Returns whether a server that was killed has left this socket: connecting to it is refused. */
async function isLeftOver(socketPath: string): Promise<boolean> {
  const stats = await lstat(socketPath).catch(() => undefined);
  if (stats?.isSocket() !== true) return false;
  const socket = connect({ path: socketPath });
  try {
    await once(socket, "connect");
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
  } finally {
    socket.destroy();
  }
}

/** Node does not report the path of a socket that it did not open; Linux lists all paths. @returns "" if unknown */
async function findUnixPath(fd: number): Promise<string> {
  const list = await readFile("/proc/net/unix", "utf8").catch(() => "");
  const line = new RegExp(`^(?:\\S+ +){6}${fstatSync(fd).ino} (.*)$`, "m").exec(list);
  return line?.[1] ?? "";
}

/** Returns the origin of a server. One that listens at all addresses is reached through the loopback address. */
export function toOrigin(
  scheme: string,
  host: string,
  { port }: Pick<AddressInfo, "port">,
): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const name = reachable.includes(":") ? `[${reachable}]` : reachable;
  return new URL(`${scheme}://${name}:${port}`).origin;
}
