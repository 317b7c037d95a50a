/** The settings that a login leaves behind, for the commands after it. */
import { readFileSync } from "node:fs";
import { CommandError } from "../command-error.ts";
import { isMissing, parseJsonOrNothing, toConfigFile, writeConfigFile } from "./config-file.ts";
import { toSystemReason } from "../system-error.ts";

/** What is saved; a setting that never was is absent. */
export interface SavedSettings {
  /** The plant store of the last login, with its base path. */
  readonly url?: string;
}

const name = "settings";

/** The file that keeps the settings. */
export function toSettingsFile(configDirectory: string): string {
  return toConfigFile(configDirectory, name);
}

/**
 * The saved settings.
 *
 * @throws CommandError when their file can't be read or is broken
 */
export function readSavedSettings(configDirectory: string): SavedSettings {
  const path = toSettingsFile(configDirectory);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return {};
    throw new CommandError("usage", `${path} can't be read: ${toSystemReason(error)}`, {
      cause: error,
    });
  }
  const saved = parseJsonOrNothing(text);
  if (isSavedSettings(saved)) return saved;
  throw new CommandError(
    "usage",
    `${path} is broken: it holds no saved settings; mend it or delete it`,
  );
}

/**
 * Saves the settings in place of earlier ones.
 *
 * @throws CommandError when that is not possible, or the earlier file is broken
 */
export async function saveSettings(
  configDirectory: string,
  settings: SavedSettings,
): Promise<void> {
  readSavedSettings(configDirectory);
  try {
    await writeConfigFile(configDirectory, name, { ...settings });
  } catch (error) {
    throw new CommandError(
      "internal",
      `the settings can't be saved in ${configDirectory} (${toSystemReason(error)}): make it a directory that you may write to, or name another in PLANTSTORE_CONFIG_DIR`,
      { cause: error },
    );
  }
}

/** By hand: commands read them before anything else, and zod would take longer to load than this. */
function isSavedSettings(value: unknown): value is SavedSettings {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !("url" in value) || typeof value.url === "string";
}
