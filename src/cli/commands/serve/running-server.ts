/** Runs the server of `serve`: listens, opens the store, serves, and closes both. */
import { createAuthenticator } from "../../../auth/authenticator.ts";
import type { PlantStore } from "../../../core/store.ts";
import type { SeedTally } from "../../../library/seed.ts";
import type { ServerLoad } from "../../../server/admission.ts";
import { type ListenAddress, maxSocketPathBytes } from "../../../server/http/listen.ts";
import type { TlsCertificate } from "../../../server/http/listener.ts";
import { type FaultKind, Faults } from "../../../server/faults.ts";
import type { Metrics } from "../../../server/ops/metrics.ts";
import type { MetricsServer } from "../../../server/ops/metrics-server.ts";
import { openPlantServer, type PlantServer } from "../../../server/server.ts";
import { openStore } from "../../../store/open-store.ts";
import { CommandError } from "../../command-error.ts";
import { removeMemoryToken } from "../../config/credentials.ts";
import { findConfigDirectory } from "../../config/directories.ts";
import { type Io, writeText } from "../../io.ts";
import { type FirstToken, issueUnsavedToken, provideFirstToken } from "./first-token.ts";
import type { ServeOptions, ServerRun } from "./serve-options.ts";
import type { Seeds } from "./seeds.ts";
import { printStart } from "./start-messages.ts";
import type { TlsFiles } from "./tls-files.ts";

/**
 * Serves until `stopped` resolves. Listens before it opens the store, so that no store is created if the port is in use.
 *
 * @param onOpen receives the server once it listens
 * @throws CommandError, StoreError if the server cannot start
 */
export async function runServer(
  run: ServerRun,
  stopped: Promise<void>,
  onOpen: (server: PlantServer) => void,
): Promise<void> {
  const { options, log } = run;
  const certificate = options.tls && (await readCertificate(options.tls));
  let readLoad = (): ServerLoad | undefined => undefined;
  const metrics = await loadMetrics(options, () => readLoad());
  const seeds = options.seeds.length > 0 ? await loadSeeds(run, stopped) : undefined;
  const server = await openServer(run, { certificate, metrics });
  readLoad = () => server.readLoad();
  let metricsServer: MetricsServer | undefined;
  try {
    onOpen(server);
    metricsServer = await openOwnMetrics(metrics, run);
    await seeds?.check();
    const store = await openStore(options.store, {
      onCommit: metrics?.addCommit,
      onWarning: (message) => log.message("warn", message),
    });
    try {
      const seeded = await seeds?.store(store);
      if (seeds?.isStopped !== true) await serveStore({ store, server, seeded }, stopped, run);
    } finally {
      await store.close();
    }
  } finally {
    await server.close(run.readStopTimeMs());
    metricsServer?.close();
  }
}

/** Parts of a server that is about to serve. */
interface Parts {
  readonly store: PlantStore;
  readonly server: PlantServer;
  /** Undefined without seeds. */
  readonly seeded: SeedTally | undefined;
}

async function serveStore(
  { store, server, seeded }: Parts,
  stopped: Promise<void>,
  run: ServerRun,
): Promise<void> {
  const { options, io, log } = run;
  const authenticator = createAuthenticator({
    listTokens: () => store.listTokens(),
    noteTokenUses: (digests, day) => store.noteTokenUses(digests, day),
    ownToken: options.environmentToken,
  });
  try {
    const token = await provideToken(options, server.url, store, io);
    try {
      server.start({ store, authenticator });
      await printStart({ url: server.url, token, seeded }, run);
      await writeText(io.stdout, `${toStartLine(server.url, token, options)}\n`);
      await stopped;
    } finally {
      // Before requests in flight are awaited, so that a second signal leaves nothing behind.
      await forgetToken(token, server.url, run);
    }
    log.message("info", "Stopping: waiting for requests in flight");
  } finally {
    await server.close(run.readStopTimeMs());
    await authenticator.flushUses();
  }
}

/** Reads the certificate and its key. @throws CommandError */
export async function readCertificate(files: TlsFiles): Promise<TlsCertificate> {
  const { readTlsFiles } = await import("./tls-files.ts");
  return readTlsFiles(files);
}

/** Loads the code that most starts do not need. */
async function loadSeeds(run: ServerRun, stopped: Promise<void>): Promise<Seeds> {
  const { openSeeds } = await import("./seeds.ts");
  return openSeeds(run, stopped);
}

/** @param readLoad as {@link PlantServer.readLoad}; undefined before the server is open */
async function loadMetrics(
  { metricsPlace }: ServeOptions,
  readLoad: () => ServerLoad | undefined,
): Promise<Metrics | undefined> {
  if (metricsPlace === undefined) return undefined;
  const { createMetrics } = await import("../../../server/ops/metrics.ts");
  return createMetrics(readLoad);
}

async function provideToken(
  { environmentToken, isEphemeral, socketPath, store: storeUrl }: ServeOptions,
  url: string,
  store: PlantStore,
  io: Io,
): Promise<FirstToken> {
  if (environmentToken !== undefined) return { kind: "environment" };
  if (isEphemeral) return issueUnsavedToken(store);
  if (socketPath !== undefined) return { kind: "none" };
  const { origin } = new URL(url);
  return provideFirstToken(store, origin, findConfigDirectory(io), storeUrl === "memory:");
}

/** Removes the saved token of a `memory:` store. */
async function forgetToken(token: FirstToken, url: string, { io, log }: ServerRun): Promise<void> {
  if (token.kind !== "issued" || token.saved !== "untilStop") return;
  try {
    await removeMemoryToken(findConfigDirectory(io), new URL(url).origin, token.token);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    log.message("warn", error.message);
  }
}

/** The line on stdout. */
function toStartLine(url: string, token: FirstToken, { json }: ServeOptions): string {
  if (!json) return url;
  return JSON.stringify({ url, ...(token.kind === "issued" && { token: token.token }) });
}

/** Opens the server, which does not serve yet. */
async function openServer(
  { options, log }: ServerRun,
  parts: {
    readonly certificate: TlsCertificate | undefined;
    readonly metrics: Metrics | undefined;
  },
): Promise<PlantServer> {
  const { certificate, metrics } = parts;
  const onFault = (kind: FaultKind): void => metrics?.addFault(kind);
  try {
    return await openPlantServer({
      ...options,
      faults: options.faults && new Faults(options.faults, onFault),
      certificate,
      onError: (error) => log.trouble(error),
      onResponse(record) {
        log.request(record);
        metrics?.addRequest(record);
      },
      metrics: options.metricsPlace === "main" ? metrics : undefined,
    });
  } catch (error) {
    throw explainListening(error, options) ?? error;
  }
}

async function openOwnMetrics(
  metrics: Metrics | undefined,
  { options: { metricsPlace }, log }: ServerRun,
): Promise<MetricsServer | undefined> {
  if (metrics === undefined || metricsPlace === undefined || metricsPlace === "main") {
    return undefined;
  }
  const { openMetricsServer } = await import("../../../server/ops/metrics-server.ts");
  try {
    const server = await openMetricsServer(metrics, metricsPlace);
    log.message("info", `Metrics are at ${server.url}`);
    return server;
  } catch (error) {
    const flags = { host: "--metrics", port: "--metrics" };
    throw explainListening(error, metricsPlace, flags) ?? error;
  }
}

/** The flags for an address and a port. */
interface PlaceFlags {
  readonly host: string;
  readonly port: string;
}

/**
 * Explains an error of listening.
 *
 * @param flags the flags for another address; by default those of the server itself
 * @returns undefined for any other error
 */
function explainListening(
  error: unknown,
  place: ListenAddress,
  flags: PlaceFlags = { host: "--host", port: "--port" },
): CommandError | undefined {
  const explanation = toExplanation((error as NodeJS.ErrnoException).code, place, flags);
  if (explanation === undefined) return undefined;
  return new CommandError("internal", explanation, { cause: error });
}

function toExplanation(
  code: string | undefined,
  { host, port, socketPath }: ListenAddress,
  flags: PlaceFlags,
): string | undefined {
  if (socketPath !== undefined) {
    if (code === "EADDRINUSE") {
      return `${socketPath} is in use or is another kind of file: choose another path with --socket`;
    }
    if (code === undefined || !/^E[A-Z]+$/.test(code)) return undefined;
    return `cannot create ${socketPath} (${code}): choose a path of at most ${maxSocketPathBytes} bytes in an existing, writable directory`;
  }
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is already in use on ${host}: stop the other process, or choose another port with ${flags.port} (0 selects a free port)`;
    case "EACCES":
      return `not permitted to listen on port ${port}: choose a port above 1023 with ${flags.port}`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${host} is not an address of this machine: choose another with ${flags.host}`;
    default:
      return undefined;
  }
}
