/** What `serve` is to do, out of its settings. */
import type { ConflictPolicy } from "../../core/store.ts";
import type { ServerLimits } from "../../server/limits.ts";
import type { LogFormat, LogLevel } from "../../server/ops/log.ts";
import { CommandError } from "../command-error.ts";
import type { Io } from "../io.ts";
import { type ServeFlags, serveSettings } from "../settings/serve-settings.ts";
import { resolve } from "../settings/setting.ts";
import type { MetricsPlace } from "../settings/server-values.ts";
import { findTokenProblem, trimToken } from "../../auth/token-text.ts";
import type { TlsFiles } from "./tls-files.ts";

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
  /** Time for requests in flight when the server stops. */
  readonly shutdownTimeoutMs: number;
  readonly onConflict: ConflictPolicy;
  /** Where clients reach it, without a slash at the end; absent: where it listens. */
  readonly publicUrl?: string | undefined;
  /** Whether there is a page for people. */
  readonly docs: boolean;
  /** Whose pages may use it from a browser: as a browser writes them, or `*`. */
  readonly corsOrigins: readonly string[];
  /** `sqlite:PATH`, `postgres://…` or `memory:`; may hold a password. */
  readonly storeUrl: string;
  readonly metricsPlace: MetricsPlace | undefined;
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
export function toServeOptions(flags: ServeFlags, io: Io): ServeOptions {
  const environmentToken = readEnvironmentToken(io);
  const place = flags.port === undefined ? flags.host && "--host" : "--port";
  if (flags.socket && place) {
    throw new CommandError("usage", `--socket is in place of ${place}: leave one of them out`);
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
    corsOrigins: resolve(serveSettings.corsOrigin, flags.corsOrigin, io),
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

function readEnvironmentToken({ env }: Io): string | undefined {
  const text = env["PLANTSTORE_TOKEN"];
  if (!text) return undefined;
  const token = trimToken(text);
  const problem = findTokenProblem(token);
  if (problem) throw new CommandError("usage", `the token in PLANTSTORE_TOKEN ${problem}`);
  return token;
}
