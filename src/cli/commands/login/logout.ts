/** `plantstore logout`: removes the saved token for the origin of a plant store. */
import { toEndpoint } from "../../../core/base-url.ts";
import type { Run } from "../../command.ts";
import { UsageError } from "../../command-error.ts";
import { readCredential, removeToken } from "../../config/credentials.ts";
import { findConfigDirectory } from "../../config/directories.ts";
import {
  hasProfile,
  readSavedSettings,
  type SavedSettings,
  saveSettings,
} from "../../config/saved-settings.ts";
import { urlOption } from "../../options.ts";
import { readOptions } from "../../settings.ts";

/**
 * Removes the token, and the profile. Its plant store is no longer the default.
 *
 * @throws CommandError if the token cannot be removed; it still exists if the settings cannot be read
 */
export async function logout({ flags, io, terminal }: Run): Promise<void> {
  const { url, profile } = readOptions(urlOption, flags, io);
  if (flags["profile"] && flags["url"] !== undefined) {
    throw new UsageError("--profile has a URL of its own: remove --url");
  }
  const { origin } = toEndpoint(url);
  const directory = findConfigDirectory(io);
  // First, so that unreadable settings do not stop a logout half-way.
  const settings = readSavedSettings(directory);
  const isCommand = hasCommand(directory, origin);
  const isRemoved = await removeToken(directory, origin);
  const remaining = withoutTarget(settings, profile, origin);
  if (remaining !== settings) await saveSettings(directory, remaining);
  await terminal.note(
    isRemoved
      ? isCommand
        ? `removed the token command for ${origin} from this machine`
        : `removed the token for ${origin} from this machine; it is valid until it expires or is revoked`
      : `no token was saved for ${origin}`,
  );
  if (profile !== undefined && hasProfile(settings, profile)) {
    await terminal.note(`removed the profile ${profile}`);
  }
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE"]) {
    if (io.env[variable]) await terminal.warning(`${variable} is still set`);
  }
}

/** The settings without a profile, or without the default plant store if it has this origin. */
function withoutTarget(
  settings: SavedSettings,
  profile: string | undefined,
  origin: string,
): SavedSettings {
  const { url = "", profiles = {} } = settings;
  if (profile !== undefined && hasProfile(settings, profile)) {
    const others = Object.entries(profiles).filter(([name]) => name !== profile);
    return { ...settings, profiles: Object.fromEntries(others) };
  }
  if (!URL.canParse(url) || toEndpoint(url).origin !== origin) return settings;
  return settings.profiles === undefined ? {} : { profiles };
}

/** A broken file counts as a token. */
function hasCommand(directory: string, origin: string): boolean {
  try {
    return readCredential(directory, origin)?.command !== undefined;
  } catch {
    return false;
  }
}
