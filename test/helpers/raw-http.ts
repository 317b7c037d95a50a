/**
 * HTTP by hand: exact bytes out over a real socket, and the answers that came back, unprettied. Each of them is held to the
 * interface description.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import type { StatusMode } from "../../src/core/errors.ts";
import { createAnswerCheck, readDescription } from "./interface-description.ts";

/** One answer. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection on which a test writes what it likes. */
export interface RawConnection {
  readonly socket: Socket;
  /** Everything that has come back. */
  received(): string;
  /** Resolves with the first `count` answers; rejects with what came when the connection ends before. */
  answers(count: number): Promise<RawAnswer[]>;
  /** Ends the connection with a TCP reset. */
  reset(): void;
  /** Checks whether the server has not ended the connection. */
  isOpen(): boolean;
  /** What the connection failed with, such as a reset by the server. */
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
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => (received += text));
  socket.once("end", () => (isEnded = true));
  socket.once("close", () => (isEnded = true));
  socket.on("error", (error) => {
    failure = error;
    isEnded = true;
  });
  if (isEncrypted) await once(socket, "secureConnect");

  return {
    socket,
    received: () => received,
    reset: () => void tcpSocket.resetAndDestroy(),
    isOpen: () => !isEnded,
    failure: () => failure,
    async answers(count) {
      for (;;) {
        const answers = parseAnswers(received);
        if (answers.length >= count) {
          const mode = httpStatusPorts.has(port) ? "http" : "contract";
          for (const answer of answers) checkAnswer(answer, mode);
          return answers.slice(0, count);
        }
        if (isEnded) throw new Error(`the connection ended after: ${received}`);
        await sleep(5);
      }
    },
    async ended() {
      while (!isEnded) await sleep(5);
    },
  };
}

/** Writes the bytes on a connection of their own and gives the first answer. */
export async function exchangeRaw(port: number, bytes: string | Uint8Array): Promise<RawAnswer> {
  const connection = await openRawConnection(port);
  try {
    connection.socket.write(bytes);
    const [answer] = await connection.answers(1);
    if (answer === undefined) throw new Error("no answer");
    return answer;
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

const checkCreateAnswer = {
  contract: createAnswerCheck(readDescription({ onConflict: "replace" })),
  http: createAnswerCheck(readDescription({ onConflict: "replace", statusMode: "http" })),
};

/**
 * Throws unless an answer is one of those of the create operation. Those to other requests have another status, but for
 * the health of a server; 100 is none yet.
 */
export function checkAnswer(answer: RawAnswer, mode: StatusMode): void {
  const isOther =
    [100, 404, 405, 503].includes(answer.status) || answer.body.startsWith('{"status":');
  if (!isOther) checkCreateAnswer[mode](answer);
}

/** The answers in a text, the last one only when it is complete. Takes 100 Continue as an answer without a body. */
function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf("\r\n\r\n");
    if (headEnd < 0) return answers;
    const [statusLine = "", ...lines] = rest.slice(0, headEnd).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const content = Buffer.from(rest.slice(headEnd + 4));
    const length = Number(headers["content-length"] ?? 0);
    if (content.length < length) return answers;
    const status = Number(statusLine.split(" ")[1]);
    answers.push({ status, headers, body: content.subarray(0, length).toString() });
    rest = content.subarray(length).toString();
  }
}
