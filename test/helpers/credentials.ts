/** Saved tokens, with the platform of the tests. */
import * as credentials from "../../src/cli/config/credentials.ts";

export { removeToken, toCredentialFile } from "../../src/cli/config/credentials.ts";

export const readSavedToken = (directory: string, origin: string) =>
  credentials.readSavedToken(directory, origin, process);

export const listSavedOrigins = (directory: string) =>
  credentials.listSavedOrigins(directory, process);

export const saveCredential = (
  directory: string,
  credential: Parameters<typeof credentials.saveCredential>[1],
) => credentials.saveCredential(directory, credential, process);
