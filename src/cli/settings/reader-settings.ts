/** The settings of the commands that work on a store itself, without a server: mostly they read it. */
import { describeStoreUrl } from "../../store/store-url.ts";
import type { Io } from "../io.ts";
import { findDataDirectory } from "./directories.ts";
import { type Setting, type Flags, resolve } from "./setting.ts";
import { checkStoreUrl } from "./store-values.ts";

/** Where plants are kept. */
export const storeSetting = {
  flags: "--store <url>",
  variable: "PLANTSTORE_STORE",
  help: "where plants are kept: sqlite:PATH, postgres:// or memory:",
  fallback: (io: Io) => `sqlite:${findDataDirectory(io)}/plants.db`,
  shownFallback: "<data dir>/plants.db",
  parse: checkStoreUrl,
  show: describeStoreUrl,
} as const satisfies Setting<string>;

/** The settings of such a command; memory: is none of its stores. */
export const readerSettings = {
  store: { ...storeSetting, help: "where plants are kept: sqlite:PATH or postgres://" },
} as const satisfies Record<string, Setting<unknown>>;

/** How many plants `list` prints unless it is told. */
export const defaultListLimit = 100;

/** The flags of such a command. */
export type ReaderFlags = Flags<typeof readerSettings>;

/** The flags of `list`. */
export interface ListFlags extends ReaderFlags {
  readonly limit?: string;
  readonly after?: string;
  readonly tag?: string;
}

/**
 * The URL of the store: a flag wins over the environment, and that over the default.
 *
 * @throws CommandError that names the flag or the variable whose value is wrong
 */
export function resolveStoreUrl(flags: ReaderFlags, io: Io): string {
  return resolve(readerSettings.store, flags.store, io);
}
