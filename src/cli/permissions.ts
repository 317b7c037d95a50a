/** Finds files and directories that other users of the machine can read or change. */
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { attempt } from "../core/attempt.ts";
import { toShellWord } from "../core/messages.ts";
import { parseStoreUrl } from "../store/store-url.ts";
import { type HintedMessage, adviseCommand } from "./command-error.ts";
import type { Io } from "./io.ts";
import { findConfigDirectoryIfAny, findDataDirectory } from "./config/saved-settings.ts";
import { toTokenFile } from "./config/saved-tokens.ts";

/**
 * Access to a file for other users than its owner:
 *
 * - `private`: none, for a directory of plantstore, a store or saved tokens
 * - `key`: none, but a group may read a key that belongs to root
 * - `shared`: others may read a directory that the operator chose, but not change it
 */
type Privacy = "private" | "key" | "shared";

interface GuardedPath {
  readonly path: string;
  readonly privacy: Privacy;
}

const rootId = 0;
/** Set on directories such as /tmp, which are meant for all users. */
const stickyBit = 0o1000;

/** Describes the first problem with the mode or the owner of a path, in a sentence that begins with it. */
export async function findExposure(
  { path, privacy }: GuardedPath,
  { platform, userId }: Pick<Io, "platform" | "userId">,
): Promise<HintedMessage | undefined> {
  const stats = platform === "win32" ? undefined : await stat(path).catch(() => undefined);
  if (stats === undefined) return undefined;
  const { mode, uid } = stats;
  if (uid !== rootId && uid !== userId) {
    const problem = `${path} belongs to another user (ID ${uid}), who can change it`;
    const advice = "Choose another path, or take this one over as root";
    return [problem, ...adviseCommand(advice, `chown ${userId} ${toShellWord(path)}`)];
  }
  const isReadable = (mode & getReadBits(privacy, uid)) !== 0;
  const isWritable = (mode & 0o022) !== 0;
  if (!isReadable && !isWritable) return undefined;
  const verbs = [isReadable ? "read" : [], isWritable ? "changed" : []].flat().join(" and ");
  const isForeign = uid === rootId && userId !== rootId;
  if (stats.isDirectory() && (isForeign || (mode & stickyBit) !== 0)) {
    return [`${path} can be ${verbs} by other users: choose a directory of your own`];
  }
  const change = privacy === "shared" ? "go-w" : stats.isDirectory() ? "700" : "600";
  const shownMode = (mode & 0o7777).toString(8);
  const problem = `${path} can be ${verbs} by other users (mode ${shownMode})`;
  return [problem, ...adviseCommand("Prevent that", `chmod ${change} ${toShellWord(path)}`)];
}

function getReadBits(privacy: Privacy, uid: number): number {
  if (privacy === "shared") return 0;
  return privacy === "key" && uid === rootId ? 0o007 : 0o055;
}

/** Lists the files of a store, with symbolic links resolved, and their directory. */
export async function listStorePaths(storeUrl: string, io: Io): Promise<readonly GuardedPath[]> {
  const files = await parseStoreUrl(storeUrl).listFiles();
  const directories = [...new Set(files.map((path) => dirname(path)))];
  const dataDirectory = attempt(() => resolve(findDataDirectory(io)));
  return [
    ...files.map((path) => ({ path, privacy: "private" as const })),
    ...directories.map((path): GuardedPath => {
      return { path, privacy: path === dataDirectory ? "private" : "shared" };
    }),
  ];
}

/** As {@link findExposure}, for everything that `serve` keeps or reads on this machine. */
export async function findServeExposures(
  storeUrl: string,
  tokenOrigin: string | undefined,
  keyFile: string | undefined,
  io: Io,
): Promise<readonly HintedMessage[]> {
  const configDirectory = findConfigDirectoryIfAny(io);
  const paths: GuardedPath[] = [...(await listStorePaths(storeUrl, io))];
  if (configDirectory !== undefined) {
    paths.push({ path: configDirectory, privacy: "private" });
    if (tokenOrigin !== undefined) {
      paths.push({ path: toTokenFile(configDirectory, tokenOrigin), privacy: "private" });
    }
  }
  if (keyFile !== undefined) paths.push({ path: keyFile, privacy: "key" });
  const exposures = await Promise.all(paths.map((path) => findExposure(path, io)));
  return exposures.filter((exposure) => exposure !== undefined);
}
