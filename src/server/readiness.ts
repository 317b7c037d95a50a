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

/** Creates the check. */
export function createReadinessCheck(options: ReadinessOptions): ReadinessCheck {
  const checkWritable = createWritableCheck();
  return async () => {
    const backend = options.backend();
    if (backend === undefined) return serverStarting;
    if (options.isStopping()) return stopping;
    try {
      await checkWritable(backend.store);
      return undefined;
    } catch (error) {
      options.onError(error);
      return describeFailure(error);
    }
  };
}

/** Requests may check readiness at any rate; the store is checked at most this often. */
const writableCheckMs = 1000;

function createWritableCheck(): (store: Pick<PlantStore, "checkWritable">) => Promise<void> {
  let lastCheck: Promise<void> | undefined;
  return (store) => {
    if (lastCheck === undefined) {
      lastCheck = store.checkWritable();
      const forget = (): void => {
        setTimeout(() => (lastCheck = undefined), writableCheckMs).unref();
      };
      lastCheck.then(forget, forget);
    }
    return lastCheck;
  };
}
