/** A plant server for tests, on a free port and with a memory store. */
import { createAuthenticator, mintToken } from "../../src/auth/authenticator.ts";
import type { PlantStore } from "../../src/core/store.ts";
import type { ServerBackend } from "../../src/server/operations.ts";
import { openPlantServer, type PlantServerOptions } from "../../src/server/server.ts";
import { inject } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { createCertificate } from "./certificate.ts";
import { httpStatusPorts, tlsPorts } from "./raw-http.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** How the servers of a project receive requests: see vitest.config.ts. */
    readonly transport: {
      readonly fastLane: boolean;
      readonly tls: boolean;
      /** True to send requests without a socket, where a test allows it. */
      readonly fetch: boolean;
    };
  }
}

const testCertificate = createCertificate("localhost");

/** The token that the server accepts. */
export const testToken = mintToken();

/** A server for a test. */
export type TestServer = Awaited<ReturnType<typeof startServer>>;

/** Options of a server, and the store and the authenticator that it starts with. */
type TestServerOptions = Partial<PlantServerOptions & Omit<ServerBackend, "store">> & {
  /** Methods that replace those of the memory store. */
  readonly store?: TestStore;
};

/** The part of a store that nearly every test uses, or more of it. */
type TestStore = Pick<PlantStore, "create" | "checkWritable"> & Partial<ServerBackend["store"]>;

/** Opens a server and starts it. The options override the defaults here. */
export async function startServer(options: TestServerOptions = {}) {
  const opened = await openServer(options);
  opened.start();
  return opened;
}

/** Opens a server that does not serve yet. */
export async function openServer(options: TestServerOptions = {}) {
  const { fastLane, tls, fetch: isFetch } = inject("transport");
  const store = await openStore("memory:");
  const errors: unknown[] = [];
  const opened = await openPlantServer({
    host: "127.0.0.1",
    port: 0,
    basePath: "",
    maxBodyBytes: 1024 * 1024,
    maxInflight: 1000,
    maxConnections: 10_000,
    requestTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    onConflict: "reject",
    onError: (error) => errors.push(error),
    fastLane,
    ...(tls && { certificate: testCertificate }),
    ...options,
  });
  const { authenticator = createAuthenticator(store, { ownToken: testToken }) } = options;
  const port = Number(new URL(opened.url).port);
  if (opened.url.startsWith("https:")) tlsPorts.add(port);
  if (options.statusMode === "http") httpStatusPorts.add(port);
  const server: typeof opened = {
    ...opened,
    async close(...limits) {
      await opened.close(...limits);
      // The system may give the port to a server of another kind.
      tlsPorts.delete(port);
      httpStatusPorts.delete(port);
    },
  };
  const { deletePlant, listCommitted } = store;
  const backendStore = options.store && { deletePlant, listCommitted, ...options.store };
  const start = (): void => server.start({ store: backendStore ?? store, authenticator });
  const close = async (): Promise<void> => {
    await server.close(0);
    await store.close();
  };
  return {
    url: server.url,
    port,
    /** Sends a request over HTTP, or without a socket in the project `fetch`. */
    fetch: isFetch ? server.fetch : fetch,
    /** The server itself, for tests of its stop. */
    server,
    /** The memory store; the server's own unless the options name another. */
    store,
    /** Errors that the server reported. */
    errors,
    start,
    close,
    [Symbol.asyncDispose]: close,
  };
}
