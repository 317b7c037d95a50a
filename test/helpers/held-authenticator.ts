/** An authenticator whose tokens are being read until a test releases it. Then it accepts every token. */
import type { ServerBackend } from "../../src/server/operations.ts";

/** Creates the authenticator and the functions that control it. */
export function createHeldAuthenticator() {
  let refreshes = 0;
  let isReleased = false;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const authenticator: ServerBackend["authenticator"] = {
    accepts: () => isReleased,
    isFresh: () => isReleased,
    refresh() {
      refreshes++;
      return released;
    },
    check: () => undefined,
  };
  return {
    authenticator,
    /** Number of requests that wait for the tokens. */
    waiting: (): number => (isReleased ? 0 : refreshes),
    /** Ends the read of the tokens. */
    release(): void {
      isReleased = true;
      release();
    },
  };
}
