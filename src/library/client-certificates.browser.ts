/** Options of a client in a browser, which trusts the authorities of the browser. */
import { attemptOptions } from "./client-options.ts";

const none = (): undefined => undefined;

/** Options of a client, besides the URL and the token. `createClient` rejects certificates before it checks options. */
export const clientOptions = {
  ...attemptOptions,
  ca: { type: { parse: none, check: none, format: () => "none" }, default: undefined },
} as const;
