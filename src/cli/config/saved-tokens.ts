/** Saved tokens, with the certificates to trust: one file for each origin, so that saving one cannot damage another. */
import { promises, statSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../core/attempt.ts";
import { toShellWord, toSystemReason } from "../../core/messages.ts";
import { adviseCommand, CommandError, toReadError } from "../command-error.ts";
import type { Io } from "../io.ts";
import {
  broken,
  extension,
  isMissingFile,
  readConfigFile,
  writeConfigFile,
} from "./saved-settings.ts";

/** Windows has no file modes. */
type Platform = Pick<Io, "platform">;

/** Where a token comes from, which is named if the token is rejected. */
export interface TokenOrigin {
  /** Such as `PLANTSTORE_TOKEN` or `the file token.txt`. */
  readonly source: string;
  /** True if `login` or `serve` saved it for this origin. */
  readonly isSaved?: true;
}

/** A token, and the only origin (RFC 6454) that it is for. */
export interface SavedToken {
  readonly origin: string;
  readonly token: string;
  /** Certificates of the authorities to trust for this origin, in PEM, which the login has checked. Default: those of Node. */
  readonly ca?: string | undefined;
}

/** The bits of a file's mode for everyone except its owner. */
const groupAndOthersBits = 0o077;

/** The letters in the path of a socket stay as they are: encoded, a long one would be too long for a name. */
export function toTokenFile(configDirectory: string, origin: string): string {
  const name = origin.replaceAll(/[^\p{L}]/gu, encodeURIComponent);
  return join(toTokenFolder(configDirectory), name + extension);
}

export function readCredential(
  configDirectory: string,
  origin: string,
  platform: Platform,
): SavedToken | undefined {
  assertPrivate(toTokenFile(configDirectory, origin), platform);
  return readKnownCredential(configDirectory, origin);
}

/**
 * As {@link readCredential}, also if others can read the file: for `serve`, which does not send the token. A pod cannot
 * change the mode that Kubernetes gives its files.
 */
export function readKnownCredential(
  configDirectory: string,
  origin: string,
): SavedToken | undefined {
  const path = toTokenFile(configDirectory, origin);
  const saved = readConfigFile(path);
  if (saved === undefined) return undefined;
  if (!isSavedToken(saved)) throw broken(path, "saved token");
  return saved.origin === origin ? saved : undefined;
}

/** Lists the origins with a saved token, by the names of the files. */
export async function listSavedOrigins(configDirectory: string): Promise<readonly string[]> {
  const folder = toTokenFolder(configDirectory);
  const names = await promises.readdir(folder).catch((error: unknown) => {
    if (isMissingFile(error)) return [];
    throw toReadError(folder, error);
  });
  return (
    names
      .filter((name) => name.endsWith(extension))
      // Undefined for a file that was not created by plantstore.
      .map((name) => attempt(() => decodeURIComponent(name.slice(0, -extension.length))))
      .filter((origin) => origin !== undefined)
      .toSorted()
  );
}

export async function saveToken(
  configDirectory: string,
  credential: SavedToken,
  platform: Platform,
): Promise<void> {
  const { origin } = credential;
  readCredential(configDirectory, origin, platform);
  await writeConfigFile(toTokenFile(configDirectory, origin), "the token", credential);
}

/** Removes the token for an origin, even if its file is broken. @returns whether the file existed */
export async function removeToken(configDirectory: string, origin: string): Promise<boolean> {
  const file = toTokenFile(configDirectory, origin);
  try {
    await promises.rm(file);
    return true;
  } catch (error) {
    if (isMissingFile(error)) return false;
    throw new CommandError("usage", `${file} cannot be removed: ${toSystemReason(error)}`, {
      cause: error,
    });
  }
}

function assertPrivate(path: string, { platform }: Platform): void {
  if (platform === "win32") return;
  // Reading reports a file whose mode cannot be read.
  const mode = attempt(() => statSync(path).mode) ?? 0;
  if ((mode & groupAndOthersBits) === 0) return;
  throw new CommandError("usage", `others can read the token in ${path}: consider a new one`, {
    hints: adviseCommand("Prevent that", `chmod 600 ${toShellWord(path)}`),
  });
}

function isSavedToken(value: unknown): value is SavedToken {
  if (typeof value !== "object" || value === null) return false;
  const { origin, token, ca = "" }: Partial<Record<keyof SavedToken, unknown>> = value;
  return typeof origin === "string" && typeof token === "string" && typeof ca === "string";
}

function toTokenFolder(configDirectory: string): string {
  return join(configDirectory, "credentials");
}
