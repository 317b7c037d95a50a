/** Provides the first token of a store, so that `create` works without further setup. */
import { existsSync } from "node:fs";
import { toTokenPrefix } from "../../../auth/token.ts";
import { digestToken, mintToken } from "../../../auth/authenticator.ts";
import { attempt } from "../../../core/attempt.ts";
import { parseBaseUrl, toEndpoint, toUnixUrl } from "../../../core/base-url.ts";
import type { PlantStore } from "../../../core/store.ts";
import type { PlantServer } from "../../../server/server.ts";
import { CommandError } from "../../command-error.ts";
import { readKnownCredential, saveToken, toTokenFile } from "../../config/saved-tokens.ts";
import {
  findConfigDirectory,
  readSavedSettings,
  saveSettings,
} from "../../config/saved-settings.ts";
import type { Io } from "../../io.ts";
import { urlOption } from "../../options/remote.ts";
import type { ServeOptions } from "./serve-options.ts";

/** The token that `create` will use for a server. */
export type FirstToken =
  /** PLANTSTORE_TOKEN: nothing is issued or saved. */
  | { readonly kind: "environment" }
  /** Saved by an earlier run. */
  | { readonly kind: "saved" }
  /** Issued by this run. */
  | { readonly kind: "issued"; readonly token: string; readonly isSaved: boolean }
  /** Nothing is issued: the store has tokens, and none is saved for this address, or no client would know a new one. */
  | { readonly kind: "none" };

/**
 * Gives a store the token that `create` will use: the one that is saved for its address, or a new one. It is saved unless
 * the store is volatile or the system chose the port. A store that has tokens gets no further one, and none gets one that nobody
 * would see.
 */
export async function provideToken(
  options: ServeOptions,
  { url }: PlantServer,
  store: Pick<PlantStore, "addToken" | "listTokens">,
  io: Io,
): Promise<FirstToken> {
  if (options.environmentToken !== undefined) return { kind: "environment" };
  const origin = findSavedOrigin(options, url);
  const saved = origin && readKnownCredential(findConfigDirectory(io), origin)?.token;
  const issued = await store.listTokens();
  if (issued.length > 0) {
    const isKnown = issued.some(({ digest }) => saved && digest === digestToken(saved));
    return { kind: isKnown ? "saved" : "none" };
  }
  const isSaved = origin !== undefined && options.storeKind !== "memory";
  const isShown = options.json ?? isForUser(options, io);
  if (saved === undefined && !isSaved && !isShown) {
    if (options.storeKind !== "memory") return { kind: "none" };
    const problem = "no client would know the token of this store in memory";
    throw new CommandError("usage", `${problem}: set PLANTSTORE_TOKEN, or use --json`);
  }
  const token = saved ?? mintToken();
  if (isSaved && saved === undefined) {
    // Before it is in the store: after a crash in between, the next start finds the saved token and an empty store.
    await saveToken(findConfigDirectory(io), { origin, token }, io);
    await saveFirstUrl(url, findConfigDirectory(io));
  }
  await store.addToken({
    digest: digestToken(token),
    prefix: toTokenPrefix(token),
    name: "first",
    issuedAtMs: Date.now(),
  });
  return saved === undefined ? { kind: "issued", token, isSaved } : { kind: "saved" };
}

/** Checks whether a user on a terminal sees the banner, which has the token. */
export function isForUser({ logFormat }: Pick<ServeOptions, "logFormat">, { stderr }: Io): boolean {
  return logFormat === "text" && stderr.isTTY === true;
}

/**
 * Saves the URL of the first server with a saved token: without a login, it is the default of commands that send requests.
 * Nothing is saved if one was used at the built-in URL before.
 */
async function saveFirstUrl(url: string, directory: string): Promise<void> {
  const builtIn = urlOption.url.default;
  if (url === builtIn || readSavedSettings(directory).serve !== undefined) return;
  const wasBuiltInUsed = existsSync(toTokenFile(directory, builtIn));
  if (wasBuiltInUsed && toEndpoint(url).origin !== builtIn) return;
  await saveSettings(directory, { serve: url });
}

/**
 * Finds the origin for which the token of a server is saved. None is saved with PLANTSTORE_TOKEN or `--ephemeral`, with
 * `--demo`, whose token is published, at a free port that the system chose, and for a Unix socket that clients cannot name,
 * because its path is unknown, abstract or too long, or has a colon.
 */
export function findSavedOrigin(
  { environmentToken, isEphemeral, isDemo, port, basePath, socketPath, socketFd }: ServeOptions,
  url: string,
): string | undefined {
  const isAnyPort = port === 0 && (socketPath ?? socketFd) === undefined;
  if (environmentToken !== undefined || isEphemeral || isDemo || isAnyPort) return undefined;
  const origin = attempt(() => toEndpoint(parseBaseUrl(url)).origin);
  const isUsable = origin && (!url.startsWith("unix:") || toUnixUrl(origin, basePath) === url);
  return isUsable ? origin : undefined;
}
