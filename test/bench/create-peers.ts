/** The peers of the part `creates`, opened for one run. */
import {
  bare,
  fastify,
  memory,
  openBunPeer,
  openGoPeer,
  openPeerWithoutFastLane,
  type Peer,
  sqlite,
  tls,
  toOtherPlantstore,
  UnavailablePeerError,
} from "./peers.ts";
import { openPostgresPeer } from "./postgres-peer.ts";

/** A peer that is opened only if it is selected. */
export interface PeerSource {
  readonly name: string;
  open(): Promise<Peer>;
}

/** Peers that have to be closed. */
export interface CreatePeers {
  /** Starts with `bare`, the reference of every ratio. */
  readonly peers: readonly [Peer, ...Peer[]];
  /** One line for each selected peer that this machine cannot run. */
  readonly skipped: readonly string[];
  close(): Promise<void>;
}

/**
 * Opens the selected peers, and `bare` in any case.
 *
 * @param sources from {@link selectCreatePeers}
 */
export async function openCreatePeers(sources: readonly PeerSource[]): Promise<CreatePeers> {
  const peers: [Peer, ...Peer[]] = [bare];
  const skipped: string[] = [];
  const close = async (): Promise<void> => {
    for (const peer of peers) await peer.close?.();
  };
  try {
    for (const source of sources) {
      if (source.name === bare.name) continue;
      try {
        peers.push(await source.open());
      } catch (error) {
        if (!(error instanceof UnavailablePeerError)) throw error;
        skipped.push(`Skipped ${source.name}: ${error.message}.`);
      }
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { peers, skipped, close };
}

/**
 * Selects peers in the order in which they are measured.
 *
 * @param against directory of another built plantstore
 * @param names names of peers or their beginnings; all peers by default
 * @throws RangeError for a name that selects no peer
 */
export function selectCreatePeers(
  against: string | undefined,
  names: readonly string[] | undefined,
): PeerSource[] {
  const sources = listSources(against);
  return names === undefined ? sources : selectByName(sources, names);
}

/**
 * Selects by names. A name selects what has exactly this name, otherwise everything that begins with it.
 *
 * @returns the selected items in their original order
 * @throws RangeError for a name that selects nothing
 */
function selectByName<T extends { readonly name: string }>(
  items: readonly T[],
  names: readonly string[],
): T[] {
  const selected = new Set<T>();
  for (const name of names) {
    const exact = items.filter((item) => item.name === name);
    const found = exact.length > 0 ? exact : items.filter((item) => item.name.startsWith(name));
    if (found.length === 0) {
      const known = items.map((item) => item.name).join(", ");
      throw new RangeError(`unknown peer "${name}"; use one of: ${known}`);
    }
    for (const item of found) selected.add(item);
  }
  return items.filter((item) => selected.has(item));
}

function listSources(against: string | undefined): PeerSource[] {
  const toSource = (peer: Peer): PeerSource => ({ name: peer.name, open: async () => peer });
  return [
    ...[bare, fastify, sqlite].map(toSource),
    ...(against === undefined ? [] : [toSource(toOtherPlantstore(against))]),
    { name: "plantstore without the fast lane", open: openPeerWithoutFastLane },
    ...[tls, memory].map(toSource),
    { name: "plantstore postgres:", open: openPostgresPeer },
    { name: "bun", open: openBunPeer },
    { name: "go", open: openGoPeer },
  ];
}
