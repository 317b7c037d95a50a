/** Options of a client in a browser, which trusts the authorities of the browser. */
import { attemptOptions } from "./client-options.ts";
import { invalid, type OptionType } from "./option-types.ts";

/** `createClient` rejects certificates before, because they do not concern fetch. */
const noCertificates: OptionType<undefined> = {
  parse: (text) => noCertificates.check(text),
  check(value) {
    if (value === undefined) return undefined;
    throw invalid(value, "left out");
  },
  format: () => "none",
};

/** Options of a client, besides the URL and the token. */
export const clientOptions = {
  ...attemptOptions,
  ca: { type: noCertificates, default: undefined },
} as const;
