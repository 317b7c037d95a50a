/** The rows of the table of options for `serve`, and for the commands that open a store. `remote.ts` has the others. */
import { tokenMarker } from "../../auth/token.ts";
import { attempt } from "../../core/attempt.ts";
import { type ContractOperationId, contractOperations } from "../../core/contract.ts";
import { invalid, InvalidValue } from "../../core/messages.ts";
import { int64Max, int64Min, toInteger } from "../../core/plant.ts";
import * as types from "../../library/option-types.ts";
import {
  faultList,
  findStorePath,
  limitOptions,
  storeOptions,
  storeUrlOrPath,
} from "../../library/store-options.ts";
import type { LogLevel } from "../../server/log.ts";
import { storeForms, toFileUrl } from "../../store/store-url.ts";
import { findDataDirectory } from "../config/saved-settings.ts";
import type { Io } from "../io.ts";
import {
  createOptions,
  file,
  jsonOption,
  option,
  type Option,
  type Options,
  otherVariables,
  requestOptions,
  setting,
  toggleFlag,
  urlOption,
} from "./remote.ts";

/** The address of metrics: the main one, or one of their own. */
type MetricsAddress = "main" | { readonly host: string; readonly port: number };

/** `main`, or an address and a port such as `127.0.0.1:9526`. */
const metricsAddress: types.OptionType<MetricsAddress> = {
  parse(value) {
    if (value === "main") return value;
    const { host, port } = storeOptions;
    const [, name = "", portText = ""] = /^(.*):(\d+)$/.exec(value) ?? [];
    const own = attempt(() => ({ host: host.type.parse(name), port: port.type.parse(portText) }));
    if (own !== undefined) return own;
    throw invalid(value, "main, or an address and a port such as 127.0.0.1:9526");
  },
  format: (address) => (address === "main" ? address : `${address.host}:${address.port}`),
  choices: ["main"],
};

/** A switch for something that is on by default: 1 turns it off. */
const negatedToggle: types.OptionType<boolean> = {
  parse: (value) => !types.toggle.parse(value),
  format: (isOn) => (isOn ? "0" : "1"),
};

/** Files to read; `-` is standard input. */
const files: types.OptionType<readonly string[]> = {
  parse: (value) => (value === "" ? [] : value.split(types.valueSeparator).map(parseFile)),
  format: (paths) => paths.join(" ") || "none",
};

function parseFile(path: string): string {
  if (path !== "") return path;
  throw invalid(path, "a file, or - for standard input");
}

/** An id of a plant, as any integer in JSON: −2^63 … 2^63 − 1. */
export const plantId = types.shown((value) => {
  const id = toInteger(value);
  if (id !== undefined && id >= int64Min && id <= int64Max) return id;
  const hasLeadingZeros = /^-?0\d/.test(value);
  throw invalid(
    value,
    hasLeadingZeros
      ? "an integer without leading zeros"
      : `an integer from ${int64Min} to ${int64Max}`,
  );
});

const maxTokenName = 100;

/** The name of a token: 1 … 100 UTF-16 code units that do not look like a token. */
const tokenName = types.shown((value) => {
  if (value.startsWith(tokenMarker)) {
    throw new InvalidValue(
      `must not start with ${tokenMarker}, as tokens do: use a name such as ci`,
    );
  }
  if (value !== "" && value.length <= maxTokenName) return value;
  throw invalid(value, `a name of 1 to ${maxTokenName} characters`);
});

const address = { group: "Address:" } as const;
const plants = { group: "Plants:" } as const;
/** Limits, which few change. */
const limits = { isHidden: true } as const;
const testing = { group: "For tests of clients:" } as const;
const browser = { group: "In a browser:" } as const;
const operations = { group: "Metrics and log:" } as const;

const storeSetting = setting("--store <url>", `Store of plants: ${storeForms.any}`, {
  type: storeUrlOrPath,
  findPath: findStorePath,
  default: (io: Io) => toFileUrl(`${findDataDirectory(io)}/plants.db`),
  shownDefault: "<data dir>/plants.db",
});

export const serveOptions = {
  host: setting("--host <host>", "Address to listen on", { ...address, ...storeOptions.host }),
  port: setting("-p, --port <port>", "Port; 0 selects a free port", {
    ...address,
    ...storeOptions.port,
    default: 7526,
  }),
  socketPath: setting("--socket <path>", "Unix socket to listen on, instead of host and port", {
    ...address,
    ...file,
    conflicts: ["host", "port"],
  }),
  tlsCert: setting("--tls-cert <file>", "Certificate for HTTPS, in PEM", { ...address, ...file }),
  tlsKey: setting("--tls-key <file>", "Private key of the certificate, in PEM", {
    ...address,
    ...file,
  }),
  basePath: setting("--base-path <path>", "Prefix of the path /plants, such as /v1", {
    ...address,
    ...storeOptions.basePath,
  }),
  publicUrl: setting("--public-url <url>", "URL that clients use, if a proxy is in front", {
    ...address,
    ...storeOptions.publicUrl,
    shownDefault: "the address it listens on",
  }),
  json: toggleFlag("--json", "Print the URL and a new token as JSON", address),
  operations: setting(
    "--operations <set>",
    "Operations to serve: create, or all (list and delete too)",
    { ...plants, ...storeOptions.operations },
  ),
  onConflict: setting(
    "--on-conflict <policy>",
    "Policy for an id that belongs to a different plant: reject or replace",
    { ...plants, ...storeOptions.onConflict },
  ),
  store: { ...storeSetting, ...plants },
  isEphemeral: toggleFlag("--ephemeral", "Short for --store memory: --port 0; saves nothing", {
    ...plants,
    conflicts: ["store"],
  }),
  isDemo: toggleFlag(
    "--demo",
    "Serve a documentation site: all operations on a small store in memory, emptied hourly",
    plants,
  ),
  seeds: setting("--seed <file>", "File of plants to load at the start; repeatable", {
    ...plants,
    type: files,
    default: [],
    isRepeatable: true,
    isFile: true,
  }),
  maxBodyBytes: setting("--max-body <bytes>", "Maximum size of a request body, such as 64KiB", {
    ...limits,
    ...storeOptions.maxBodyBytes,
  }),
  maxInflight: setting("--max-inflight <n>", "Maximum number of changes that wait for the store", {
    ...limits,
    ...storeOptions.maxInflight,
  }),
  maxConnections: setting(
    "--max-connections <n>",
    "Maximum number of connections; one more closes the longest idle one",
    { ...limits, ...limitOptions.maxConnections },
  ),
  requestTimeoutMs: setting(
    "--request-timeout <time>",
    "Time to receive a request; a third of it for headers",
    { ...limits, ...limitOptions.requestTimeoutMs },
  ),
  idleTimeoutMs: setting("--idle-timeout <time>", "Time after which an idle connection is closed", {
    ...limits,
    ...limitOptions.idleTimeoutMs,
  }),
  drainMs: setting("--drain <time>", "Time for which /readyz is 503 before the server stops", {
    ...limits,
    ...limitOptions.drainMs,
  }),
  shutdownTimeoutMs: setting(
    "--shutdown-timeout <time>",
    "Time for requests in flight when the server stops",
    { ...limits, ...limitOptions.shutdownTimeoutMs },
  ),
  docs: setting("--no-docs", "Disable the documentation page at / and /docs", {
    ...browser,
    type: negatedToggle,
    default: true,
  }),
  corsOrigins: setting(
    "--cors-origin <origin>",
    "Origin whose pages may use the server, or *; repeatable",
    { ...browser, ...storeOptions.corsOrigins, isRepeatable: true },
  ),
  metricsAddress: setting(
    "--metrics <where>",
    "Serve GET /metrics for Prometheus: main or HOST:PORT",
    { ...operations, type: types.optional(metricsAddress), default: undefined },
  ),
  logFormat: setting("--log-format <format>", "Format of the log on stderr: text or json", {
    ...operations,
    type: types.choice(["text", "json"]),
    default: ({ stderr }: Io): "text" | "json" => (stderr.isTTY ? "text" : "json"),
    shownDefault: "json, or text on a terminal",
  }),
  logLevel: setting("--log-level <level>", "Minimum level to log: error, warn, info or debug", {
    ...operations,
    type: types.choice<LogLevel>(["error", "warn", "info", "debug"]),
    default: "info",
  }),
  statusMode: setting(
    "--status-mode <mode>",
    "Status of errors: contract (400), or http (401, 409, 422 and others)",
    { ...testing, ...storeOptions.statusMode },
  ),
  faults: setting(
    "--faults <list>",
    'Faults of changes, such as "latency=200ms..2s fail=5% drop=1% seed=7"',
    { ...testing, type: types.optional(faultList), default: undefined },
  ),
} as const satisfies Options;

/** The store, for the commands that open it themselves. */
export const storeOption = {
  store: { ...storeSetting, help: `Store of plants: ${storeForms.shared}` },
} as const satisfies Options;

/** The store, for the commands that replace or copy its file. */
const fileOption = {
  store: { ...storeSetting, help: `Store of plants: ${storeForms.file}` },
} as const satisfies Options;

const serverGroup = { group: "For a server with all operations:" } as const;

/** A server with all operations, for the commands that otherwise open a store. */
export const serverOptions = {
  url: {
    ...urlOption.url,
    ...serverGroup,
    help: "Server",
    shownDefault: "the last login, unless to this machine",
  },
  tokenFile: { ...createOptions.tokenFile, ...serverGroup },
  cacert: { ...createOptions.cacert, ...serverGroup },
  timeoutMs: { ...createOptions.timeoutMs, ...serverGroup },
  retries: { ...createOptions.retries, ...serverGroup },
  isVerbose: { ...createOptions.isVerbose, ...serverGroup },
} as const satisfies Options;

export const targetOptions = { ...storeOption, ...serverOptions } as const satisfies Options;

/** The format of commands that print JSON on a terminal too. */
export const csvOption = {
  csv: toggleFlag("--csv", "Print CSV with a header row, as create --csv reads it"),
} as const satisfies Options;

const afterOption = option("--after <id>", "Only plants with a larger id", { type: plantId });
const tagOption = option("--tag <text>", "Only plants with exactly this tag", {
  type: types.text,
});

export const exportOptions = {
  ...csvOption,
  after: afterOption,
  tag: tagOption,
} as const satisfies Options;

export const backupOptions = {
  isForced: toggleFlag("--force", "Replace the file if it exists"),
  ...jsonOption,
  ...fileOption,
} as const satisfies Options;

export const restoreOptions = {
  isForced: toggleFlag("--force", "Replace a store that has plants; it remains under another name"),
  ...jsonOption,
  ...fileOption,
} as const satisfies Options;

export const deleteOptions = {
  isConfirmed: toggleFlag("-y, --yes", "Delete the plants without confirmation"),
  json: toggleFlag("--json", "Print each id and whether its plant was deleted as JSON"),
} as const satisfies Options;

export const listOptions = {
  ...jsonOption,
  ...csvOption,
  count: toggleFlag("--count", "Print only the number of plants, without a limit"),
  limit: option("-n, --limit <n>", "Number of plants, up to 10000", {
    type: types.integer({ min: 1, max: 10_000 }),
    shownDefault: "100 for a table",
  }),
  after: afterOption,
  tag: tagOption,
} as const satisfies Options;

/** Lifetime of a token: 1 minute … 10 years. */
const tokenTimes = { min: types.msPerUnit.m, max: 3650 * types.msPerUnit.d };
const tokenTime = types.duration(tokenTimes, "90m, 12h or 30d");
const tokenTimeOrDay = types.duration(tokenTimes, "90m, 12h, 30d or 2030-12-31");

/** As {@link tokenTime}, also as the day at whose start in UTC it ends, such as `2026-12-31`. */
const lifetime = {
  ...tokenTimeOrDay,
  parse(text: string): number {
    if (!/^\d{4}-\d\d-\d\d$/.test(text)) return tokenTimeOrDay.parse(text);
    const end = new Date(text);
    const timeMs = end.getTime() - Date.now();
    // JavaScript takes 2030-02-31 for 2030-03-03.
    if (timeMs > 0 && end.toISOString().startsWith(text)) return timeMs;
    throw new InvalidValue(`must be a day after today (got "${text}")`);
  },
};

/** Operations, in the order of the contract. */
const operationList = {
  parse(value: string): readonly ContractOperationId[] {
    const names = value.split(",").map((name) => name.trim());
    const { all } = contractOperations;
    const isKnown = (name: string): boolean => all.some((id) => id === name);
    if (names.every(isKnown)) return all.filter((id) => names.includes(id));
    throw invalid(value, `some of ${all.join()}, separated by commas`);
  },
  format: (ids: readonly ContractOperationId[]): string => ids.join(),
  choices: contractOperations.all,
};

export const tokenIssueOptions = {
  name: option("--name <text>", "Name of the token, such as ci", { type: tokenName }),
  lifetimeMs: option("--expires <time>", "Time until the end: 90m, 12h, 30d, or 2030-12-31", {
    type: lifetime,
    shownDefault: "never",
  }),
  allow: option("--allow <operations>", `What it may do: some of ${operationList.choices.join()}`, {
    type: operationList,
    shownDefault: "all",
  }),
  json: toggleFlag("--json", "Print JSON with the token, its prefix, its times and its rights"),
  ...storeOption,
} as const satisfies Options;

export const tokenListOptions = {
  isAll: toggleFlag("--all", "Show expired and revoked tokens too"),
  ...jsonOption,
  ...storeOption,
} as const satisfies Options;

export const tokenRevokeOptions = {
  delayMs: option("--in <time>", "Time for which the token stays valid: 90m, 24h or 7d", {
    type: tokenTime,
    shownDefault: "none",
  }),
  json: toggleFlag("--json", "Print the token's name, prefix and times as JSON"),
  ...storeOption,
} as const satisfies Options;

export const statusOptions = {
  showsAll: toggleFlag("--all", "Show the settings at their defaults too"),
  json: toggleFlag("--json", "Print the report as JSON; hints say what to do"),
  ...storeOption,
  ...requestOptions,
} as const satisfies Options;

/** The options with an environment variable. */
export const settings: Options = Object.fromEntries(
  Object.entries<Option<unknown>>({ ...serveOptions, ...createOptions }).filter(
    ([, { env }]) => env !== undefined,
  ),
);

/** Finds variables that no option has. Most of them are typing errors. */
export function findUnknownVariables(
  env: Io["env"],
): readonly (readonly [name: string, problem: string])[] {
  const names = Object.values(settings).map(({ env: name = "" }) => name);
  const known = new Set([...Object.keys(otherVariables), ...names]);
  return Object.keys(env)
    .filter((name) => name.startsWith("PLANTSTORE_") && env[name] && !known.has(name))
    .toSorted()
    .map((name) => [name, "is unknown and has no effect: check its spelling"]);
}
