/** Sends exact bytes to the servers of tests. Checks each response against the interface description. */
import type { StatusMode } from "../../src/core/errors.ts";
import { type Connection, openConnection } from "../conformance/connection.ts";
import type { Response } from "../conformance/response.ts";
import { createResponseCheck, readDescription } from "./interface-description.ts";

/** Ports of 127.0.0.1 where a test's server speaks TLS. */
export const tlsPorts = new Set<number>();

/** Ports of 127.0.0.1 where a test's server runs in status mode `http`. */
export const httpStatusPorts = new Set<number>();

/** Connects to 127.0.0.1, over TLS if a server on {@link tlsPorts} listens there. @throws the error of the connection */
export async function openRawConnection(port: number): Promise<Connection> {
  const url = `${tlsPorts.has(port) ? "https" : "http"}://127.0.0.1:${port}`;
  const connection = openConnection({ url, isAnyAccepted: true });
  await connection.opened();
  if (!connection.isConnected()) throw connection.failure() ?? new Error("no connection");
  let checkedResponses = 0;
  return {
    ...connection,
    async responses(count) {
      const responses = await connection.responses(count);
      const mode = httpStatusPorts.has(port) ? "http" : "contract";
      for (const response of responses.slice(checkedResponses)) checkResponse(response, mode);
      checkedResponses = Math.max(checkedResponses, count);
      return responses;
    },
  };
}

/** Writes bytes on a new connection and returns the first response. */
export async function exchangeRaw(port: number, bytes: string | Uint8Array): Promise<Response> {
  const connection = await openRawConnection(port);
  try {
    connection.socket.write(bytes);
    const [response] = await connection.responses(1);
    if (response === undefined) throw new Error("no response");
    return response;
  } finally {
    connection.socket.destroy();
  }
}

/**
 * Resolves when a server has read everything that its clients wrote before: it handles a request on a new connection after the
 * bytes of older connections.
 */
export async function untilRead(port: number): Promise<void> {
  await exchangeRaw(port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

const checkCreateResponse = {
  contract: createResponseCheck(readDescription({ onConflict: "replace" })),
  http: createResponseCheck(readDescription({ onConflict: "replace", statusMode: "http" })),
};

/**
 * Asserts that a response to a create is as the interface description says. Ignores responses to other requests, which have
 * another status or report the health of the server, and 100 Continue.
 */
export function checkResponse(response: Response, mode: StatusMode): void {
  const isOther =
    [100, 404, 405, 503].includes(response.status) || response.body.startsWith('{"status":');
  if (!isOther) checkCreateResponse[mode](response);
}
