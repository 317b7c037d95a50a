/** Serves the requests on a server's connections: from their arrival until their answers are sent. */
import type { ServerResponse } from "node:http";
import { type Connections, tooManyAtATime } from "./connections/connections.ts";
import { forgetRequest, stopReading } from "./connections/request-parser.ts";
import type { BodyMemory } from "./create/body-memory.ts";
import { type Connection, Exchange } from "./exchange/exchange.ts";
import { createOutbox } from "./exchange/outbox.ts";
import type { PlantRequest } from "./exchange/plant-request.ts";
import { type Answer, sendAnswer, writeAnswer } from "./exchange/reply.ts";
import { toExchangeRecord } from "./observing/exchange-record.ts";
import type { PlantServerOptions } from "./options.ts";

/** What serving needs of a server. */
export interface ServingOptions extends Pick<
  PlantServerOptions,
  "idleTimeoutMs" | "maxBodyBytes" | "onError" | "onExchange"
> {
  readonly memory: BodyMemory;
  readonly isStopping: () => boolean;
  /** Gives the answer to a request, once. */
  readonly answer: (exchange: Exchange, give: (answer: Answer) => void) => void;
}

/** Takes requests. */
export interface Serving {
  /** One that came whole, and of which node:http knows nothing. */
  takeWhole(connection: Connection, request: PlantRequest): void;
  /** One that node:http announces: it is new, or was taken before. */
  takeAnnounced(request: PlantRequest, response: ServerResponse, awaitsContinue: boolean): void;
}

/** Serves the requests on these connections. */
export function createServing(
  connections: Connections,
  { idleTimeoutMs, maxBodyBytes, onError, onExchange, memory, isStopping, answer }: ServingOptions,
): Serving {
  const keepAliveSeconds = Math.floor(idleTimeoutMs / 1000);
  const sendAtEndOfTurn = createOutbox(send, (exchange, error) => {
    onError(error);
    exchange.connection.socket.destroy();
  });

  function begin(connection: Connection, request: PlantRequest, awaitsContinue: boolean): Exchange {
    const exchange = new Exchange(connection, request, awaitsContinue);
    connections.begin(exchange);
    return exchange;
  }

  function serve(exchange: Exchange): void {
    answer(exchange, (given) => sendAtEndOfTurn(exchange, given));
  }

  function send(exchange: Exchange, given: Answer): void {
    memory.free(exchange);
    connections.answered(exchange);
    const bytes = Buffer.byteLength(given.body);
    onExchange?.(toExchangeRecord(exchange, given, bytes));
    const { connection } = exchange;
    // What was pipelined behind this request is under way as well, and is answered before the connection ends.
    const isLast =
      (connection.isEnding || isStopping()) && connection.exchanges.at(-1) === exchange;
    if (exchange.hasResponse || isLast) {
      sendAnswer(exchange, given, { isLast, maxDrainBytes: maxBodyBytes }).catch(onError);
      return;
    }
    writeAnswer(exchange, given, bytes, keepAliveSeconds);
    forgetRequest(connection.socket, exchange.request);
    connections.ended(exchange);
  }

  return {
    takeWhole: (connection, request) => serve(begin(connection, request, false)),
    takeAnnounced(request, response, awaitsContinue) {
      const connection = connections.of(request.socket);
      // One that was taken before: until now node:http could know of no other on its connection.
      const [first] = connection?.exchanges ?? [];
      const isKnown = first?.request === request;
      if (connection === undefined || (connection.isEnding && !isKnown)) {
        stopReading(request.socket);
        return;
      }
      const exchange = isKnown ? first : begin(connection, request, awaitsContinue);
      exchange.setResponse(response);
      response.once("close", () => connections.ended(exchange));
      if (isKnown) return;
      if (exchange.isExcess) exchange.break(tooManyAtATime());
      serve(exchange);
    },
  };
}
