/** The settings of `serve`: one table of flags, variables and defaults, and what comes of them. */
import type { ConflictPolicy } from "../../core/store.ts";
import type { ServerLimits } from "../../server/limits.ts";
import { type LogFormat, type LogLevel, logFormats, logLevels } from "../../server/log.ts";
import { CommandError } from "../command-error.ts";
import type { Io } from "../io.ts";
import * as values from "./setting-values.ts";
import type { TlsFiles } from "../serve/tls-files.ts";
import { type Flags, resolve, type Setting, storeSetting } from "./settings.ts";
import { findTokenProblem } from "../tokens/token-text.ts";

const conflictPolicies: readonly ConflictPolicy[] = ["reject", "replace"];

/** The settings of `serve`. */
export const serveSettings = {
  host: {
    flags: "--host <host>",
    variable: "PLANTSTORE_HOST",
    help: "address to listen on",
    fallback: "127.0.0.1",
    parse: values.parseHost,
  },
  port: {
    flags: "--port <port>",
    variable: "PLANTSTORE_PORT",
    help: "port to listen on; 0 takes a free one",
    fallback: "7526",
    parse: values.parsePort,
  },
  socket: {
    flags: "--socket <path>",
    variable: "PLANTSTORE_SOCKET",
    help: "Unix socket to listen on, in place of host and port",
    fallback: "",
    shownFallback: "none",
    parse: values.parseOptional,
  },
  tlsCert: {
    flags: "--tls-cert <file>",
    variable: "PLANTSTORE_TLS_CERT",
    help: "certificate in PEM, which makes it https",
    fallback: "",
    shownFallback: "none",
    parse: values.parseOptional,
  },
  tlsKey: {
    flags: "--tls-key <file>",
    variable: "PLANTSTORE_TLS_KEY",
    help: "key of the certificate, in PEM",
    fallback: "",
    shownFallback: "none",
    parse: values.parseOptional,
  },
  basePath: {
    flags: "--base-path <path>",
    variable: "PLANTSTORE_BASE_PATH",
    help: "path in front of all others, such as /v1",
    fallback: "",
    shownFallback: "none",
    parse: values.parseBasePath,
  },
  maxBody: {
    flags: "--max-body <bytes>",
    variable: "PLANTSTORE_MAX_BODY",
    help: "largest request body, such as 64KiB",
    fallback: "1MiB",
    parse: values.parseByteSize,
  },
  maxInflight: {
    flags: "--max-inflight <n>",
    variable: "PLANTSTORE_MAX_INFLIGHT",
    help: "creates that may wait for the store",
    fallback: "4096",
    parse: values.parseInflight,
  },
  maxWaiting: {
    flags: "--max-waiting <bytes>",
    variable: "PLANTSTORE_MAX_WAITING",
    help: "bytes of all bodies that arrive or wait for the store",
    fallback: "64MiB",
    parse: values.parseMemorySize,
  },
  maxConnections: {
    flags: "--max-connections <n>",
    variable: "PLANTSTORE_MAX_CONNECTIONS",
    help: "connections; one more ends the longest idle one",
    fallback: "10000",
    parse: values.parseConnections,
  },
  requestTimeout: {
    flags: "--request-timeout <seconds>",
    variable: "PLANTSTORE_REQUEST_TIMEOUT",
    help: "time for a request to arrive; its headers have a third",
    fallback: "60",
    parse: values.parseSeconds,
  },
  idleTimeout: {
    flags: "--idle-timeout <seconds>",
    variable: "PLANTSTORE_IDLE_TIMEOUT",
    help: "time that a connection without a request is kept",
    fallback: "75",
    parse: values.parseSeconds,
  },
  shutdownTimeout: {
    flags: "--shutdown-timeout <seconds>",
    variable: "PLANTSTORE_SHUTDOWN_TIMEOUT",
    help: "time for requests under way once it is told to stop",
    fallback: "10",
    parse: values.parseSeconds,
  },
  onConflict: {
    flags: "--on-conflict <policy>",
    variable: "PLANTSTORE_ON_CONFLICT",
    help: "reject or replace, when an id comes with another plant",
    fallback: "reject",
    parse: (text: string) => values.parseChoice(text, conflictPolicies),
  },
  publicUrl: {
    flags: "--public-url <url>",
    variable: "PLANTSTORE_PUBLIC_URL",
    help: "where clients reach it, when a proxy is in front",
    fallback: "",
    shownFallback: "where it listens",
    parse: (text: string) => (text === "" ? undefined : values.parseBaseUrl(text)),
  },
  noDocs: {
    flags: "--no-docs",
    variable: "PLANTSTORE_NO_DOCS",
    help: "no page for people at / and /docs",
    fallback: "0",
    parse: values.parseSwitch,
  },
  store: storeSetting,
  metrics: {
    flags: "--metrics <where>",
    variable: "PLANTSTORE_METRICS",
    help: "GET /metrics for Prometheus, on main (here) or HOST:PORT",
    fallback: "",
    shownFallback: "none",
    parse: values.parseMetricsPlace,
  },
  logFormat: {
    flags: "--log-format <format>",
    variable: "PLANTSTORE_LOG_FORMAT",
    help: "text or json, on stderr",
    fallback: ({ stderr }: Io) => (stderr.isTTY ? "text" : "json"),
    shownFallback: "text on a terminal, else json",
    parse: (text: string) => values.parseChoice(text, logFormats),
  },
  logLevel: {
    flags: "--log-level <level>",
    variable: "PLANTSTORE_LOG_LEVEL",
    help: "error, warn, info or debug; requests are info",
    fallback: "info",
    parse: (text: string) => values.parseChoice(text, logLevels),
  },
} as const satisfies Record<string, Setting<unknown>>;

/** The flags of `serve`. */
export type ServeFlags = Omit<Flags<typeof serveSettings>, "noDocs"> & {
  /** `false` for `--no-docs`. */
  readonly docs?: boolean;
};

/** What `serve` is to do. */
export interface ServeOptions extends ServerLimits {
  /** A host name or an IP address, without brackets. */
  readonly host: string;
  /** 0 … 65535; 0 takes a free one. */
  readonly port: number;
  /** A Unix socket, in place of both. */
  readonly socketPath: string | undefined;
  /** The files of a certificate and its key, in PEM. */
  readonly tls: TlsFiles | undefined;
  /** The empty string, or a path such as `/v1`. */
  readonly basePath: string;
  /** How long requests under way may take once the server stops. */
  readonly shutdownTimeoutMs: number;
  readonly onConflict: ConflictPolicy;
  /** Where clients reach it, without a slash at the end; absent: where it listens. */
  readonly publicUrl?: string | undefined;
  /** Whether there is a page for people. */
  readonly docs: boolean;
  /** `sqlite:PATH` or `memory:`. */
  readonly storeUrl: string;
  readonly metricsPlace: values.MetricsPlace | undefined;
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
  /** A token to accept beside the issued ones. */
  readonly environmentToken?: string;
}

/**
 * What `serve` is to do: a flag wins over the environment, and that over the default.
 *
 * @throws CommandError that names the flag or the variable whose value is wrong
 */
export function resolveServeOptions(flags: ServeFlags, io: Io): ServeOptions {
  const environmentToken = io.env["PLANTSTORE_TOKEN"];
  if (environmentToken) {
    const problem = findTokenProblem(environmentToken);
    if (problem) throw new CommandError("usage", `the token in PLANTSTORE_TOKEN ${problem}`);
  }
  return {
    host: resolve(serveSettings.host, flags.host, io),
    port: resolve(serveSettings.port, flags.port, io),
    socketPath: resolve(serveSettings.socket, flags.socket, io),
    tls: resolveTls(flags, io),
    basePath: resolve(serveSettings.basePath, flags.basePath, io),
    ...resolveLimits(flags, io),
    shutdownTimeoutMs: resolve(serveSettings.shutdownTimeout, flags.shutdownTimeout, io),
    onConflict: resolve(serveSettings.onConflict, flags.onConflict, io),
    publicUrl: resolve(serveSettings.publicUrl, flags.publicUrl, io),
    docs: !resolve(serveSettings.noDocs, flags.docs === false ? "1" : undefined, io),
    storeUrl: resolve(serveSettings.store, flags.store, io),
    metricsPlace: resolve(serveSettings.metrics, flags.metrics, io),
    logFormat: resolve(serveSettings.logFormat, flags.logFormat, io),
    logLevel: resolve(serveSettings.logLevel, flags.logLevel, io),
    ...(environmentToken && { environmentToken }),
  };
}

function resolveTls(flags: ServeFlags, io: Io): TlsFiles | undefined {
  const certFile = resolve(serveSettings.tlsCert, flags.tlsCert, io);
  const keyFile = resolve(serveSettings.tlsKey, flags.tlsKey, io);
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new CommandError("usage", "--tls-cert and --tls-key belong together: give both");
  }
  if (resolve(serveSettings.socket, flags.socket, io) !== undefined) {
    throw new CommandError(
      "usage",
      "--socket stays on this machine: leave out --tls-cert, or listen on an address",
    );
  }
  return { certFile, keyFile };
}

function resolveLimits(flags: ServeFlags, io: Io): ServerLimits {
  const limits = {
    maxBodyBytes: resolve(serveSettings.maxBody, flags.maxBody, io),
    maxInflight: resolve(serveSettings.maxInflight, flags.maxInflight, io),
    maxWaitingBytes: resolve(serveSettings.maxWaiting, flags.maxWaiting, io),
    maxConnections: resolve(serveSettings.maxConnections, flags.maxConnections, io),
    requestTimeoutMs: resolve(serveSettings.requestTimeout, flags.requestTimeout, io),
    idleTimeoutMs: resolve(serveSettings.idleTimeout, flags.idleTimeout, io),
  };
  if (limits.maxWaitingBytes < limits.maxBodyBytes) {
    throw new CommandError(
      "usage",
      "--max-waiting is less than --max-body, so that the largest body would have no room: raise it",
    );
  }
  return limits;
}
