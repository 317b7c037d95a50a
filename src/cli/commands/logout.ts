/** `plantstore logout`: forgets the saved token for the origin of a plant store. */
import { removeToken } from "../tokens/credentials.ts";
import { findConfigDirectory } from "../settings/directories.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { createReporter } from "../output/reporter.ts";
import { readSavedSettings, saveSettings } from "../settings/saved-settings.ts";
import { type LoginFlags, resolveUrl } from "../settings/client-settings.ts";

/**
 * Removes the token, and no longer means that plant store where none is named.
 *
 * @returns the exit code
 * @throws CommandError when that is not possible; when the settings can't be read, the token is still there
 */
export async function logout(flags: Pick<LoginFlags, "url">, io: Io): Promise<number> {
  const { origin } = new URL(resolveUrl(flags, io).baseUrl);
  const directory = findConfigDirectory(io);
  // Before anything is removed: what is wrong there must not leave it half done.
  const { url: savedUrl, ...others } = readSavedSettings(directory);
  const wasThere = await removeToken(directory, origin);
  if (savedUrl !== undefined && URL.canParse(savedUrl) && new URL(savedUrl).origin === origin) {
    await saveSettings(directory, others);
  }
  const reporter = createReporter(io, undefined);
  await reporter.note(
    wasThere
      ? `removed the token for ${origin} from this machine; it is good until it expires or is revoked`
      : `no token was saved for ${origin}`,
  );
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE"]) {
    if (io.env[variable]) await reporter.warning(`${variable} is still set here`);
  }
  return exitCodes.done.code;
}
