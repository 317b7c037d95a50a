/** Whether requests should be sent here: storage is writable, and the server is not stopping (CONTRACT "HTTP"). */
import { Refusal } from "../../core/errors.ts";
import type { PlantStore } from "../../core/store.ts";

/** Anybody may ask, as often as they like; the store is asked at most this often. */
const maxAgeMs = 1000;

/**
 * A check that resolves when the server is ready.
 *
 * @returns a function that rejects with a Refusal `shuttingDown`, or what the store has to say
 */
export function createReadinessCheck(
  store: Pick<PlantStore, "checkWritable">,
  isStopping: () => boolean,
): () => Promise<void> {
  let checked: Promise<void> | undefined;
  return async () => {
    if (isStopping()) throw new Refusal("shuttingDown", "the server is stopping: try another one");
    if (checked === undefined) {
      checked = store.checkWritable();
      const forget = (): void => {
        setTimeout(() => (checked = undefined), maxAgeMs).unref();
      };
      checked.then(forget, forget);
    }
    await checked;
  };
}
