/** Saved tokens, with the platform of the tests. */
import * as credentials from "../../src/cli/config/saved-tokens.ts";

export { removeToken, toTokenFile } from "../../src/cli/config/saved-tokens.ts";

export const readSavedToken = (directory: string, origin: string) =>
  credentials.readCredential(directory, origin, process)?.token;

export const listSavedOrigins = (directory: string) => credentials.listSavedOrigins(directory);

export const saveCredential = (
  directory: string,
  credential: Parameters<typeof credentials.saveToken>[1],
) => credentials.saveToken(directory, credential, process);
