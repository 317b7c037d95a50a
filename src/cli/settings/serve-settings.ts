/** The settings of `serve`: one table of flags, variables and defaults. */
import { conflictPolicies } from "../../core/store.ts";
import { logFormats, logLevels } from "../../server/ops/log.ts";
import type { Io } from "../io.ts";
import * as server from "./server-values.ts";
import * as values from "./setting-values.ts";
import type { Flags, Setting } from "./setting.ts";
import { storeSetting } from "./reader-settings.ts";

/** The settings of `serve`. */
export const serveSettings = {
  host: {
    flags: "--host <host>",
    variable: "PLANTSTORE_HOST",
    help: "address to listen on",
    fallback: "127.0.0.1",
    parse: server.parseHost,
  },
  port: {
    flags: "--port <port>",
    variable: "PLANTSTORE_PORT",
    help: "port to listen on; 0 takes a free one",
    fallback: "7526",
    parse: server.parsePort,
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
    help: "path in front of /plants, such as /v1",
    fallback: "",
    shownFallback: "none",
    parse: server.parseBasePath,
  },
  publicUrl: {
    flags: "--public-url <url>",
    variable: "PLANTSTORE_PUBLIC_URL",
    help: "where clients reach it, when a proxy is in front",
    fallback: "",
    shownFallback: "where it listens",
    parse: (text: string) => (text === "" ? undefined : values.parseBaseUrl(text)),
  },
  onConflict: {
    flags: "--on-conflict <policy>",
    variable: "PLANTSTORE_ON_CONFLICT",
    help: "reject or replace, when an id comes with another plant",
    fallback: "reject",
    parse: (text: string) => values.parseChoice(text, conflictPolicies),
  },
  store: storeSetting,
  maxBody: {
    flags: "--max-body <bytes>",
    variable: "PLANTSTORE_MAX_BODY",
    help: "largest request body, such as 64KiB",
    fallback: "1MiB",
    parse: server.parseByteSize,
  },
  maxInflight: {
    flags: "--max-inflight <n>",
    variable: "PLANTSTORE_MAX_INFLIGHT",
    help: "creates that may wait for the store",
    fallback: "4096",
    parse: server.parseInflight,
  },
  maxWaiting: {
    flags: "--max-waiting <bytes>",
    variable: "PLANTSTORE_MAX_WAITING",
    help: "bytes of bodies and of unsent responses in memory",
    fallback: "64MiB",
    parse: server.parseMemorySize,
  },
  maxConnections: {
    flags: "--max-connections <n>",
    variable: "PLANTSTORE_MAX_CONNECTIONS",
    help: "connections; one more ends the longest idle one",
    fallback: "10000",
    parse: server.parseConnections,
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
    help: "time after which an idle connection is closed",
    fallback: "75",
    parse: values.parseSeconds,
  },
  shutdownTimeout: {
    flags: "--shutdown-timeout <seconds>",
    variable: "PLANTSTORE_SHUTDOWN_TIMEOUT",
    help: "time for requests in flight when the server stops",
    fallback: "10",
    parse: values.parseSeconds,
  },
  noDocs: {
    flags: "--no-docs",
    variable: "PLANTSTORE_NO_DOCS",
    help: "no page for people at / and /docs",
    fallback: "0",
    parse: server.parseSwitch,
  },
  corsOrigin: {
    flags: "--cors-origin <origin>",
    variable: "PLANTSTORE_CORS_ORIGIN",
    help: "origin whose pages may use it, or *; repeatable",
    fallback: "",
    shownFallback: "none",
    isRepeatable: true,
    parse: server.parseOrigins,
  },
  metrics: {
    flags: "--metrics <where>",
    variable: "PLANTSTORE_METRICS",
    help: "GET /metrics for Prometheus, on main (here) or HOST:PORT",
    fallback: "",
    shownFallback: "none",
    parse: server.parseMetricsPlace,
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

/** The headings below which help has them, each with the first of its settings, in the order of the table. */
export const serveHeadings: { readonly [Name in keyof typeof serveSettings]?: string } = {
  host: "Address:",
  onConflict: "Plants:",
  maxBody: "Limits:",
  noDocs: "In a browser:",
  metrics: "Metrics and log:",
};

/** The flags of `serve`. */
export type ServeFlags = Omit<Flags<typeof serveSettings>, "noDocs"> & {
  /** `false` for `--no-docs`. */
  readonly docs?: boolean;
};
