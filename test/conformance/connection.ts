/** One connection to a server: writes exact bytes, and reads the responses. */
import { connect, isIP } from "node:net";
import { StringDecoder } from "node:string_decoder";
import { connect as connectTls } from "node:tls";
import { toEndpoint } from "../../src/core/base-url.ts";
import { createResponseReader, type Response } from "./response.ts";

/** Options of a connection. */
interface ConnectionOptions {
  /** URL of the server; its path does not matter. */
  readonly url: string;
  /** Certificates of trusted authorities, in PEM. Default: those of Node. */
  readonly ca?: string | undefined;
  /** True if any certificate is accepted. */
  readonly isAnyAccepted?: boolean;
  /** Returns whether the final response at an index has no body, as the response to HEAD. Default: none is. */
  readonly isBodiless?: (index: number) => boolean;
}

/** A connection on which the caller writes any bytes. */
export type Connection = ReturnType<typeof openConnection>;

/** Opens a connection. It stays open on the side of the client when the server ends it. */
export function openConnection(options: ConnectionOptions) {
  const { tcpSocket, socket } = openSocket(options);
  const chunks: Buffer[] = [];
  const decoder = new StringDecoder();
  const reader = createResponseReader(options.isBodiless);
  let text = "";
  let decodedChunks = 0;
  let isConnected = false;
  let isEnded = false;
  let failure: Error | undefined;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  const end = (): void => {
    isEnded = true;
    wake();
  };
  const fail = (error: Error): void => {
    failure ??= error;
    end();
  };
  socket.setNoDelay(true);
  socket.once(socket === tcpSocket ? "connect" : "secureConnect", () => {
    isConnected = true;
    wake();
  });
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    reader.add(chunk);
    wake();
  });
  socket.once("end", end).once("close", end).on("error", fail);
  if (socket !== tcpSocket) tcpSocket.on("error", fail);
  const changed = (): Promise<void> => new Promise((resolve) => void waiting.push(resolve));
  const read = () => reader.read(isEnded);
  const received = (): string => {
    for (; decodedChunks < chunks.length; decodedChunks++) {
      text += decoder.write(chunks[decodedChunks] ?? Buffer.alloc(0));
    }
    return text;
  };

  return {
    socket,
    /** Everything that the server has sent. */
    bytes: () => Buffer.concat(chunks),
    /** The same as text. */
    received,
    /** Parses the responses that have arrived. */
    read,
    /** Resolves when the connection has opened, when the server has sent more, or at the end. */
    changed,
    /** Resolves once the connection is open, or has ended. */
    async opened() {
      while (!isConnected && !isEnded) await changed();
    },
    /** Resolves with the first `count` responses; rejects when the connection ends before they arrive. */
    async responses(count: number): Promise<readonly Response[]> {
      for (;;) {
        const { responses, problem } = read();
        if (responses.length >= count) return responses.slice(0, count);
        if (problem !== undefined) throw new Error(`${problem}: ${received()}`);
        if (isEnded) throw new Error(`the connection ended after: ${received()}`);
        await changed();
      }
    },
    /** Resolves when the server has ended the connection. */
    async ended() {
      while (!isEnded) await changed();
    },
    /** Ends the connection with a TCP reset. */
    reset: () => void tcpSocket.resetAndDestroy(),
    /** Checks whether the connection was ever open. */
    isConnected: () => isConnected,
    /** Checks whether the server has not ended the connection. */
    isOpen: () => !isEnded,
    /** The error of the connection, such as a reset by the server. */
    failure: () => failure,
  };
}

/** Opens a socket. Over TLS, the socket of its connection is separate, because only that one can be reset. */
function openSocket({ url, ca, isAnyAccepted }: ConnectionOptions) {
  const { httpUrl, socketPath } = toEndpoint(url);
  const { protocol, hostname, port } = new URL(httpUrl);
  const isTls = protocol === "https:";
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const address =
    socketPath === undefined
      ? { host, port: Number(port || (isTls ? 443 : 80)) }
      : { path: socketPath };
  const tcpSocket = connect({ ...address, allowHalfOpen: true });
  if (!isTls) return { tcpSocket, socket: tcpSocket };
  const socket = connectTls({
    socket: tcpSocket,
    ca,
    servername: isIP(host) === 0 ? host : "",
    ALPNProtocols: ["http/1.1"],
    ...(isAnyAccepted && { rejectUnauthorized: false }),
    // Node compares the certificate with the name `localhost` if there is no host.
    host,
  });
  return { tcpSocket, socket };
}
