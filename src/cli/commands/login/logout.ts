/** `plantstore logout`: removes the saved token for the origin of a plant store. */
import type { Run } from "../../command.ts";
import { removeToken } from "../../config/credentials.ts";
import { findConfigDirectory } from "../../config/directories.ts";
import { readSavedSettings, saveSettings } from "../../config/saved-settings.ts";
import { exitCodes } from "../../exit-codes.ts";
import { urlOption } from "../../options.ts";
import { readOptions } from "../../settings.ts";

/**
 * Removes the token. Its plant store is no longer the default.
 *
 * @returns the exit code
 * @throws CommandError if the token cannot be removed; it still exists if the settings cannot be read
 */
export async function logout({ flags, io, terminal }: Run): Promise<number> {
  const { url } = readOptions(urlOption, flags, io);
  const { origin } = new URL(url);
  const directory = findConfigDirectory(io);
  // First, so that unreadable settings do not stop a logout half-way.
  const { url: savedUrl, ...others } = readSavedSettings(directory);
  const isRemoved = await removeToken(directory, origin);
  if (savedUrl !== undefined && URL.canParse(savedUrl) && new URL(savedUrl).origin === origin) {
    await saveSettings(directory, others);
  }
  await terminal.note(
    isRemoved
      ? `removed the token for ${origin} from this machine; it is valid until it expires or is revoked`
      : `no token was saved for ${origin}`,
  );
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE"]) {
    if (io.env[variable]) await terminal.warning(`${variable} is still set`);
  }
  return exitCodes.done.code;
}
