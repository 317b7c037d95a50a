/** The settings of the commands that talk to a server, and what comes of them. */
import type { Io } from "../io.ts";
import { findConfigDirectoryIfAny } from "./directories.ts";
import { readSavedSettings, toSettingsFile } from "./saved-settings.ts";
import * as values from "./setting-values.ts";
import {
  type Setting,
  type GivenText,
  type Flags,
  resolve,
  findText,
  parseValue,
} from "./setting.ts";
import type { ReaderFlags } from "./reader-settings.ts";

/** The settings of a command that talks to a server. */
export const clientSettings = {
  url: {
    flags: "--url <url>",
    variable: "PLANTSTORE_URL",
    help: "the plant store, with its base path if it has one",
    saved: findSavedUrl,
    fallback: "http://127.0.0.1:7526",
    shownFallback: "that of the last login, or http://127.0.0.1:7526",
    parse: values.parseBaseUrl,
  },
  timeout: {
    flags: "--timeout <seconds>",
    variable: "PLANTSTORE_TIMEOUT",
    help: "longest time that one attempt may take",
    fallback: "10",
    parse: values.parseSeconds,
  },
  retry: {
    flags: "--retry <n>",
    variable: "PLANTSTORE_RETRY",
    help: "attempts after the first, while the store is unavailable",
    fallback: "2",
    shownFallback: "2, of many plants 8",
    parse: values.parseCount,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** The flags of `login`; of them `logout` has `--url` alone. */
export type LoginFlags = Flags<Pick<typeof clientSettings, "url" | "timeout">>;

/** The flags of `status`. */
export interface StatusFlags extends LoginFlags {
  readonly json?: boolean;
}

/** The flags of `doctor`. */
export interface DoctorFlags extends LoginFlags, ReaderFlags {
  readonly json?: boolean;
}

/** The flags of `openapi`. */
export interface OpenApiFlags {
  readonly url?: string;
  readonly yaml?: true;
}

/** Which plant store is meant, and where that is said. */
export interface MeantStore {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** As `--url`, or `the default`. */
  readonly urlSource: string;
}

/** Where a token is tried. */
export interface LoginOptions extends MeantStore {
  /** For each attempt. */
  readonly timeoutMs: number;
}

/** How plants are sent. */
export interface ClientOptions extends LoginOptions {
  /** Attempts after the first. */
  readonly retries: number;
}

/**
 * Which plant store is meant: a flag wins over the environment, that over the last login, and that over the default.
 *
 * @throws CommandError that names the source whose value is wrong
 */
export function resolveUrl(flags: Pick<LoginFlags, "url">, io: Io): MeantStore {
  const { text, source } = findText(clientSettings.url, flags.url, io);
  return { baseUrl: parseValue(source, text, clientSettings.url.parse), urlSource: source };
}

/** As {@link resolveUrl}, with the settings of a command that sends one request. */
export function resolveLoginOptions(flags: LoginFlags, io: Io): LoginOptions {
  return {
    ...resolveUrl(flags, io),
    timeoutMs: resolve(clientSettings.timeout, flags.timeout, io),
  };
}

/** As {@link resolveLoginOptions}, with how often a request is repeated. */
export function resolveClientOptions(flags: Flags<typeof clientSettings>, io: Io): ClientOptions {
  return {
    ...resolveLoginOptions(flags, io),
    retries: resolve(clientSettings.retry, flags.retry, io),
  };
}

function findSavedUrl(io: Io): GivenText | undefined {
  const directory = findConfigDirectoryIfAny(io);
  if (directory === undefined) return undefined;
  const { url } = readSavedSettings(directory);
  return url === undefined
    ? undefined
    : { text: url, source: `the url in ${toSettingsFile(directory)}` };
}
