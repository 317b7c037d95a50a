/** The plant store as an HTTP server on node:http. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Server as TlsServer } from "node:tls";
import { createAnswering } from "./answering.ts";
import {
  answerAfterOthers,
  createBrokenConnectionListener,
} from "./connections/broken-connections.ts";
import { BodyMemory } from "./create/body-memory.ts";
import { closeConnections } from "./connections/connection-closer.ts";
import { createWholeRequestFinder } from "./connections/whole-requests.ts";
import { type AnswerAndClose, Connections } from "./connections/connections.ts";
import type { CreateContext } from "./create/create-plant.ts";
import type { PlantRequest } from "./exchange/plant-request.ts";
import { toUnreadRecord } from "./observing/exchange-record.ts";
import { listen } from "./connections/listening.ts";
import { makeRequestId } from "./exchange/request-id.ts";
import { createHttpServer, type TlsCertificate } from "./connections/http-listener.ts";
import { Inflight } from "./create/inflight.ts";
import type { ServerLoad } from "./limits.ts";
import type { PlantServerOptions } from "./options.ts";
import { sendLastAnswer, toErrorAnswer } from "./exchange/reply.ts";
import { MethodRefusal } from "./exchange/routes.ts";
import { createServing } from "./serving.ts";

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

  const isEncrypted = options.certificate !== undefined;
  const server = createHttpServer(options, options.certificate);
  const answerAndClose: AnswerAndClose = (socket, refusal) => {
    if (!socket.writable) return;
    const last = toErrorAnswer(refusal);
    const requestId = makeRequestId();
    options.onExchange?.(toUnreadRecord(last, requestId));
    sendLastAnswer(socket, last, requestId);
  };
  const connections = new Connections(server, options, isEncrypted, {
    onOpen: createWholeRequestFinder(server, (connection, request) =>
      serving.takeWhole(connection, request),
    ),
    answerAndClose,
  });
  const serving = createServing(connections, {
    ...options,
    memory,
    isStopping,
    answer(exchange, give) {
      if (preparing === undefined) answer(exchange, give);
      else preparing.then(() => answer(exchange, give), options.onError);
    },
  });

  const onRequest = (request: PlantRequest, response: ServerResponse): void =>
    serving.takeAnnounced(request, response, false);
  server.on("request", onRequest);
  server.on("checkContinue", (request, response) => serving.takeAnnounced(request, response, true));
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
  const answer = createAnswering({ ...options, url: reachedUrl }, context);
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
