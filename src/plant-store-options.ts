/** The options of a plant store in another program: what they are when they are left out, and what they may be. */
import { mintToken } from "./auth/token.ts";
import { conflictPolicies, type ConflictPolicy, StoreError } from "./core/store.ts";
import { checkNumber, checkText, checkToken, wrong } from "./option-checks.ts";
import { parseStoreUrl } from "./store/store-url.ts";
import {
  basePathRule,
  defaultLimits,
  hostRule,
  optionRanges,
  toBasePath,
  toHost,
} from "./server/limits.ts";

/** How a plant store is started; each of them may be left out. */
export interface PlantStoreOptions {
  /** Where plants are kept: `memory:` (the default), `sqlite:PATH` or `postgres://…`. */
  readonly store?: string;
  /** The name or address to listen on, and no wider; by default 127.0.0.1. */
  readonly host?: string;
  /** 0 … 65535; by default 0, which takes a free one. */
  readonly port?: number;
  /** In front of `/plants`, such as `/v1`: letters, digits and `- . _ ~`; by default empty. */
  readonly basePath?: string;
  /** The largest body of a request, in bytes: 1 … 67108864 (64 MiB); by default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Creates that may wait for the store: 1 … 1000000; by default 4096. */
  readonly maxInflight?: number;
  /** What happens to a create of an id that belongs to a different plant: `reject` (the default) or `replace`. */
  readonly onConflict?: ConflictPolicy;
  /** A token to accept; by default a new one. It is not stored, and beside it those that are stored are accepted. */
  readonly token?: string;
  /** Told of the server's own trouble, which its clients see as 50000 and above; it must not throw. */
  readonly onError?: (error: unknown) => void;
}

/**
 * All options, by the rules of the command line.
 *
 * @throws TypeError when one is not what it must be; RangeError when a number is too small or too large, or not whole
 */
export function completeOptions({
  store = "memory:",
  host = "127.0.0.1",
  port = 0,
  basePath = "",
  maxBodyBytes = defaultLimits.maxBodyBytes,
  maxInflight = defaultLimits.maxInflight,
  onConflict = "reject",
  token = mintToken(),
  onError = () => undefined,
}: PlantStoreOptions): Required<PlantStoreOptions> {
  if (typeof (onError as unknown) !== "function") throw wrong("onError", onError, "a function");
  if (!conflictPolicies.includes(onConflict)) {
    throw wrong("onConflict", onConflict, `one of ${conflictPolicies.join(", ")}`);
  }
  return {
    store: checkStore(store),
    host: checkText("host", host, toHost, hostRule),
    port: checkNumber("port", port, optionRanges.port),
    basePath: checkText("basePath", basePath, toBasePath, basePathRule),
    maxBodyBytes: checkNumber("maxBodyBytes", maxBodyBytes, optionRanges.maxBodyBytes),
    maxInflight: checkNumber("maxInflight", maxInflight, optionRanges.maxInflight),
    onConflict,
    token: checkToken(token),
    onError,
  };
}

function checkStore(store: unknown): string {
  if (typeof store !== "string") throw wrong("store", store, "the URL of a store");
  try {
    parseStoreUrl(store);
    return store;
  } catch (error) {
    if (error instanceof StoreError) {
      throw new TypeError(`store: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
