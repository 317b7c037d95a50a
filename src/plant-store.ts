/** The plant store as a part of another program, such as a test. */
import { createAuthenticator } from "./auth/authenticator.ts";
import type { PlantQuery, PlantStore } from "./core/store.ts";
import { checkNumber } from "./option-checks.ts";
import { completeOptions, type PlantStoreOptions } from "./plant-store-options.ts";
import { defaultLimits } from "./server/limits.ts";
import { openPlantServer } from "./server/server.ts";
import { openStore } from "./store/open-store.ts";

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
 * @throws TypeError, RangeError when an option is not what it may be
 * @throws StoreError when the store could not be opened
 * @throws the error of node:net when it can't listen there
 */
export async function createPlantStore(
  options: PlantStoreOptions = {},
): Promise<RunningPlantStore> {
  const { store: storeUrl, token, ...serverOptions } = completeOptions(options);
  const store = await openStore(storeUrl);
  try {
    const authenticator = createAuthenticator({
      listTokens: () => store.listTokens(),
      noteTokenUses: (digests, day) => store.noteTokenUses(digests, day),
      ownToken: token,
    });
    const server = await openPlantServer({
      ...defaultLimits,
      ...serverOptions,
      maxWaitingBytes: Math.max(defaultLimits.maxWaitingBytes, serverOptions.maxBodyBytes),
      store,
      authenticator,
    });
    server.start();
    const close = async (): Promise<void> => {
      await server.close(closeTimeoutMs);
      await authenticator.flushUses();
      await store.close();
    };
    const reader: RunningPlantStore["store"] = {
      async get(id) {
        // In JavaScript it could be a number, and have lost digits already.
        if (typeof (id as unknown) !== "bigint") throw new TypeError("id must be a bigint");
        return store.get(id);
      },
      async list(query) {
        const { afterId, limit }: { readonly [Key in keyof PlantQuery]?: unknown } = query;
        if (afterId !== undefined && typeof afterId !== "bigint") {
          throw new TypeError("afterId must be a bigint, or be left out");
        }
        checkNumber("limit", limit, { min: 1, max: Number.MAX_SAFE_INTEGER });
        return store.list(query);
      },
    };
    return { url: server.url, token, store: reader, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await store.close();
    throw error;
  }
}
