/** Sees to it that whoever starts a store can create plants in it right away. */
import { toTokenPrefix } from "../../auth/token-format.ts";
import { digestToken, mintToken } from "../../auth/token.ts";
import type { PlantStore } from "../../core/store.ts";
import { prepareConfigFiles } from "../settings/config-file.ts";
import { listSavedOrigins, readSavedToken, saveToken } from "./credentials.ts";

/** What became of the token that `create` will use for a server. */
export type FirstToken =
  /** It is saved, and was before. */
  | { readonly kind: "saved" }
  /** It was issued just now, and saved. */
  | { readonly kind: "issued"; readonly token: string }
  /** The store has tokens, and none of them is saved for this user. */
  | { readonly kind: "none" };

/**
 * A new store gets its first token: the one that is saved for its address already, or else a new one, which is saved for
 * this address. A store that has tokens gets no more; of those that are saved for other addresses, one that is its own
 * is saved for this one too, for a store may move. No other saved token is touched.
 *
 * @param origin the server's scheme, host and port
 * @throws CommandError when a saved token can't be read or saved
 * @throws StoreError
 */
export async function provideFirstToken(
  store: Pick<PlantStore, "addToken" | "listTokens">,
  origin: string,
  configDirectory: string,
): Promise<FirstToken> {
  const savedHere = readSavedToken(configDirectory, origin);
  const issued = new Set((await store.listTokens()).map((record) => record.digest));

  if (issued.size === 0) {
    const token = savedHere ?? mintToken();
    // Saved first: should this end in between, the next start finds the token here and the store still empty.
    if (savedHere === undefined) await saveToken(configDirectory, origin, token);
    await store.addToken({
      digest: digestToken(token),
      prefix: toTokenPrefix(token),
      name: "first",
      issuedAtMs: Date.now(),
    });
    return savedHere === undefined ? { kind: "issued", token } : { kind: "saved" };
  }
  if (savedHere !== undefined) {
    return { kind: issued.has(digestToken(savedHere)) ? "saved" : "none" };
  }
  const own = await findSavedToken(configDirectory, (token) => issued.has(digestToken(token)));
  if (own === undefined) return { kind: "none" };
  await saveToken(configDirectory, origin, own);
  return { kind: "saved" };
}

/**
 * Loads what saving a token takes, where none was saved yet for this port.
 *
 * @param port on which the server will listen; 0: on a free one
 * @throws CommandError when the saved ones can't be read
 */
export async function prepareFirstToken(port: number, configDirectory: string): Promise<void> {
  const origins = await listSavedOrigins(configDirectory);
  const isSaved = port !== 0 && origins.some((origin) => origin.endsWith(`:${port}`));
  if (!isSaved) await prepareConfigFiles();
}

async function findSavedToken(
  configDirectory: string,
  isWanted: (token: string) => boolean,
): Promise<string | undefined> {
  for (const origin of await listSavedOrigins(configDirectory)) {
    const token = readGoodToken(configDirectory, origin);
    if (token !== undefined && isWanted(token)) return token;
  }
  return undefined;
}

/** A file that is broken concerns those who create at its origin. */
function readGoodToken(configDirectory: string, origin: string): string | undefined {
  try {
    return readSavedToken(configDirectory, origin);
  } catch {
    return undefined;
  }
}
