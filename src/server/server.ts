/** The plant store as an HTTP server on node:http. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Authenticator } from "../auth/authenticator.ts";
import { Refusal } from "../core/errors.ts";
import { type ConflictPolicy, type PlantStore, StoreError } from "../core/store.ts";
import { answerAfterOthers, createBrokenConnectionListener } from "./broken-connections.ts";
import { createConnectionCloser } from "./connection-closer.ts";
import { type CreateContext, createPlant } from "./create-plant.ts";
import { Exchange, OpenExchanges } from "./exchange.ts";
import { maxHeaderBytes, maxTargetBytes, readHead } from "./headers.ts";
import { Inflight } from "./inflight.ts";
import { createReadinessCheck } from "./readiness.ts";
import { type Answer, sendAnswer, toErrorAnswer, toStatusAnswer } from "./reply.ts";
import { createRouter, MethodRefusal } from "./routes.ts";
import { describeServer, showServer } from "./self-description.ts";

/** What a server is made of, and where it listens. */
export interface PlantServerOptions {
  /** A name or an address; it never listens wider than this. */
  readonly host: string;
  /** 0 … 65535; 0 takes a free one. */
  readonly port: number;
  readonly store: Pick<PlantStore, "create" | "checkWritable">;
  readonly authenticator: Pick<Authenticator, "check">;
  /** In front of `/plants`: empty, or with a slash at its beginning and none at its end. */
  readonly basePath: string;
  /** The most bytes of a body. */
  readonly maxBodyBytes: number;
  /** The most creates that wait for the store; one more is refused with 50301. */
  readonly maxInflight: number;
  /** What happens to a create of an id that belongs to a different plant. */
  readonly onConflict: ConflictPolicy;
  /** Where clients reach it, with the base path, when that is not where it listens. */
  readonly publicUrl?: string | undefined;
  /** `false`: no page for people at `/` and `/docs`. */
  readonly docs?: boolean;
  /** Told of what is answered with 50000, or is the store's trouble; it must not throw. */
  readonly onError: (error: unknown) => void;
  /**
   * Done once the server listens, with its URL; requests that arrive before it has ended wait for it. Its failure is one
   * of opening.
   */
  readonly prepare?: (url: string) => Promise<void>;
  /** How long a whole request may take to arrive; its headers may take a third of it. */
  readonly requestTimeoutMs?: number;
}

/** A server that listens. */
export interface PlantServer {
  /** Where `/plants` is: scheme, host, port and base path. */
  readonly url: string;
  /**
   * Stops: no new connections and no new work, requests under way are answered. After `timeoutMs` what is left is cut
   * off. May be called twice. The store stays open.
   */
  close(timeoutMs: number): Promise<void>;
}

const defaultRequestTimeoutMs = 60_000;

/**
 * Starts a server.
 *
 * @throws the error of node:net when it can't listen there (`EADDRINUSE`, `EACCES`, `ENOTFOUND` …), and that of `prepare`
 */
export async function openPlantServer(options: PlantServerOptions): Promise<PlantServer> {
  const requestTimeout = options.requestTimeoutMs ?? defaultRequestTimeoutMs;
  const exchanges = new OpenExchanges();
  let closing: Promise<void> | undefined;
  let preparing: Promise<void> | undefined;
  const isStopping = (): boolean => closing !== undefined;
  const inflight = new Inflight(options.maxInflight);
  const context: CreateContext = { ...options, inflight, isStopping };
  const findOperation = createRouter(options.basePath, options.docs ?? true);
  const checkReadiness = createReadinessCheck(options.store, isStopping);

  const server = createServer({
    // Far above what is allowed, so that mostly readHead tells which of the limits was passed.
    maxHeaderSize: 4 * (maxTargetBytes + maxHeaderBytes),
    requestTimeout,
    headersTimeout: requestTimeout / 3,
    connectionsCheckingInterval: Math.min(1000, requestTimeout / 3),
    // node:http would answer without a body; ours has one.
    requireHostHeader: false,
  });
  // A client that never reads its answers would keep its connection for ever.
  server.timeout = 2 * requestTimeout;
  // Header bytes are bounded; a bound on their count would drop the rest silently.
  server.maxHeadersCount = 0;
  // A client may close its side after the request and still wait for the answer.
  Object.assign(server, { httpAllowHalfOpen: true });

  async function answer(exchange: Exchange): Promise<Answer> {
    const head = readHead(exchange.request);
    const { method = "", url: target = "", headers } = exchange.request;
    switch (findOperation({ method, target, accept: headers.accept ?? "" })) {
      case "create":
        return createPlant(exchange, head, context);
      case "health":
        return toStatusAnswer("ok");
      case "readiness":
        return checkReadiness().then(
          () => toStatusAnswer("ready"),
          (error: unknown) => toErrorAnswer(toRefusal(error, options.onError), 503),
        );
      case "description":
        return describeServer({ ...options, url }, headers.host);
      case "page":
        return showServer({ ...options, url }, headers.host);
    }
  }
  async function serve(exchange: Exchange): Promise<void> {
    exchanges.add(exchange);
    if (preparing !== undefined) await preparing;
    const given = await answer(exchange).catch((error: unknown) =>
      toErrorAnswer(toRefusal(error, options.onError)),
    );
    const maxDrainBytes = options.maxBodyBytes;
    // What was pipelined behind this request is under way as well, and is answered before the connection ends.
    const isLast = isStopping() && exchanges.on(exchange.request.socket).at(-1) === exchange;
    await sendAnswer(exchange, given, { isLast, maxDrainBytes });
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    serve(new Exchange(request, response, false)).catch(options.onError);
  };
  const onAwaitedContinue = (request: IncomingMessage, response: ServerResponse): void => {
    serve(new Exchange(request, response, true)).catch(options.onError);
  };
  server.on("request", onRequest);
  server.on("checkContinue", onAwaitedContinue);
  server.on("checkExpectation", onRequest);
  server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
    const refusal = new MethodRefusal("no such method: CONNECT opens no tunnel here", "POST");
    answerAfterOthers(exchanges.on(socket), socket, refusal);
  });
  server.on("clientError", createBrokenConnectionListener(exchanges));
  const closeConnections = createConnectionCloser(server);

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.host, port: options.port }, () => {
      server.off("error", reject);
      server.on("error", options.onError);
      resolve();
    });
  });

  const url = toOrigin(options.host, server.address() as AddressInfo) + options.basePath;
  const close = (timeoutMs: number): Promise<void> => (closing ??= closeConnections(timeoutMs));
  try {
    preparing = options.prepare?.(url);
    await preparing;
    preparing = undefined;
  } catch (error) {
    await close(0);
    throw error;
  }
  return { url, close };
}

/** What a client is told of a failure: of one that is not its own, nothing but what it can do. */
function toRefusal(error: unknown, onError: (error: unknown) => void): Refusal {
  if (error instanceof Refusal) return error;
  onError(error);
  switch (error instanceof StoreError ? error.reason : undefined) {
    case "full":
      return new Refusal("storageFull", "the storage is full or read-only: try again later");
    case "busy":
      return new Refusal("overloaded", "the storage is busy: try again");
    case "closed":
      return new Refusal("shuttingDown", "the server is stopping: try again");
    default:
      return new Refusal("unexpected", "the server failed unexpectedly: try again");
  }
}

/** A server that listens on every address is reached through the loopback one. */
function toOrigin(host: string, { port }: AddressInfo): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const name = reachable.includes(":") ? `[${reachable}]` : reachable;
  return new URL(`http://${name}:${port}`).origin;
}
