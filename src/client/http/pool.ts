/** Connections that many requests share, each of them several at a time. */
import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import Pool from "undici/lib/dispatcher/pool.js";
import { connectUntil } from "./connector.ts";
import { Exchange, withoutTimeouts } from "./exchange.ts";
import type { Connections } from "./message.ts";
import { minAnswerLimitBytes, post } from "./post.ts";

/**
 * Requests under way on one connection. Measured on one machine: with 1 a client sends 0.6 times as many requests a
 * second, with 64 no more.
 */
const pipelineDepth = 16;
/** A body that takes longer than others would hold up those behind it. */
const maxPipelinedBytes = 64 * 1024;

/**
 * Connections for requests that may arrive twice: one that was sent behind another which the server did not answer is
 * sent again by undici.
 *
 * @param origin with which the URL of each request begins
 * @param maxRequests under way at a time; more of them wait
 * @param timeoutMs for a connection to come about
 */
export function openPool(origin: string, maxRequests: number, timeoutMs: number): Connections {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const sockets = new Set<Socket>();
  const pool = new Pool(origin, {
    connect: connectUntil(closing.signal, timeoutMs, (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    }),
    connections: Math.ceil(maxRequests / pipelineDepth),
    pipelining: pipelineDepth,
    maxResponseSize: minAnswerLimitBytes,
    ...withoutTimeouts,
  });
  const holdWrites = createWriteHold(sockets);
  return {
    post(request) {
      if (request.body.length > maxPipelinedBytes) return post(request);
      holdWrites();
      const exchange = new Exchange(request, minAnswerLimitBytes);
      return exchange.send(pool, request.url.slice(origin.length));
    },
    close() {
      closing.abort();
      return pool.destroy();
    },
  };
}

/**
 * A function that holds back what is written until the end of this turn of the event loop: the requests of one turn go
 * out on each connection in one piece, which spares both sides most of their system calls.
 */
function createWriteHold(sockets: ReadonlySet<Socket>): () => void {
  let isHolding = false;
  return () => {
    if (isHolding) return;
    isHolding = true;
    const held = [...sockets];
    for (const socket of held) socket.cork();
    setImmediate(() => {
      isHolding = false;
      for (const socket of held) socket.uncork();
    });
  };
}
