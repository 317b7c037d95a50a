/** The plant store as a part of another program, such as a test. */
import { createAuthenticator } from "./auth/authenticator.ts";
import { isBearerToken } from "./auth/credential.ts";
import { mintToken } from "./auth/token.ts";
import type { ConflictPolicy, PlantStore } from "./core/store.ts";
import { defaultLimits } from "./server/limits.ts";
import { openPlantServer } from "./server/server.ts";
import { openStore } from "./store/open-store.ts";

/** How a plant store is started; each of them may be left out. */
export interface PlantStoreOptions {
  /** Where plants are kept: `memory:` (the default), `sqlite:PATH` or `postgres://…`. */
  readonly store?: string;
  /** The address to listen on, and no wider; by default 127.0.0.1. */
  readonly host?: string;
  /** By default 0, which takes a free one. */
  readonly port?: number;
  /** In front of `/plants`, such as `/v1`; by default empty. */
  readonly basePath?: string;
  /** The largest body of a request, in bytes; by default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Creates that may wait for the store; by default 4096. */
  readonly maxInflight?: number;
  /** What happens to a create of an id that belongs to a different plant; by default `reject`. */
  readonly onConflict?: ConflictPolicy;
  /** A token to accept; by default a new one. It is not stored, and beside it those that are stored are accepted. */
  readonly token?: string;
  /** Told of the server's own trouble, which its clients see as 50000 and above; it must not throw. */
  readonly onError?: (error: unknown) => void;
}

/** A plant store that runs in this process. */
export interface RunningPlantStore {
  /** Where `/plants` is: scheme, host, port and base path. */
  readonly url: string;
  /** A token that it accepts. */
  readonly token: string;
  /** For a look at what is there. */
  readonly store: Pick<PlantStore, "get" | "list">;
  /** Answers what is under way, for ten seconds at the most, and closes the store. May be called twice. */
  close(): Promise<void>;
  /** The same as {@link RunningPlantStore.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const closeTimeoutMs = 10_000;

/**
 * Starts a plant store. It leaves the process alone: no signal handlers, no exit, nothing on the console.
 *
 * @throws TypeError when the base path or the token is none
 * @throws StoreError when the store could not be opened
 * @throws the error of node:net when it can't listen there
 */
export async function createPlantStore(
  options: PlantStoreOptions = {},
): Promise<RunningPlantStore> {
  const { basePath = "", token = mintToken(), maxBodyBytes = defaultLimits.maxBodyBytes } = options;
  if (!/^(?:\/[\w.~-]+)*$/.test(basePath)) throw new TypeError("basePath must be like /v1");
  if (!isBearerToken(token)) throw new TypeError("token holds a character that no token has");

  const store = await openStore(options.store ?? "memory:");
  try {
    const authenticator = createAuthenticator({
      listTokens: () => store.listTokens(),
      noteTokenUses: (digests, day) => store.noteTokenUses(digests, day),
      ownToken: token,
    });
    const server = await openPlantServer({
      host: options.host ?? "127.0.0.1",
      port: options.port ?? 0,
      store,
      authenticator,
      basePath,
      ...defaultLimits,
      maxBodyBytes,
      maxWaitingBytes: Math.max(defaultLimits.maxWaitingBytes, maxBodyBytes),
      maxInflight: options.maxInflight ?? defaultLimits.maxInflight,
      onConflict: options.onConflict ?? "reject",
      onError: options.onError ?? (() => undefined),
    });
    const close = async (): Promise<void> => {
      await server.close(closeTimeoutMs);
      await authenticator.flushUses();
      await store.close();
    };
    return { url: server.url, token, store, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await store.close();
    throw error;
  }
}
