/** Reads the options of `serve`, and checks their combinations. */
import { randomInt } from "node:crypto";
import { findTokenProblem, trimToken } from "../../../auth/token.ts";
import { quoteInput } from "../../../core/messages.ts";
import type { FaultRates } from "../../../server/faults.ts";
import type { TlsCertificate } from "../../../server/http/http-server.ts";
import type { Log } from "../../../server/log.ts";
import type { PlantServer } from "../../../server/server.ts";
import type { StoreKind } from "../../../core/store.ts";
import { parseStoreUrl } from "../../../store/store-url.ts";
import type { Run } from "../../command.ts";
import { CommandError, UsageError } from "../../command-error.ts";
import type { Io } from "../../io.ts";
import { bytesPerUnit, checkFaults, maxFaultSeed } from "../../../library/store-options.ts";
import { serveOptions } from "../../options/local.ts";
import { toLongFlag } from "../../options/remote.ts";
import { type Flags, readOptions, type Values } from "../../options/values.ts";

type ServeSettings = Values<typeof serveOptions>;

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ServeOptions extends Omit<ServeSettings, "tlsCert" | "tlsKey" | "faults"> {
  /** Undefined if no fault is on. */
  readonly faults: FaultRates | undefined;
  readonly tls: TlsFiles | undefined;
  /** Descriptor of a socket that was passed to this process, instead of host, port and socket path. */
  readonly socketFd: number | undefined;
  /** A token to accept in addition to the issued ones. */
  readonly environmentToken: string | undefined;
  /** The value of `--max-connections`, if the process may not open so many sockets. */
  readonly unmetConnections: number | undefined;
  readonly storeKind: StoreKind;
}

export interface ServerRun extends Pick<Run, "io" | "terminal"> {
  readonly options: ServeOptions;
  readonly log: Log;
  readonly countDroppedLines: () => number;
  /** Aborted once the server is to stop. */
  readonly stop: AbortSignal;
  /** Undefined before it listens. */
  server?: PlantServer;
  /** The certificate in use, which SIGHUP replaces; undefined without TLS. */
  certificate?: TlsCertificate;
}

export function readServeOptions({ flags, io }: Pick<Run, "flags" | "io">): ServeOptions {
  const environmentToken = readEnvironmentToken(io);
  const given = applyDemo(readOptions(serveOptions, flags, io), flags, io);
  const { tlsCert, tlsKey, faults, ...options } = applyEphemeral(given, flags);
  const socketFd = findPassedSocket(io);
  if (socketFd !== undefined) assertNoAddress(flags);
  const { socketPath } = options;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new UsageError("--tls-cert and --tls-key must be set together");
  }
  if (tlsCert !== undefined && socketPath !== undefined && socketFd === undefined) {
    throw new UsageError(
      "--socket does not support TLS: remove --tls-cert, or listen on an address",
    );
  }
  const tls = tlsCert && tlsKey ? { certFile: tlsCert, keyFile: tlsKey } : undefined;
  const { kind: storeKind } = parseStoreUrl(options.store);
  const maxConnections = Math.min(options.maxConnections, toMaxConnections(io));
  return {
    ...options,
    maxConnections,
    unmetConnections: maxConnections < options.maxConnections ? options.maxConnections : undefined,
    tls,
    faults: toFaults(faults),
    environmentToken,
    socketFd,
    storeKind,
  };
}

/** Descriptors for up to 100 files of the process, 100 rejected connections, and 100 connections that still drain. */
const reservedDescriptors = 300;

/** Returns how many connections can be open at once. Without a free descriptor, clients are reset without a log line. */
function toMaxConnections(io: Io): number {
  const limit = io.readOpenFilesLimit();
  return Math.max(limit - reservedDescriptors, Math.ceil(limit / 4));
}

function toFaults(given: ServeSettings["faults"]): FaultRates | undefined {
  const faults = checkFaults({ seed: randomInt(maxFaultSeed), ...given });
  const { seed: _seed, pageStatus: _status, ...kinds } = faults;
  const isOn = Object.values(kinds).some((value) => !["", "0"].includes(String(value)));
  return isOn ? faults : undefined;
}

/** What `--demo` fixes, because everybody may change the plants of the others. */
const demoValues = {
  store: "memory:",
  onConflict: "replace",
  operations: "all",
  maxBodyBytes: 16 * bytesPerUnit.KiB,
} as const satisfies Partial<ServeSettings>;

function applyDemo(options: ServeSettings, flags: Flags, io: Io): ServeSettings {
  if (!options.isDemo) return options;
  for (const [name, value] of Object.entries(demoValues)) {
    const { env, flags: flag } = serveOptions[name as keyof typeof demoValues];
    const isFlag = flags[name] !== undefined;
    if (options[name as keyof typeof demoValues] === value || !(isFlag || io.env[env])) continue;
    const source = isFlag ? toLongFlag(flag) : env;
    throw new UsageError(`--demo replaces ${source}: remove one of them`);
  }
  const corsOrigins = options.corsOrigins.length > 0 ? options.corsOrigins : ["*"];
  return { ...options, ...demoValues, corsOrigins };
}

function applyEphemeral(options: ServeSettings, { port }: Flags): ServeSettings {
  if (!options.isEphemeral) return options;
  return { ...options, store: "memory:", ...(port === undefined && { port: 0 }) };
}

/** The first descriptor that is passed, after stdin, stdout and stderr. */
const firstFd = 3;

/**
 * Finds the descriptor of the socket that a service manager passed to this process (socket activation, sd_listen_fds(3)).
 *
 * @returns undefined without one: `LISTEN_PID` of another process means that the variables were inherited
 */
function findPassedSocket({ env, processId }: Pick<Io, "env" | "processId">): number | undefined {
  const { LISTEN_FDS: count = "0", LISTEN_PID: owner } = env;
  if (owner !== String(processId) || count === "" || count === "0") return undefined;
  if (count === "1") return firstFd;
  throw new CommandError(
    "usage",
    `expected one socket but LISTEN_FDS is "${quoteInput(count)}": keep one Listen… line in the socket unit`,
  );
}

/** Variables and defaults give way to a passed socket; a flag was meant for this very run. */
function assertNoAddress({ socketPath, port, host }: Flags): void {
  const given = Object.entries({ "--socket": socketPath, "--port": port, "--host": host });
  const [flag] = given.find(([, value]) => value !== undefined) ?? [];
  if (flag === undefined) return;
  throw new UsageError(`the socket in LISTEN_FDS replaces ${flag}: remove ${flag}`);
}

function readEnvironmentToken({ env }: Io): string | undefined {
  const text = env["PLANTSTORE_TOKEN"];
  if (!text) return undefined;
  const token = trimToken(text);
  const problem = findTokenProblem(token);
  if (problem) throw new CommandError("usage", `the token in PLANTSTORE_TOKEN ${problem}`);
  return token;
}
