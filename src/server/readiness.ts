/** Checks whether the server can create plants now. */
import { RequestError } from "../core/errors.ts";
import type { PlantStore } from "../core/store.ts";
import { describeFailure, serverStarting } from "./failure.ts";
import type { ServerBackend } from "./options.ts";

/** Resolves with the reason for which the server is not ready, or with undefined if it is. Never rejects. */
export type ReadinessCheck = () => Promise<RequestError | undefined>;

/** Dependencies of the check. */
export interface ReadinessOptions {
  /** Undefined while the server starts. */
  readonly backend: () => ServerBackend | undefined;
  /** True from the start of a drain or a stop. */
  readonly isStopping: () => boolean;
  readonly onError: (error: unknown) => void;
}

const stopping = new RequestError("shuttingDown", "the server is stopping: try another one");

/** The readiness of a server. */
export interface Readiness {
  readonly check: ReadinessCheck;
  /** Makes the next check ask the store again, because the store has failed since. */
  doubt(): void;
}

/** Creates the readiness of a server. */
export function createReadiness(options: ReadinessOptions): Readiness {
  const writableCheck = createWritableCheck();
  return {
    async check() {
      const backend = options.backend();
      if (backend === undefined) return serverStarting;
      if (options.isStopping()) return stopping;
      try {
        await writableCheck.run(backend.store);
        return undefined;
      } catch (error) {
        options.onError(error);
        return describeFailure(error);
      }
    },
    doubt: () => writableCheck.doubt(),
  };
}

/** Requests may check readiness at any rate; the store is checked at most this often, unless it has failed since. */
const writableCheckMs = 1000;

function createWritableCheck() {
  let last: Promise<void> | undefined;
  let hasPassed = false;
  let isDoubted = false;

  return {
    run(store: Pick<PlantStore, "checkWritable">): Promise<void> {
      // A failed check is not doubted, so that failing creates cause no more checks.
      if (hasPassed && isDoubted) last = undefined;
      if (last !== undefined) return last;
      const check = store.checkWritable();
      const forget = (): void => {
        if (last === check) last = undefined;
      };
      const forgetLater = (): void => void setTimeout(forget, writableCheckMs).unref();
      check.then(() => {
        hasPassed = true;
        forgetLater();
      }, forgetLater);
      hasPassed = false;
      isDoubted = false;
      last = check;
      return check;
    },
    doubt(): void {
      isDoubted = true;
    },
  };
}
