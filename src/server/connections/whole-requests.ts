/**
 * Requests that come whole, as nearly all do: the body in the same turn of the event loop as the head. They are read past
 * the stream that node:http makes of a request, and answered past its ServerResponse: on Node 20 a server that does nothing
 * else answers 1.7 times as many requests so, and this one half as many again with 256 connections.
 *
 * Everything else is left to node:http. So is a request that was kept from it once more than its answer happens on its
 * connection: another request behind it, the client's end, an error, the end of the server.
 */
import type { Server } from "node:http";
import type { Connection } from "../exchange/exchange.ts";
import type { RequestHead } from "../exchange/headers.ts";
import { PlantRequest } from "../exchange/plant-request.ts";
import { wrapAnnouncing } from "./request-parser.ts";

/** Bytes of a body that may be held for the turn; a longer one comes in pieces anyway. */
const maxHeldBytes = 16 * 1024;

/**
 * Makes the function that looks for whole requests on a connection from its beginning on.
 *
 * @param onWhole called with each of them; nothing else is under way on its connection
 */
export function createWholeRequestFinder(
  server: Server,
  onWhole: (connection: Connection, request: PlantRequest) => void,
): (connection: Connection) => void {
  /** With a request that was not whole when its head had come. */
  let waiting: Connection[] = [];

  function endTurn(): void {
    const connections = waiting;
    waiting = [];
    for (const connection of connections) connection.releaseHeld();
  }

  return (connection) => {
    const { socket } = connection;
    const takeWhole = (request: PlantRequest): void => {
      connection.held = undefined;
      onWhole(connection, request);
    };
    socket.prependListener("end", () => connection.release());
    wrapAnnouncing(socket, (announce) => {
      const announceKept = (request: PlantRequest): void => void announce(request, true);
      return (request, keepsAlive) => {
        // What is behind the last request is not taken; whoever is told of it sees to that.
        if (connection.isEnding) return announce(request, keepsAlive);
        const isBusy = connection.exchanges.length > 0 || socket.writableLength > 0;
        if (!keepsAlive || isBusy || !(request instanceof PlantRequest) || !mayBeHeld(request)) {
          connection.release();
          return announce(request, keepsAlive);
        }
        // As node:http does when it announces one: it had another timeout while it was idle.
        if (socket.timeout !== server.timeout) socket.setTimeout(server.timeout);
        request.hold(announceKept, takeWhole);
        connection.held = request;
        if (waiting.push(connection) === 1) setImmediate(endTurn);
        return 0;
      };
    });
  };
}

function mayBeHeld({ head, httpVersion, method }: PlantRequest): boolean {
  if (httpVersion !== "1.1" || method === "CONNECT") return false;
  return head.refusal === undefined && !head.isLast && hasShortBody(head);
}

function hasShortBody(head: RequestHead): boolean {
  const { contentLength = 0, expectations, transferEncodings } = head;
  if (expectations.length > 0 || transferEncodings.length > 0) return false;
  return contentLength <= maxHeldBytes;
}
