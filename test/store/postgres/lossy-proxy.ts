/** A way to PostgreSQL on which connections are lost at a chosen moment. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** What becomes of a message to the server, and of the connection it comes on. */
export type Fate =
  /** It is handed on. */
  | "pass"
  /** It is lost with the connection. */
  | "lose"
  /** It is handed on, and its answer is lost with the connection. */
  | "lose answer"
  /** Nothing moves on this connection any more, and it stays open. */
  | "freeze";

/** A proxy before a server. */
export interface LossyProxy {
  /** The URL of the server, by way of the proxy. */
  readonly url: string;
  /** How many messages met another fate than `pass`. */
  readonly losses: number;
}

/**
 * Opens a proxy for one test.
 *
 * @param decide asked about every piece of a connection on its way to the server
 */
export async function openLossyProxy(
  serverUrl: string,
  decide: (message: string) => Fate,
): Promise<LossyProxy> {
  const { hostname, port: serverPort } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let losses = 0;

  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect(Number(serverPort), hostname);
    let isFrozen = false;
    let isAnswerLost = false;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("end", () => isFrozen || to.destroy());
      from.on("close", () => to.destroy());
    }
    client.on("data", (piece) => {
      const fate = isFrozen ? "pass" : decide(piece.toString("latin1"));
      if (fate !== "pass") losses++;
      if (fate === "freeze") isFrozen = true;
      if (fate === "lose answer") isAnswerLost = true;
      if (fate === "lose") client.destroy();
      else if (!isFrozen) server.write(piece);
    });
    server.on("data", (piece) => {
      if (isAnswerLost) client.destroy();
      else if (!isFrozen) client.write(piece);
    });
  });
  await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });

  const url = new URL(serverUrl);
  url.port = `${(proxy.address() as AddressInfo).port}`;
  return {
    url: url.href,
    get losses() {
      return losses;
    },
  };
}
