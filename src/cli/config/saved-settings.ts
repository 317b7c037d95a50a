/** Settings that `login` and the first `serve` save, and their JSON files. */
import { constants, promises } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isError, toSystemReason } from "../../core/messages.ts";
import { CommandError, toReadError } from "../command-error.ts";
import { loadWithoutSignals } from "../io.ts";
import { readRegularFile } from "../../store/regular-file.ts";

/** URLs of plant stores, with their base paths, by the command that saved them; one that is not saved is absent. */
export interface SavedSettings {
  /** Of the last login. */
  readonly login?: string;
  /** Of the first server on this machine. */
  readonly serve?: string;
}

export function toSettingsFile(configDirectory: string): string {
  return join(configDirectory, `settings${extension}`);
}

export function readSavedSettings(configDirectory: string): SavedSettings {
  const path = toSettingsFile(configDirectory);
  const saved = readConfigFile(path);
  if (saved === undefined) return {};
  if (isSavedSettings(saved)) return saved;
  throw broken(path, "saved settings");
}

/** Changes saved settings; undefined removes one. */
export async function saveSettings(
  configDirectory: string,
  changes: { readonly [Name in keyof SavedSettings]: string | undefined },
): Promise<void> {
  const { login, serve } = { ...readSavedSettings(configDirectory), ...changes };
  await writeConfigFile(toSettingsFile(configDirectory), "the settings", {
    ...(login !== undefined && { login }),
    ...(serve !== undefined && { serve }),
  });
}

/** Without zod: every command that sends requests reads these settings. */
function isSavedSettings(value: unknown): value is SavedSettings {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { login = "", serve = "" }: { login?: unknown; serve?: unknown } = value;
  return typeof login === "string" && typeof serve === "string";
}

const ownerOnlyFile = 0o600;

export const extension = ".json";

/** @returns undefined for a missing file; null for invalid JSON */
export function readConfigFile(path: string): unknown {
  let text: string;
  try {
    text = readRegularFile(path);
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw toReadError(path, error);
  }
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Replaces a file atomically. @param path ends in {@link extension} */
export async function writeConfigFile(path: string, what: string, content: object): Promise<void> {
  const folder = dirname(path);
  try {
    // conf would create a directory that others can read, and retry for a second in a directory that it cannot write.
    // Only a command that writes needs it.
    const { makeDirectory } = await import("../../store/durable-files.ts");
    makeDirectory(folder);
    await promises.access(folder, constants.W_OK);
    // conf writes a new file with its mode, flushes it and renames it. It loads ajv, which takes 10 ms, so it only writes.
    const { default: Conf } = await loadWithoutSignals(() => import("conf"));
    const file = new Conf<Record<string, unknown>>({
      cwd: folder,
      configName: basename(path, extension),
      configFileMode: ownerOnlyFile,
      accessPropertiesByDotNotation: false,
      clearInvalidConfig: false,
    });
    file.store = { ...content };
  } catch (error) {
    throw new CommandError(
      "usage",
      `${what} cannot be saved in ${folder} (${toSystemReason(error)}): make it a writable directory, or set PLANTSTORE_CONFIG_DIR`,
      { cause: error },
    );
  }
}

/** Checks whether a file does not exist, or its path leads through another file. */
export function isMissingFile(error: unknown): boolean {
  if (!isError(error) || !("code" in error)) return false;
  return error.code === "ENOENT" || error.code === "ENOTDIR";
}

export function broken(path: string, what: string): CommandError {
  return new CommandError(
    "usage",
    `${path} is broken: it contains no ${what}; fix it or delete it`,
  );
}
