/** The peers of the part `creates`, opened for one run. */
import {
  bare,
  memory,
  openBunPeer,
  openGoPeer,
  type Peer,
  sqlite,
  tls,
  toOtherPlantstore,
  UnavailablePeerError,
} from "./peers.ts";
import { openPostgresPeer } from "./postgres-peer.ts";

/** A peer that is opened only if it is selected. */
interface PeerSource {
  readonly name: string;
  open(): Promise<Peer>;
}

/**
 * Opens the selected peers, and `bare` in any case: it comes first, and is the reference of every ratio.
 *
 * @param sources from {@link selectCreatePeers}
 * @returns the peers, which have to be closed, and a line for each selected one that this machine cannot run
 */
export async function openCreatePeers(sources: readonly PeerSource[]) {
  const peers: [Peer, ...Peer[]] = [bare];
  const skipped: string[] = [];
  const close = async (): Promise<void> => {
    for (const peer of peers) await peer.close?.();
  };
  for (const source of sources) {
    if (source.name === bare.name) continue;
    try {
      peers.push(await source.open());
    } catch (error) {
      if (!(error instanceof UnavailablePeerError)) {
        await close();
        throw error;
      }
      skipped.push(`Skipped ${source.name}: ${error.message}.`);
    }
  }
  return { peers, skipped, close };
}

/**
 * Selects peers in the order in which they are measured.
 *
 * @param against directory of another built plantstore
 * @param names each selects the peer of exactly this name, otherwise all whose names begin with it; all peers by default
 * @throws RangeError for a name that selects no peer
 */
export function selectCreatePeers(
  against: string | undefined,
  names: readonly string[] | undefined,
): PeerSource[] {
  const toSource = (peer: Peer): PeerSource => ({ name: peer.name, open: async () => peer });
  const sources = [
    ...[bare, sqlite].map(toSource),
    ...(against === undefined ? [] : [toSource(toOtherPlantstore(against))]),
    ...[tls, memory].map(toSource),
    { name: "plantstore postgres:", open: openPostgresPeer },
    { name: "bun", open: openBunPeer },
    { name: "go", open: openGoPeer },
  ];
  const selected = names?.flatMap((name) => {
    const exact = sources.filter((source) => source.name === name);
    const found = exact.length > 0 ? exact : sources.filter((each) => each.name.startsWith(name));
    if (found.length > 0) return found;
    const known = sources.map((source) => source.name).join(", ");
    throw new RangeError(`unknown peer "${name}"; use one of: ${known}`);
  });
  return sources.filter((source) => selected?.includes(source) ?? true);
}
