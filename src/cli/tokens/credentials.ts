/** The tokens that were saved, each for one origin, in a file of its own: who saves for one can't spoil another. */
// Not node:fs/promises, which takes 3 ms to load: this is loaded where it is used.
import { promises, readFileSync, statSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import * as z from "zod/mini";
import { CommandError } from "../command-error.ts";
import {
  extension,
  isMissing,
  parseJsonOrNothing,
  toConfigFile,
  writeConfigFile,
} from "../settings/config-file.ts";
import { toSystemReason } from "../system-error.ts";

/** A token, and the origin (RFC 6454) that it is for. No other origin is ever sent it. */
interface SavedToken {
  readonly origin: string;
  readonly token: string;
}

const savedTokenSchema = z.object({
  origin: z.string(),
  token: z.string(),
}) satisfies z.ZodMiniType<SavedToken>;

/** The bits of a file's mode that let anybody but its owner in. */
const othersBits = 0o077;
const everybodysBits = 0o007;

/** The file that keeps the token for an origin. */
export function toCredentialFile(configDirectory: string, origin: string): string {
  return toConfigFile(toFolder(configDirectory), encodeURIComponent(origin));
}

/**
 * The token that was saved for exactly this origin, if any.
 *
 * @throws CommandError when its file can't be read, is broken, or is open to others
 */
export function readSavedToken(configDirectory: string, origin: string): string | undefined {
  const saved = readCredentialFile(toCredentialFile(configDirectory, origin));
  return saved?.origin === origin ? saved.token : undefined;
}

/**
 * The origins for which a token was saved. Their files are not opened.
 *
 * @throws CommandError when the directory can't be read
 */
export async function listSavedOrigins(configDirectory: string): Promise<readonly string[]> {
  const folder = toFolder(configDirectory);
  const names = await promises.readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw unreadable(folder, error);
  });
  return names
    .filter((name) => name.endsWith(extension))
    .map((name) => decodeName(name.slice(0, -extension.length)))
    .filter((origin) => origin !== undefined)
    .toSorted();
}

/**
 * Saves the token for an origin, in place of an earlier one.
 *
 * @throws CommandError when that is not possible, or the earlier file is broken or open to others
 */
export async function saveToken(
  configDirectory: string,
  origin: string,
  token: string,
): Promise<void> {
  readSavedToken(configDirectory, origin);
  const folder = toFolder(configDirectory);
  try {
    await writeConfigFile(folder, encodeURIComponent(origin), { origin, token });
  } catch (error) {
    throw new CommandError(
      "internal",
      `the token can't be saved in ${folder} (${toSystemReason(error)}): make it a directory that you may write to, or name another in PLANTSTORE_CONFIG_DIR`,
      { cause: error },
    );
  }
}

/**
 * Removes the token for an origin, whatever its file is like.
 *
 * @returns whether there was one
 * @throws CommandError when that is not possible
 */
export async function removeToken(configDirectory: string, origin: string): Promise<boolean> {
  const file = toCredentialFile(configDirectory, origin);
  try {
    await promises.rm(file);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw new CommandError("internal", `${file} can't be removed: ${toSystemReason(error)}`, {
      cause: error,
    });
  }
}

/** Who can read a file beside its owner. */
export type FileReaders = "nobody" | "group" | "everybody";

/**
 * The file of the token for an origin, and who can read it; it is not opened.
 *
 * @returns undefined when there is none; `readers` is undefined where a file's mode does not tell
 */
export async function findCredentialFile(
  configDirectory: string,
  origin: string,
): Promise<{ readonly path: string; readonly readers: FileReaders | undefined } | undefined> {
  const path = toCredentialFile(configDirectory, origin);
  const stats = await promises.stat(path).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (platform() === "win32") return { path, readers: undefined };
  if ((stats.mode & everybodysBits) !== 0) return { path, readers: "everybody" };
  return { path, readers: isOpenToOthers(stats.mode) ? "group" : "nobody" };
}

function readCredentialFile(path: string): SavedToken | undefined {
  let text: string;
  try {
    const { mode } = statSync(path);
    if (isOpenToOthers(mode)) {
      throw new CommandError(
        "usage",
        `others can read the token in ${path}: run "chmod 600 ${path}", and think about a new token`,
      );
    }
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if (isMissing(error)) return undefined;
    throw unreadable(path, error);
  }
  const saved = savedTokenSchema.safeParse(parseJsonOrNothing(text)).data;
  if (saved === undefined) {
    throw new CommandError(
      "usage",
      `${path} is broken: it holds no saved token; mend it or delete it`,
    );
  }
  return saved;
}

/** Windows keeps access out of the mode: whatever a file is like there, its bits say the same. */
function isOpenToOthers(mode: number): boolean {
  return platform() !== "win32" && (mode & othersBits) !== 0;
}

function toFolder(configDirectory: string): string {
  return join(configDirectory, "credentials");
}

function decodeName(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined; // Not a name that we gave.
  }
}

function unreadable(path: string, error: unknown): CommandError {
  return new CommandError("usage", `${path} can't be read: ${toSystemReason(error)}`, {
    cause: error,
  });
}
