/** Handles requests through node:http: every request that is not a usual create, and all of its connection after it. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { RequestError } from "../../core/errors.ts";
import { headTooLarge, requestCut, requestTimedOut } from "../request.ts";
import { MethodError } from "../failure.ts";
import type { Connection } from "./connection.ts";
import { NodeRequest } from "./node-request.ts";
import { SocketStream } from "./socket-stream.ts";

/**
 * Handles all requests that an HTTP server parses. Its connections must be {@link SocketStream}s.
 *
 * @param maxDrainBytes maximum length of a rejected body that is read so that the connection can stay open
 */
export function startNodeTransport(server: Server, maxDrainBytes: number): void {
  const onRequest = (
    message: IncomingMessage,
    response: ServerResponse,
    awaitsContinue = false,
  ): void => {
    const connection = findConnection(message.socket);
    if (connection === undefined || connection.isEnding) return;
    connection.accept(
      new NodeRequest(connection, message, response, maxDrainBytes, awaitsContinue),
    );
  };
  server.on("request", (message, response) => onRequest(message, response));
  server.on("checkExpectation", (message, response) => onRequest(message, response));
  server.on("checkContinue", (message, response) => onRequest(message, response, true));
  server.on("connect", (_message: IncomingMessage, socket: Duplex) => {
    const connection = findConnection(socket);
    if (connection === undefined || connection.isEnding) return;
    connection.reject(new MethodError("unknown method CONNECT: send POST", "POST"));
  });
  server.on("clientError", (error, socket) => {
    const connection = findConnection(socket);
    const requestError = toRequestError(error);
    if (connection === undefined || requestError === undefined || socket.destroyed) {
      socket.destroy();
      return;
    }
    // The last response is being sent.
    if (socket.writableEnded) return;
    // The rest of the request is not read yet.
    if (requestError === requestTimedOut && connection.isFull) return;
    const { newest } = connection;
    if (newest?.isComplete === false) newest.fail(requestError);
    else if (!connection.isEnding) connection.reject(requestError);
  });
}

function findConnection(socket: Duplex): Connection | undefined {
  return socket instanceof SocketStream ? socket.connection : undefined;
}

/**
 * Converts an error of the connection or of node:http's parser.
 *
 * @returns undefined if the connection failed, so that no response can be sent
 */
function toRequestError(error: NodeJS.ErrnoException): RequestError | undefined {
  const { code = "" } = error;
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return requestTimedOut;
  if (code === "HPE_INVALID_EOF_STATE") return requestCut;
  if (code === "HPE_HEADER_OVERFLOW") return headTooLarge;
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") {
    return new RequestError("malformedHttp", "the chunk extensions are too large: leave them out");
  }
  if (!code.startsWith("HPE_")) return undefined;
  const reason =
    code === "HPE_PAUSED_H2_UPGRADE" ? "it is HTTP/2" : error.message.replace(/^Parse Error: /, "");
  return new RequestError("malformedHttp", `the request is not well-formed HTTP/1.1 (${reason})`);
}
