/** The plant store as a server: opens it, starts it, and closes it. */
import { toUnixUrl } from "../core/base-url.ts";
import type { RequestError } from "../core/errors.ts";
import { StoreError } from "../core/store.ts";
import { Admission, type ServerLoad } from "./admission.ts";
import { createHandler, type HandlerOptions } from "./handler.ts";
import { FetchTransport, type ServerFetch } from "./http/fetch-transport.ts";
import {
  type HttpServer,
  type HttpServerOptions,
  openHttpServer,
  type ServerContext,
} from "./http/http-server.ts";
import type { Journal } from "./journal.ts";
import { PageQueue } from "./page-queue.ts";
import { createReadiness, type ReadinessCheck, type ServerBackend } from "./operations.ts";
import { serverStopping } from "./response.ts";

/** A server that is open. */
export interface PlantServer {
  /** URL in front of `/plants`: scheme, host, port and base path; of a Unix socket as `parseBaseUrl` reads it. */
  readonly url: string;
  /** Name or address that it listens at; undefined for a Unix socket, and without a socket. */
  readonly host: string | undefined;
  /** Responds to a request without a socket. */
  readonly fetch: ServerFetch;
  /** Starts to serve. Up to 256 creates that arrive earlier wait, further ones get 50301. */
  start(backend: ServerBackend): void;
  readonly setCertificate: HttpServer["setCertificate"];
  readLoad(): ServerLoad;
  /** Resolves with the reason for which it is not ready, or with undefined if it is. */
  readonly checkReadiness: ReadinessCheck;
  /** Is not ready from now on, so that load balancers use another server. Requests are still accepted. */
  drain(): void;
  /**
   * Stops accepting connections, and waits for the responses in flight. Each connection may carry one more request for a moment.
   * After `timeoutMs`, requests in flight get 50300 or 50302. May be called twice. The store stays open.
   *
   * @param isClientLocal true if clients run on this machine: the moment is shorter
   */
  close(timeoutMs: number, isClientLocal?: boolean): Promise<void>;
}

/** HTTP over a Unix socket, or over no socket at all, needs some host name as well. */
const localOrigin = "http://localhost";

/**
 * Opens a server. It does not serve until {@link PlantServer.start} is called.
 *
 * @throws an error of node:net if it cannot listen (`EADDRINUSE`, `EACCES`, `ENOTFOUND` …), or of OpenSSL for an invalid
 *   certificate
 */
export async function openPlantServer(options: PlantServerOptions): Promise<PlantServer> {
  let backend: ServerBackend | undefined;
  let isDraining = false;
  let stoppedAtMs = Number.POSITIVE_INFINITY;
  let closed: Promise<unknown> | undefined;
  const { basePath, onError } = options;
  const admission = new Admission(options);
  const pages = new PageQueue(admission);
  const httpServer = options.listen === false ? undefined : await openHttpServer(options);
  const host = httpServer?.host;
  const httpUrl = (host === undefined ? localOrigin : httpServer?.origin) + basePath;
  let settleStart = (_error?: RequestError): void => {};
  const started = new Promise<RequestError | undefined>((resolve) => (settleStart = resolve));
  const readiness = createReadiness({
    backend: () => backend,
    isStopping: () => isDraining || closed !== undefined,
    onError,
  });
  const handler = createHandler({
    ...options,
    url: httpUrl,
    admission,
    pages,
    onBody: options.journal?.addBody,
    backend: () => backend,
    started,
    checkReadiness: readiness.check,
    onError(error) {
      if (error instanceof StoreError) readiness.doubt();
      onError(error);
    },
  });
  const context: ServerContext = {
    handler: options.journal?.watch(handler) ?? handler,
    admission,
    stoppedAtMs: () => stoppedAtMs,
  };
  const connections = httpServer?.serve(context);
  const transport = new FetchTransport(context, options.requestTimeoutMs);

  return {
    url: host === undefined && httpServer ? toUnixUrl(httpServer.origin, basePath) : httpUrl,
    host,
    fetch: transport.fetch,
    start(opened) {
      backend ??= opened;
      connections?.acceptAll();
      settleStart();
    },
    setCertificate: (certificate) => httpServer?.setCertificate(certificate),
    readLoad: () => admission.load,
    checkReadiness: readiness.check,
    drain() {
      isDraining = true;
    },
    async close(timeoutMs, isClientLocal) {
      if (closed === undefined) {
        stoppedAtMs = performance.now();
        settleStart(serverStopping);
        pages.stop();
        closed = Promise.all([
          connections?.stop(timeoutMs, isClientLocal),
          transport.stop(timeoutMs),
        ]).finally(() => options.faults?.stop());
      }
      await closed;
    },
  };
}

/** Options for {@link openPlantServer}. */
export interface PlantServerOptions
  extends
    HttpServerOptions,
    Omit<
      HandlerOptions,
      "url" | "admission" | "pages" | "onBody" | "backend" | "started" | "checkReadiness"
    > {
  /** `false` opens no socket: requests come only through `PlantServer.fetch`. */
  readonly listen?: boolean;
  /** Records each request, which costs time and memory. */
  readonly journal?: Journal | undefined;
}
