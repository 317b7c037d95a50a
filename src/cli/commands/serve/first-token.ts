/** Provides the first token of a store, so that `create` works without further setup. */
import { existsSync } from "node:fs";
import { toTokenPrefix } from "../../../auth/token.ts";
import { digestToken, mintToken } from "../../../auth/authenticator.ts";
import { attempt } from "../../../core/attempt.ts";
import { InvalidUrl, parseBaseUrl, toEndpoint, toUnixUrl } from "../../../core/base-url.ts";
import type { PlantStore } from "../../../core/store.ts";
import type { PlantServer } from "../../../server/server.ts";
import { CommandError } from "../../command-error.ts";
import {
  listSavedOrigins,
  readSavedToken,
  removeMarkedToken,
  saveToken,
  type SavedToken,
  toTokenFile,
} from "../../config/saved-tokens.ts";
import { findConfigDirectory } from "../../config/directories.ts";
import { saveSettings, toSettingsFile } from "../../config/saved-settings.ts";
import type { Io } from "../../io.ts";
import { urlOption } from "../../options/remote.ts";
import type { ServeOptions, ServerRun } from "./serve-options.ts";

/** The token that `create` will use for a server. */
export type FirstToken =
  /** PLANTSTORE_TOKEN: nothing is issued or saved. */
  | { readonly kind: "environment" }
  /** Saved by an earlier run. */
  | { readonly kind: "saved" }
  /** Issued by this run, and saved for good, until the server stops, or not at all. */
  | {
      readonly kind: "issued";
      readonly token: string;
      readonly saved: "always" | "volatile" | "never";
    }
  /** The store has tokens, and none of them is saved for this user. */
  | { readonly kind: "none" };

/** Gives a store the token that `create` will use. @throws CommandError if a saved token cannot be read or saved; StoreError */
export async function provideToken(
  { environmentToken, isEphemeral, basePath, port, socketFd, socketPath }: ServeOptions,
  { url }: PlantServer,
  store: PlantStore,
  io: Io,
): Promise<FirstToken> {
  if (environmentToken !== undefined) return { kind: "environment" };
  if (isEphemeral) return issueUnsavedToken(store);
  const origin = findOrigin(url, basePath);
  if (origin === undefined) return { kind: "none" };
  const isFreePort = port === 0 && socketFd === undefined && socketPath === undefined;
  const token = await provideFirstToken(store, { origin, ...(isFreePort && { isFreePort }) }, io);
  const isKept = token.kind === "issued" && token.saved === "always" && !isFreePort;
  if (isKept) await saveFirstUrl(url, io);
  return token;
}

/**
 * Makes the first server with a saved token the default of commands that send requests, unless one was used at the built-in
 * URL before. Later servers, and those after a login or a logout, do not change the default.
 *
 * @throws CommandError if the URL cannot be saved
 */
async function saveFirstUrl(url: string, io: Io): Promise<void> {
  const builtIn = urlOption.url.default;
  const directory = findConfigDirectory(io);
  if (url === builtIn || existsSync(toSettingsFile(directory))) return;
  const wasBuiltInUsed = existsSync(toTokenFile(directory, builtIn));
  if (wasBuiltInUsed && toEndpoint(url).origin !== builtIn) return;
  await saveSettings(directory, { url, savedBy: "first serve" });
}

/**
 * Finds the origin under which clients look for the token of a server.
 *
 * @returns undefined for a Unix socket that clients cannot name: its path is unknown, abstract or too long, or has a colon
 */
function findOrigin(url: string, basePath: string): string | undefined {
  try {
    const { origin } = toEndpoint(parseBaseUrl(url));
    return !url.startsWith("unix:") || toUnixUrl(origin, basePath) === url ? origin : undefined;
  } catch (error) {
    if (error instanceof InvalidUrl) return undefined;
    throw error;
  }
}

/**
 * Gives a new store its first token: the token that is saved for its address, or a new one, which is saved. A store with
 * tokens gets no other one. If one of its tokens is saved for another address, that token is saved for this address too,
 * because a store may move. If that address had a free port, the token is removed there: nothing listens at it for long. No
 * other saved token changes. A token that a killed server with a `memory:` store left for
 * the address is removed.
 *
 * @param place scheme, host and port of the server, which has this address now; or `unix:` and the path of its socket
 * @throws CommandError if a saved token cannot be read or saved; StoreError
 */
async function provideFirstToken(
  store: Pick<PlantStore, "addToken" | "listTokens" | "isVolatile">,
  place: Omit<SavedToken, "token">,
  io: Io,
): Promise<FirstToken> {
  const { origin } = place;
  const configDirectory = findConfigDirectory(io);
  await removeMarkedToken(configDirectory, origin, "store", io);
  const savedHere = readSavedToken(configDirectory, origin, io);
  const issued = new Set((await store.listTokens()).map((record) => record.digest));

  if (issued.size === 0) {
    const token = savedHere ?? mintToken();
    const mark = store.isVolatile ? { store: "memory:" as const } : {};
    // Saved first: after a crash in between, the next start finds the saved token and an empty store.
    if (savedHere === undefined) {
      await saveToken(configDirectory, { ...place, token, ...mark }, io);
    }
    await addFirstToken(store, token);
    if (savedHere !== undefined) return { kind: "saved" };
    return { kind: "issued", token, saved: store.isVolatile ? "volatile" : "always" };
  }
  if (savedHere !== undefined) {
    return { kind: issued.has(digestToken(savedHere)) ? "saved" : "none" };
  }
  const found = (await listSavedTokens(io)).filter(({ token }) => issued.has(digestToken(token)));
  const [own] = found;
  if (own === undefined) return { kind: "none" };
  const { token } = own;
  await saveToken(configDirectory, { ...place, token }, io);
  for (const other of found) {
    if (other.token !== token) continue;
    await removeMarkedToken(configDirectory, other.origin, "isFreePort", io, token);
  }
  return { kind: "saved" };
}

/** Gives a new store its first token, and saves it nowhere else. @throws StoreError */
async function issueUnsavedToken(store: Pick<PlantStore, "addToken">): Promise<FirstToken> {
  const token = mintToken();
  await addFirstToken(store, token);
  return { kind: "issued", token, saved: "never" };
}

async function addFirstToken(store: Pick<PlantStore, "addToken">, token: string): Promise<void> {
  await store.addToken({
    digest: digestToken(token),
    prefix: toTokenPrefix(token),
    name: "first",
    issuedAtMs: Date.now(),
  });
}

async function listSavedTokens(io: Io): Promise<readonly SavedToken[]> {
  const configDirectory = findConfigDirectory(io);
  const origins = await listSavedOrigins(configDirectory, io);
  return origins.flatMap((origin) => {
    // An unreadable file of another origin does not matter.
    const token = attempt(() => readSavedToken(configDirectory, origin, io));
    return token === undefined ? [] : [{ origin, token }];
  });
}

/** Removes the saved token of a `memory:` store. */
export async function forgetToken(
  token: FirstToken,
  url: string,
  { io, log, options }: ServerRun,
): Promise<void> {
  if (token.kind !== "issued" || token.saved !== "volatile") return;
  const origin = findOrigin(url, options.basePath);
  if (origin === undefined) return;
  try {
    await removeMarkedToken(findConfigDirectory(io), origin, "store", io, token.token);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    log.message("warn", error.message);
  }
}
