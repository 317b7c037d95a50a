/** Sends exact bytes to the servers of tests. Checks each response against the interface description. */
import type { StatusMode } from "../../src/core/errors.ts";
import { openConnection } from "../conformance/connection.ts";
import type { Response } from "../conformance/response.ts";
import { createResponseCheck, readDescription } from "./interface-description.ts";

/** Ports of 127.0.0.1 where a test's server speaks TLS. */
export const tlsPorts = new Set<number>();

/** Ports of 127.0.0.1 where a test's server runs in status mode `http`. */
export const httpStatusPorts = new Set<number>();

/** A connection of a test, which ends with the block that declares it. */
export type RawConnection = Awaited<ReturnType<typeof openRawConnection>>;

/** Returns the status of each response, also of an incomplete one, with the number of its Error: `200` or `400 40102`. */
export function readResults(received: string): string[] {
  const responses = received.matchAll(/HTTP\/1\.1 (\d+)(?:[^]*?\r\n\r\n(?:\{"error":(\d+))?)?/g);
  return Array.from(responses, ([, status, error]) => (error ? `${status} ${error}` : `${status}`));
}

/** Connects to 127.0.0.1, over TLS if a server on {@link tlsPorts} listens there. @throws the error of the connection */
export async function openRawConnection(port: number) {
  const url = `${tlsPorts.has(port) ? "https" : "http"}://127.0.0.1:${port}`;
  const connection = openConnection({ url, isAnyAccepted: true });
  await connection.opened();
  if (!connection.isConnected()) throw connection.failure() ?? new Error("no connection");
  let checkedResponses = 0;
  async function responses(count: number): Promise<readonly Response[]> {
    const all = await connection.responses(count);
    const mode = httpStatusPorts.has(port) ? "http" : "contract";
    for (const response of all.slice(checkedResponses)) checkResponse(response, mode);
    checkedResponses = Math.max(checkedResponses, count);
    return all;
  }
  return {
    ...connection,
    responses,
    /** Resolves with the results of all responses once `count` of them have arrived: see {@link readResults}. */
    async results(count: number) {
      await responses(count);
      return readResults(connection.received());
    },
    /** Resolves with the results of all responses once the server has ended the connection. */
    async resultsAtEnd() {
      await connection.ended();
      return readResults(connection.received());
    },
    [Symbol.dispose]: () => void connection.socket.destroy(),
  };
}

/** Opens a connection, and writes bytes on it. */
export async function sendRaw(port: number, bytes: string | Uint8Array): Promise<RawConnection> {
  const connection = await openRawConnection(port);
  connection.socket.write(bytes);
  return connection;
}

/** Writes bytes on a new connection and returns the first response. */
export async function exchangeRaw(port: number, bytes: string | Uint8Array): Promise<Response> {
  using connection = await sendRaw(port, bytes);
  const [response] = await connection.responses(1);
  if (response === undefined) throw new Error("no response");
  return response;
}

/**
 * Resolves when a server has read everything that its clients wrote before: it handles a request on a new connection after the
 * bytes of older connections.
 */
export async function untilRead(port: number): Promise<void> {
  await exchangeRaw(port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

// The errors of the other operations have the same schema.
const described = { onConflict: "replace", operations: "all" } as const;
const checkCreateResponse = {
  contract: createResponseCheck(readDescription(described)),
  http: createResponseCheck(
    readDescription({ ...described, onConflict: "reject", statusMode: "http" }),
  ),
};

/**
 * Asserts that a response to a create is as the interface description says. Ignores responses to other requests, which have
 * another status, report the health of the server or list plants, and 100 Continue.
 */
export function checkResponse(response: Response, mode: StatusMode): void {
  const isOther =
    [100, 204, 404, 405, 503].includes(response.status) ||
    /^(?:\{"status":|\[)/.test(response.body);
  if (!isOther) checkCreateResponse[mode](response);
}
