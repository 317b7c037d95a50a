/** Settings that a login saves for later commands: those of the default plant store, and named profiles. */
import { join } from "node:path";
import { findClosestWord } from "../../core/closest-word.ts";
import { quoteInput } from "../../core/quote.ts";
import { CommandError } from "../command-error.ts";
import { broken, extension, readConfigFile, writeConfigFile } from "./config-file.ts";

/** Saved settings of one plant store; a setting that is not saved is absent. */
export interface SavedTarget {
  /** URL of the last login, with its base path. */
  readonly url?: string;
  /** Absolute path of a file with certificates. */
  readonly cacert?: string | undefined;
}

/** Saved settings. */
export interface SavedSettings extends SavedTarget {
  readonly profiles?: Readonly<Record<string, SavedTarget>>;
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

/** Checks whether a profile is saved. */
export function hasProfile({ profiles = {} }: SavedSettings, profile: string): boolean {
  return Object.hasOwn(profiles, profile);
}

/** The settings of a profile. @throws CommandError for an unknown one */
export function getProfile(settings: SavedSettings, profile: string): SavedTarget {
  const target = hasProfile(settings, profile) ? settings.profiles?.[profile] : undefined;
  if (target !== undefined) return target;
  throw new CommandError(
    "usage",
    `unknown profile "${quoteInput(profile)}": ${describeProfiles(settings, profile)}`,
  );
}

/** Names the closest profile and all profiles, or how to create one. */
export function describeProfiles({ profiles = {} }: SavedSettings, wanted: string): string {
  const names = Object.keys(profiles).toSorted();
  const closest = findClosestWord(wanted, names);
  const start = closest === undefined ? "the" : `did you mean "${closest}"? The`;
  if (names.length > 0) return `${start} saved profiles are ${names.join(", ")}`;
  return '"plantstore login --profile NAME --url URL" saves one';
}

/** Without zod: every command that sends requests reads these settings. */
function isSavedSettings(value: unknown): value is SavedSettings {
  if (!isSavedTarget(value)) return false;
  const profiles: unknown = "profiles" in value ? value.profiles : {};
  return isObject(profiles) && Object.values(profiles).every(isSavedTarget);
}

function isSavedTarget(value: unknown): value is SavedTarget {
  if (!isObject(value)) return false;
  const { url = "", cacert = "" }: { url?: unknown; cacert?: unknown } = value;
  return typeof url === "string" && typeof cacert === "string";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
