/** Settings that a login saves for later commands. */
import { join } from "node:path";
import { broken, extension, readConfigFile, writeConfigFile } from "./config-file.ts";

/** Saved settings; a setting that is not saved is absent. */
export interface SavedSettings {
  /** URL of the last login, with its base path. */
  readonly url?: string;
  /** Absolute path of a file with certificates. */
  readonly cacert?: string | undefined;
}

/** The path of the file. */
export function toSettingsFile(configDirectory: string): string {
  return join(configDirectory, `settings${extension}`);
}

/**
 * Reads the saved settings.
 *
 * @throws CommandError if the file cannot be read or is broken
 */
export function readSavedSettings(configDirectory: string): SavedSettings {
  const path = toSettingsFile(configDirectory);
  const saved = readConfigFile(path);
  if (saved === undefined) return {};
  if (isSavedSettings(saved)) return saved;
  throw broken(path, "saved settings");
}

/**
 * Replaces the saved settings.
 *
 * @throws CommandError if the file cannot be written, or the existing one is broken
 */
export async function saveSettings(
  configDirectory: string,
  settings: SavedSettings,
): Promise<void> {
  readSavedSettings(configDirectory);
  await writeConfigFile(toSettingsFile(configDirectory), "the settings", settings);
}

/** Without zod: every command that sends requests reads these settings. */
function isSavedSettings(value: unknown): value is SavedSettings {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { url = "", cacert = "" }: { url?: unknown; cacert?: unknown } = value;
  return typeof url === "string" && typeof cacert === "string";
}
