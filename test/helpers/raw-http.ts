/** Sends exact bytes on a socket and parses the responses. Checks each response against the interface description. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { StatusMode } from "../../src/core/errors.ts";
import { createResponseCheck, readDescription } from "./interface-description.ts";

/** A response. */
export interface RawResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection on which a test writes any bytes. */
export interface RawConnection {
  readonly socket: Socket;
  /** Everything that the server has sent. */
  received(): string;
  /** Resolves when the server has sent more, or has ended the connection. */
  changed(): Promise<void>;
  /** Resolves with the first `count` responses; rejects when the connection ends before they arrive. */
  responses(count: number): Promise<RawResponse[]>;
  /** Ends the connection with a TCP reset. */
  reset(): void;
  /** Checks whether the server has not ended the connection. */
  isOpen(): boolean;
  /** The error of the connection, such as a reset by the server. */
  failure(): Error | undefined;
  /** Resolves when the server has ended the connection. */
  ended(): Promise<void>;
}

/** Ports of 127.0.0.1 where a test's server speaks TLS. */
export const tlsPorts = new Set<number>();

/** Ports of 127.0.0.1 where a test's server runs in status mode `http`. */
export const httpStatusPorts = new Set<number>();

/** Connects to 127.0.0.1, over TLS if a server on {@link tlsPorts} listens there. */
export async function openRawConnection(port: number): Promise<RawConnection> {
  const address = { port, host: "127.0.0.1", allowHalfOpen: true };
  const isEncrypted = tlsPorts.has(port);
  const tcpSocket = connect(address);
  await once(tcpSocket, "connect");
  const socket = isEncrypted
    ? connectTls({ socket: tcpSocket, rejectUnauthorized: false })
    : tcpSocket;
  let received = "";
  let isEnded = false;
  let failure: Error | undefined;
  let checkedResponses = 0;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  const nextEvent = (): Promise<void> => new Promise((resolve) => void waiting.push(resolve));
  const end = (): void => {
    isEnded = true;
    wake();
  };
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    received += text;
    wake();
  });
  socket.once("end", end);
  socket.once("close", end);
  socket.on("error", (error) => {
    failure = error;
    end();
  });
  if (isEncrypted) await once(socket, "secureConnect");

  return {
    socket,
    received: () => received,
    changed: nextEvent,
    reset: () => void tcpSocket.resetAndDestroy(),
    isOpen: () => !isEnded,
    failure: () => failure,
    async responses(count) {
      for (;;) {
        const responses = parseResponses(received);
        if (responses.length >= count) {
          const mode = httpStatusPorts.has(port) ? "http" : "contract";
          for (const response of responses.slice(checkedResponses)) checkResponse(response, mode);
          checkedResponses = responses.length;
          return responses.slice(0, count);
        }
        if (isEnded) throw new Error(`the connection ended after: ${received}`);
        await nextEvent();
      }
    },
    async ended() {
      while (!isEnded) await nextEvent();
    },
  };
}

/** Writes bytes on a new connection and returns the first response. */
export async function exchangeRaw(port: number, bytes: string | Uint8Array): Promise<RawResponse> {
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
export function checkResponse(response: RawResponse, mode: StatusMode): void {
  const isOther =
    [100, 404, 405, 503].includes(response.status) || response.body.startsWith('{"status":');
  if (!isOther) checkCreateResponse[mode](response);
}

/** Parses the complete responses in a text. 100 Continue is a response without a body. */
function parseResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf("\r\n\r\n");
    if (headEnd < 0) return responses;
    const [statusLine = "", ...lines] = rest.slice(0, headEnd).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const content = Buffer.from(rest.slice(headEnd + 4));
    const length = Number(headers["content-length"] ?? 0);
    if (content.length < length) return responses;
    const status = Number(statusLine.split(" ")[1]);
    responses.push({ status, headers, body: content.subarray(0, length).toString() });
    rest = content.subarray(length).toString();
  }
}
