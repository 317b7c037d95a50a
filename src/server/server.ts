/** The plant store as an HTTP server on node:http. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Server as TlsServer } from "node:tls";
import type { Authenticator } from "../auth/authenticator.ts";
import { Refusal } from "../core/errors.ts";
import { type ConflictPolicy, type PlantStore, StoreError } from "../core/store.ts";
import { answerAfterOthers, createBrokenConnectionListener } from "./broken-connections.ts";
import { BodyMemory } from "./body-memory.ts";
import { closeConnections } from "./connection-closer.ts";
import { createCorsPolicy } from "./cors.ts";
import { stopReading } from "./parser-stop.ts";
import { type AnswerAndClose, Connections, tooManyAtATime } from "./connections.ts";
import { type CreateContext, createPlant } from "./create-plant.ts";
import { Exchange } from "./exchange.ts";
import { type ExchangeRecord, toExchangeRecord, toUnreadRecord } from "./exchange-record.ts";
import { listen, type ListenPlace } from "./listening.ts";
import { makeRequestId } from "./request-id.ts";
import { createHttpServer, type TlsCertificate } from "./http-listener.ts";
import { Inflight } from "./inflight.ts";
import type { ServerLimits, ServerLoad } from "./limits.ts";
import type { Metrics } from "./metrics.ts";
import { createReadinessCheck } from "./readiness.ts";
import {
  type Answer,
  sendAnswer,
  sendLastAnswer,
  toErrorAnswer,
  toOptionsAnswer,
  toStatusAnswer,
} from "./reply.ts";
import { createRouter, MethodRefusal } from "./routes.ts";
import { createSelfDescription } from "./self-description.ts";

/** What a server is made of, and where it listens. */
export interface PlantServerOptions extends ServerLimits, ListenPlace {
  /** Makes it speak HTTPS. */
  readonly certificate?: TlsCertificate | undefined;
  readonly store: Pick<PlantStore, "create" | "checkWritable">;
  readonly authenticator: Pick<Authenticator, "check">;
  /** In front of `/plants`: empty, or with a slash at its beginning and none at its end. */
  readonly basePath: string;
  /** What happens to a create of an id that belongs to a different plant. */
  readonly onConflict: ConflictPolicy;
  /** Where clients reach it, with the base path, when that is not where it listens. */
  readonly publicUrl?: string | undefined;
  /** `false`: no page for people at `/` and `/docs`. */
  readonly docs?: boolean;
  /** Whose pages may use it from a browser: origins as a browser writes them, or `*` for any. */
  readonly corsOrigins?: readonly string[];
  /** Told of what is answered with 50000, or is the store's trouble; it must not throw. */
  readonly onError: (error: unknown) => void;
  /** Told of each request once its answer is known; it must not throw. */
  readonly onExchange?: ((record: ExchangeRecord) => void) | undefined;
  /** What `GET /metrics` gives to anybody who asks; without it there is no such path. */
  readonly metrics?: Pick<Metrics, "contentType" | "render"> | undefined;
  /**
   * Done once the server listens, with its URL; requests that arrive before it has ended wait for it. Its failure is one
   * of opening.
   */
  readonly prepare?: (url: string) => Promise<void>;
}

/** A server that listens. */
export interface PlantServer {
  /** Where `/plants` is: scheme, host, port and base path; of a Unix socket `unix:` and its path. */
  readonly url: string;
  /**
   * Shows another certificate to those who connect from now on.
   *
   * @throws the error of OpenSSL when it is none; the earlier one stays
   */
  setCertificate(certificate: TlsCertificate): void;
  /** What is under way now. */
  readLoad(): ServerLoad;
  /**
   * Stops: no new connections and no new work, requests under way are answered. After `timeoutMs` what is left is cut
   * off. May be called twice. The store stays open.
   */
  close(timeoutMs: number): Promise<void>;
}

/**
 * Starts a server.
 *
 * @throws the error of node:net when it can't listen there (`EADDRINUSE`, `EACCES`, `ENOTFOUND` …), and that of `prepare`
 */
export async function openPlantServer(options: PlantServerOptions): Promise<PlantServer> {
  let closing: Promise<void> | undefined;
  let preparing: Promise<void> | undefined;
  const isStopping = (): boolean => closing !== undefined;
  const inflight = new Inflight(options.maxInflight);
  const memory = new BodyMemory(options.maxWaitingBytes, options.requestTimeoutMs / 12);
  const context: CreateContext = { ...options, inflight, memory, isStopping };
  const addCors = createCorsPolicy(options.corsOrigins ?? []);
  const findRoute = createRouter(options.basePath, {
    hasPage: options.docs ?? true,
    hasMetrics: options.metrics !== undefined,
    hasOptions: addCors !== undefined,
  });
  const checkReadiness = createReadinessCheck(options.store, isStopping);

  const isEncrypted = options.certificate !== undefined;
  const server = createHttpServer(options, options.certificate);
  const answerAndClose: AnswerAndClose = (socket, refusal) => {
    if (!socket.writable) return;
    const last = toErrorAnswer(refusal);
    const requestId = makeRequestId();
    options.onExchange?.(toUnreadRecord(last, requestId));
    sendLastAnswer(socket, last, requestId);
  };
  const connections = new Connections(server, options.maxConnections, isEncrypted, answerAndClose);

  async function answer(exchange: Exchange): Promise<Answer> {
    const { head, request } = exchange;
    if (head.refusal !== undefined) throw head.refusal;
    if (exchange.isExcess) throw tooManyAtATime();
    const { method = "", url: target = "", headers } = request;
    const { operation, methods } = findRoute({ method, target, accept: headers.accept ?? "" });
    exchange.operation = operation;
    switch (operation) {
      case "create":
        return createPlant(exchange, context);
      case "health":
        return toStatusAnswer("ok");
      case "readiness":
        return checkReadiness().then(
          () => toStatusAnswer("ready"),
          (error: unknown) => toErrorAnswer(toRefusal(error, options.onError), 503),
        );
      case "metrics":
        return toMetricsAnswer(options.metrics);
      case "description":
        return selfDescription.describe(headers.host);
      case "page":
        return selfDescription.show(headers.host);
      case "options":
        return toOptionsAnswer(methods);
    }
  }
  async function serve(exchange: Exchange): Promise<void> {
    if (preparing !== undefined) await preparing;
    const bare = await answer(exchange).catch((error: unknown) =>
      toErrorAnswer(toRefusal(error, options.onError)),
    );
    const given = addCors?.(bare, exchange.request.headers.origin) ?? bare;
    connections.answered(exchange);
    options.onExchange?.(toExchangeRecord(exchange, given));
    const { connection } = exchange;
    // What was pipelined behind this request is under way as well, and is answered before the connection ends.
    const isLast =
      (connection.isEnding || isStopping()) && connection.exchanges.at(-1) === exchange;
    await sendAnswer(exchange, given, { isLast, maxDrainBytes: options.maxBodyBytes });
  }
  function start(
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ): void {
    const connection = connections.of(request.socket);
    if (connection === undefined || connection.isEnding) {
      stopReading(request.socket);
      return;
    }
    const exchange = new Exchange(connection, request, response, awaitsContinue);
    connections.begin(exchange);
    if (exchange.isExcess) exchange.break(tooManyAtATime());
    response.once("close", () => connections.ended(exchange));
    serve(exchange).catch(options.onError);
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
    start(request, response, false);
  server.on("request", onRequest);
  server.on("checkContinue", (request, response) => start(request, response, true));
  server.on("checkExpectation", onRequest);
  server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
    const refusal = new MethodRefusal("no such method: CONNECT opens no tunnel here", "POST");
    const open = connections.of(socket)?.exchanges ?? [];
    answerAfterOthers(open, () => answerAndClose(socket, refusal));
  });
  server.on("clientError", createBrokenConnectionListener(connections, answerAndClose));

  const origin = await listen(server, options, isEncrypted);
  server.on("error", options.onError);
  const isOnNetwork = options.socketPath === undefined;
  const url = isOnNetwork ? origin + options.basePath : origin;
  // Whoever speaks HTTP on a Unix socket names some host all the same.
  const reachedUrl = isOnNetwork ? url : `http://localhost${options.basePath}`;
  const selfDescription = createSelfDescription({ ...options, url: reachedUrl });
  const close = (timeoutMs: number): Promise<void> =>
    (closing ??= closeConnections(server, connections, timeoutMs));
  try {
    preparing = options.prepare?.(url);
    await preparing;
    preparing = undefined;
  } catch (error) {
    await close(0);
    throw error;
  }
  const setCertificate = (certificate: TlsCertificate): void => {
    if (server instanceof TlsServer) server.setSecureContext(certificate);
  };
  const readLoad = (): ServerLoad => ({
    creates: inflight.count,
    bodyBytes: memory.bytes,
    connections: connections.count,
  });
  return { url, close, setCertificate, readLoad };
}

async function toMetricsAnswer(metrics: PlantServerOptions["metrics"]): Promise<Answer> {
  const body = (await metrics?.render()) ?? "";
  return { status: 200, body, headers: { "Content-Type": metrics?.contentType ?? "text/plain" } };
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
