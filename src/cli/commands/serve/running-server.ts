/** Runs the server of `serve`: listens, opens the store, serves, and closes both. */
import { createAuthenticator } from "../../../auth/authenticator.ts";
import type { PlantStore } from "../../../core/store.ts";
import type { SeedTally } from "../../../library/seed.ts";
import type { TlsCertificate } from "../../../server/http/listener.ts";
import { type FaultKind, Faults } from "../../../server/faults.ts";
import type { Metrics } from "../../../server/ops/metrics.ts";
import type { MetricsServer } from "../../../server/ops/metrics-server.ts";
import { openPlantServer, type PlantServer } from "../../../server/server.ts";
import { openStore } from "../../../store/open-store.ts";
import { CommandError, UsageError } from "../../command-error.ts";
import { removeMemoryToken } from "../../config/credentials.ts";
import { findConfigDirectory } from "../../config/directories.ts";
import { type Io, writeText } from "../../io.ts";
import { drain } from "./drain.ts";
import { type FirstToken, issueUnsavedToken, provideFirstToken } from "./first-token.ts";
import { explainListening } from "./listen-error.ts";
import { loadMetrics, openOwnMetrics } from "./metrics.ts";
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
  let opened: PlantServer | undefined = undefined;
  const metrics = await loadMetrics(run, () => opened);
  const seeds = options.seeds.length > 0 ? await loadSeeds(run, stopped) : undefined;
  const server = await openServer(run, { certificate, metrics });
  opened = server;
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
    await server.close(run.readStopTimes().requestsMs);
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
    const token = await provideToken(options, server, store, io);
    try {
      server.start({ store, authenticator });
      await printStart({ url: server.url, host: server.host, token, seeded }, run);
      await writeText(io.stdout, `${toStartLine(server.url, token, options)}\n`);
      await stopped;
    } finally {
      // Before requests in flight are awaited, so that a second signal leaves nothing behind.
      await forgetToken(token, server.url, run);
    }
    await drain(server, run);
    log.message("info", "Stopping: waiting for requests in flight");
  } finally {
    await server.close(run.readStopTimes().requestsMs);
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

async function provideToken(
  { environmentToken, isEphemeral, store: storeUrl }: ServeOptions,
  { host, url }: PlantServer,
  store: PlantStore,
  io: Io,
): Promise<FirstToken> {
  if (environmentToken !== undefined) return { kind: "environment" };
  if (isEphemeral) return issueUnsavedToken(store);
  // Tokens are saved by the address of their server.
  if (host === undefined) return { kind: "none" };
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
  const { tls } = options;
  const onFault = (kind: FaultKind): void => metrics?.addFault(kind);
  try {
    const server = await openPlantServer({
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
    if (tls === undefined || server.host !== undefined) return server;
    await server.close(0);
    throw new UsageError(
      "the socket in LISTEN_FDS is a Unix socket, which does not support TLS: remove --tls-cert, or listen on an address",
    );
  } catch (error) {
    throw explainListening(error, options) ?? error;
  }
}
