/** Small JSON files in the configuration directory, which nobody but their owner can read. */
// Not node:fs/promises, which takes 3 ms to load: this is loaded where it is used.
import { constants, existsSync, promises } from "node:fs";
import { dirname, join } from "node:path";

const ownerOnlyFile = 0o600;
const ownerOnlyDirectory = 0o700;

/** The ending of their names. */
export const extension = ".json";

/** The path of a file in a folder. */
export function toConfigFile(folder: string, name: string): string {
  return join(folder, name + extension);
}

/** Loads what writing takes, which is most of its time. */
export async function prepareConfigFiles(): Promise<void> {
  await import("conf");
}

/**
 * Writes a file as a whole, in place of an earlier one: whoever reads it meanwhile has the one or the other.
 *
 * @param name without the ending
 * @throws the system's error when that is not possible, or a SyntaxError when the earlier file is no JSON
 */
export async function writeConfigFile(
  folder: string,
  name: string,
  content: Readonly<Record<string, string>>,
): Promise<void> {
  // conf would make the directory open to others, and try again and again for a second where it may not write.
  await createFolder(folder);
  await promises.access(folder, constants.W_OK);
  const { default: Conf } = await import("conf");
  const file = new Conf<typeof content>({
    cwd: folder,
    configName: name,
    configFileMode: ownerOnlyFile,
    accessPropertiesByDotNotation: false,
    clearInvalidConfig: false,
  });
  file.store = content;
}

/** One by one: Node 20 never comes back from a recursive mkdir where nobody may create anything, as in /proc. */
async function createFolder(path: string): Promise<void> {
  if (existsSync(path)) return;
  await createFolder(dirname(path));
  await promises.mkdir(path, { mode: ownerOnlyDirectory }).catch((error: unknown) => {
    if (!existsSync(path)) throw error;
  });
}

/** Whether an error says that a file is not there. Below a file there is none either. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ENOENT" || error.code === "ENOTDIR";
}

/** The value of a JSON text; undefined when it is none. */
export function parseJsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
